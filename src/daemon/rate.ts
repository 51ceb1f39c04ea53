/**
 * The request rate of a workspace, `api_requests_per_minute`, shared by every replica.
 *
 * One row per workspace says until when its requests are paid for (the generic cell rate
 * algorithm): each request moves that moment on by 60 s / limit, and none may move it
 * further than 60 s ahead of the database's clock. So a rested workspace may send its
 * whole minute at once, and then goes on at the limit's pace.
 *
 * A busy workspace does not write a row per call: a daemon leases several requests at
 * once, at most a second's worth (and never more than 50), and they lapse after a second.
 * The lease grows while it is used up and shrinks while it lapses; what lapses is lost
 * to the workspace for that minute, so the limit is never exceeded. A refusal is
 * remembered for as long as it must last, so that a flood does not reach the database.
 *
 * Spec: decisions 1 (429) and 4 (TenantQuotas); Quota semantics.
 */

import { Problem } from '../core/contract/problem.ts'
import type { Pool } from '../core/kernel/database/pool.ts'
import { asInstallation } from '../core/kernel/database/roles.ts'

export interface Rate {
  /** Spends one request of the workspace; `limit` per minute, 0 is unlimited. Refuses quota.exceeded (429). */
  spend(tenantId: string, limit: number | bigint): Promise<void>
}

const windowSeconds = 60
const leaseMs = 1_000
const largestLease = 50
/** Workspaces remembered at most; the one unused for longest is forgotten, which costs it a lease. */
const remembered = 10_000

/** What this daemon knows of one workspace; moments are monotonic, in ms. */
interface Lease {
  limit: number
  left: number
  until: number
  /** How many to ask for next time. */
  next: number
  refusedUntil: number
  waiting: number
  asking: Promise<void> | undefined
}

export function openRate(pool: Pool): Rate {
  const leases = new Map<string, Lease>()

  const leaseOf = (tenantId: string, limit: number): Lease => {
    const known = leases.get(tenantId)
    // Another limit than before: what was leased or refused under the old one does not count.
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
    async spend(tenantId, ceiling) {
      const limit = Number(ceiling)
      if (limit === 0) return
      const lease = leaseOf(tenantId, limit)
      lease.waiting += 1
      try {
        while (!taken(lease)) {
          refuseWhile(lease)
          lease.asking ??= renew(pool, tenantId, lease).finally(() => {
            lease.asking = undefined
          })
          await lease.asking
        }
      } finally {
        lease.waiting -= 1
      }
    },
  }
}

function taken(lease: Lease): boolean {
  if (lease.left < 1 || performance.now() >= lease.until) return false
  lease.left -= 1
  return true
}

/** Asks for as many as the last lease showed to be needed, or as are waiting; and if that is too many, for one. */
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
  /** Until one more request can be paid. */
  readonly waitSeconds: number
}

async function pay(pool: Pool, tenantId: string, limit: number, requests: number): Promise<Payment> {
  const each = windowSeconds / limit
  const price = each * requests
  return pool.transaction(
    asInstallation,
    async (tx) => {
      const paid = tx`
      insert into request_rate as rate (tenant_id, paid_until)
      values (${tenantId}, now() + make_interval(secs => ${price}::float8))
      on conflict (tenant_id) do update
      set paid_until = greatest(rate.paid_until, now()) + make_interval(secs => ${price}::float8)
      where greatest(rate.paid_until, now()) + make_interval(secs => ${price}::float8) <= now() + make_interval(secs => ${windowSeconds}::float8)`
      // Behind the other in the same packet, and only needed when it paid nothing.
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
