/**
 * The request rate of a workspace, `api_requests_per_minute`, shared by every replica.
 *
 * One row per workspace has the time until which its requests are paid for (the generic cell
 * rate algorithm). Each request moves that time forward by 60 s / limit, and at most to 60 s
 * ahead of the database's clock. So an idle workspace may send the requests of a whole
 * minute at once, and then continues at the pace of the limit.
 *
 * A busy workspace does not write a row for each call. A daemon leases several requests at
 * once, at most those of one second (and at most 50), and they expire after a second. The
 * lease grows while it is used up and shrinks while it expires. Expired requests are lost
 * for that minute, so the limit is never exceeded. A refusal is remembered until the next
 * request is possible, so that a flood does not reach the database. A workspace that sends less
 * than one request a second pays for each, and the payment does not wait for the disk: a crash
 * of the server may forget what was paid in its last second.
 *
 * Spec: decisions 1 (429) and 4 (TenantQuotas); Quota semantics.
 */

import { Problem } from '../core/contract/problem.ts'
import type { Pool } from '../core/kernel/database/pool.ts'
import { openAsInstallation, withoutSync } from '../core/kernel/database/roles.ts'

export interface Rate {
  /** Spends requests of the workspace, one by one; `limit` per minute, 0 is unlimited. Refuses quota.exceeded (429). */
  spend(tenantId: string, limit: number | bigint, requests?: number): Promise<void>
}

const windowSeconds = 60
const leaseMs = 1_000
const largestLease = 50
/** The maximum number of remembered workspaces. The one unused for longest is forgotten, and loses its lease. */
const remembered = 10_000

/** The state of one workspace in this daemon; times are monotonic, in ms. */
interface Lease {
  limit: number
  left: number
  until: number
  /** The size of the next lease. */
  next: number
  refusedUntil: number
  waiting: number
  asking: Promise<void> | undefined
}

export function openRate(pool: Pool): Rate {
  const leases = new Map<string, Lease>()

  const leaseOf = (tenantId: string, limit: number): Lease => {
    const known = leases.get(tenantId)
    // The limit has changed, so leases and refusals under the old one do not count.
    const lease =
      known?.limit === limit
        ? known
        : { limit, left: 0, until: 0, next: 1, refusedUntil: 0, waiting: 0, asking: undefined }
    leases.delete(tenantId)
    leases.set(tenantId, lease)
    const [oldest] = leases.size > remembered ? leases.keys() : []
    if (oldest !== undefined) leases.delete(oldest)
    return lease
  }

  return {
    async spend(tenantId, ceiling, requests = 1) {
      const limit = Number(ceiling)
      if (limit === 0) return
      const lease = leaseOf(tenantId, limit)
      let unpaid = requests
      lease.waiting += unpaid
      try {
        while (unpaid > 0) {
          if (taken(lease)) {
            unpaid -= 1
            lease.waiting -= 1
            continue
          }
          refuseWhile(lease)
          lease.asking ??= renew(pool, tenantId, lease).finally(() => {
            lease.asking = undefined
          })
          await lease.asking
        }
      } finally {
        lease.waiting -= unpaid
      }
    },
  }
}

function taken(lease: Lease): boolean {
  if (lease.left < 1 || performance.now() >= lease.until) return false
  lease.left -= 1
  return true
}

/** Asks for the number that the last lease showed to be needed, or that is waiting; if that is refused, for one. */
async function renew(pool: Pool, tenantId: string, lease: Lease): Promise<void> {
  const aSecondsWorth = Math.max(1, Math.floor(lease.limit / windowSeconds))
  lease.next = lease.left < 1 ? Math.min(lease.next * 2, aSecondsWorth) : 1
  const wanted = Math.min(Math.max(lease.next, lease.waiting), largestLease, lease.limit)
  const asked = performance.now()

  let granted = wanted
  let answer = await pay(pool, tenantId, lease.limit, wanted)
  if (!answer.isPaid && wanted > 1) {
    granted = 1
    answer = await pay(pool, tenantId, lease.limit, 1)
  }
  lease.left = answer.isPaid ? granted : 0
  lease.until = asked + leaseMs
  lease.refusedUntil = answer.isPaid ? 0 : performance.now() + answer.waitSeconds * 1000
}

interface Payment {
  readonly isPaid: boolean
  /** The time until one more request can be paid. */
  readonly waitSeconds: number
}

async function pay(pool: Pool, tenantId: string, limit: number, requests: number): Promise<Payment> {
  const each = windowSeconds / limit
  const price = each * requests
  return pool.transaction(
    `${openAsInstallation}; ${withoutSync}`,
    async (tx) => {
      const paid = tx`
      insert into request_rate as rate (tenant_id, paid_until)
      values (${tenantId}, now() + make_interval(secs => ${price}::float8))
      on conflict (tenant_id) do update
      set paid_until = greatest(rate.paid_until + make_interval(secs => ${price}::float8), excluded.paid_until)
      where greatest(rate.paid_until + make_interval(secs => ${price}::float8), excluded.paid_until)
        <= excluded.paid_until + make_interval(secs => ${windowSeconds - price}::float8)`
      // In the same packet after the first statement, and needed only if that paid nothing.
      const ahead = tx<{ seconds: number }[]>`
      select extract(epoch from paid_until - now())::float8 as seconds from request_rate where tenant_id = ${tenantId}`
      const [{ count }, [row]] = await Promise.all([paid, ahead])
      return { isPaid: count === 1, waitSeconds: Math.max(0, (row?.seconds ?? 0) + each - windowSeconds) }
    },
    { lane: tenantId, answersCaller: true },
  )
}

function refuseWhile(lease: Lease): void {
  const wait = lease.refusedUntil - performance.now()
  if (wait <= 0) return
  const seconds = Math.max(1, Math.ceil(wait / 1000))
  const { limit } = lease
  throw new Problem(
    'quota.exceeded',
    { quota: 'api_requests_per_minute', limit, used: limit },
    {
      status: 429,
      headers: {
        'retry-after': String(seconds),
        'ratelimit-policy': `"api_requests_per_minute";q=${limit};w=${windowSeconds}`,
        ratelimit: `"api_requests_per_minute";r=0;t=${seconds}`,
      },
    },
  )
}
