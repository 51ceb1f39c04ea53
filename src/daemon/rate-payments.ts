/**
 * The payments of requests: a row for each workspace has the time until which its requests are paid for.
 *
 *    pay     a caller waits for the answer. Each payment is a transaction of its own
 *    owe     nobody waits. The debts of a tenth of a second are paid in one transaction, in the order of their limits
 *            and workspaces, so that those of two daemons do not wait for each other in a circle
 *
 * No payment waits for the disk: a crash of the server may forget what was paid in its last second.
 * Spec: decisions 1 (429), 4 (TenantQuotas); docs/decisions/0011, 0495.
 */

import type { Pool, Tx } from '../core/kernel/database/pool.ts'
import { openAsInstallation, withoutSync } from '../core/kernel/database/roles.ts'
import { portionsOf } from '../core/kernel/values/portions.ts'

/** How far ahead of the database's clock a workspace's time may be. */
export const windowSeconds = 60
/** A workspace has plenty if its time is less ahead than that. */
const plentySeconds = windowSeconds / 2
/** No time of a workspace is so far ahead. */
const anySeconds = 1_000_000_000
const debtMs = 100
/** So many debts are a statement: with more rows it would not be kept. */
const together = 16
/** A debt waits for a lock for so long, in seconds. */
const patienceSeconds = 1

export interface Bill {
  readonly tenantId: string
  /** Requests a minute. */
  readonly limit: number
  readonly requests: number
}

export interface Payment {
  readonly isPaid: boolean
  /** Half of the minute's requests can still be paid for, or more. */
  readonly hasPlenty: boolean
  /** The time until one more request can be paid. */
  readonly waitSeconds: number
}

interface Debt {
  readonly limit: number
  readonly settled: (hasPlenty: boolean) => void
}

/** By workspace. */
type Debts = ReadonlyMap<string, Debt>

const opening = `${openAsInstallation}; ${withoutSync}`

export class Payments {
  private readonly pool: Pool
  private debts = new Map<string, Debt>()
  private timer: NodeJS.Timeout | undefined
  private isPaying = false
  /** Somebody waits for what is owed since. */
  private isAsked = false

  constructor(pool: Pool) {
    this.pool = pool
  }

  /** Pays for all of the requests, or for none. */
  pay({ tenantId, limit, requests }: Bill): Promise<Payment> {
    return this.pool.transaction(
      opening,
      async (tx) => {
        const paid = moveOn(tx, [tenantId], (windowSeconds / limit) * requests, windowSeconds)
        // In the same packet after the first statement.
        const ahead = tx<{ seconds: number }[]>`
        select extract(epoch from paid_until - now())::float8 as seconds from request_rate where tenant_id = ${tenantId}`
        const [{ size }, [row]] = await Promise.all([paid, ahead])
        const seconds = row?.seconds ?? 0
        const waitSeconds = Math.max(0, seconds + windowSeconds / limit - windowSeconds)
        return { isPaid: size === 1, hasPlenty: seconds <= plentySeconds, waitSeconds }
      },
      { lane: tenantId, answersCaller: true },
    )
  }

  /** Pays soon for one request that was let in. Answers whether the workspace has plenty left; never fails. */
  owe(tenantId: string, limit: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.debts.get(tenantId)?.settled(false) // of an earlier limit: not paid
    this.debts.set(tenantId, { limit, settled: resolve })
    this.timer ??= setTimeout(() => this.settle(), debtMs).unref()
    return promise
  }

  /** Pays for what is owed, now, or when those before are paid for. */
  settle(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    if (this.isPaying) this.isAsked = true
    else if (this.debts.size > 0) void this.settleAll()
  }

  private async settleAll(): Promise<void> {
    const { debts } = this
    this.debts = new Map()
    this.isPaying = true
    this.isAsked = false
    await this.payAll(debts).catch(() => {
      // Not paid, so from now on each of them pays first.
      for (const { settled } of debts.values()) settled(false)
    })
    this.isPaying = false
    if (this.isAsked) this.settle()
  }

  private async payAll(debts: Debts): Promise<void> {
    const sorted = [...debts.keys()].sort()
    const plenty = await this.charge(sorted, debts, plentySeconds)
    const others = sorted.filter((tenantId) => !plenty.has(tenantId))
    // Let in is let in, so it is paid for.
    if (others.length > 0) await this.charge(others, debts, anySeconds)
    for (const [tenantId, { settled }] of debts) settled(plenty.has(tenantId))
  }

  /** Answers who was charged. */
  private async charge(sorted: readonly string[], debts: Debts, most: number): Promise<Set<string>> {
    const limits = [...Map.groupBy(sorted, (tenantId) => debts.get(tenantId)!.limit)].sort(([a], [b]) => a - b)
    const charged = await this.pool.transaction(
      opening,
      async (tx) => {
        void tx.patience(patienceSeconds)
        const each = limits.flatMap(([limit, tenantIds]) =>
          portionsOf(tenantIds, together).map((portion) => moveOn(tx, portion, windowSeconds / limit, most)),
        )
        return Promise.all(each)
      },
      { lane: 'request rate' },
    )
    return new Set(charged.flatMap((each) => [...each]))
  }
}

/**
 * Moves the time of each workspace on by the same price, in seconds, unless it would be more than `most` seconds ahead of the
 * clock. Answers whose was moved.
 */
async function moveOn(tx: Tx, tenantIds: readonly string[], price: number, most: number): Promise<Set<string>> {
  const paid_until = tx.part`now() + make_interval(secs => ${price}::float8)`
  const rows = tenantIds.map((tenant_id) => ({ tenant_id, paid_until }))
  const moved = await tx<{ tenant_id: string }[]>`
    insert into request_rate as rate ${tx.rows(rows, 'tenant_id', 'paid_until')}
    on conflict (tenant_id) do update
    set paid_until = greatest(rate.paid_until + make_interval(secs => ${price}::float8), excluded.paid_until)
    where greatest(rate.paid_until + make_interval(secs => ${price}::float8), excluded.paid_until)
      <= excluded.paid_until + make_interval(secs => ${most - price}::float8)
    returning tenant_id`
  return new Set(moved.map(({ tenant_id }) => tenant_id))
}
