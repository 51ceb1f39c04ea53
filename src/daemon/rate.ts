/**
 * The request rate of a workspace, `api_requests_per_minute`, shared by every replica.
 *
 * One row per workspace has the time until which its requests are paid for (the generic cell
 * rate algorithm). Each request moves that time forward by 60 s / limit, and at most to 60 s
 * ahead of the database's clock. So an idle workspace may send the requests of a whole
 * minute at once, and then continues at the pace of the limit.
 *
 * A busy workspace does not write a row for each call. A daemon leases several requests at
 * once, at most those of one second (and at most 50), and they expire after a second. The next
 * lease is twice as large if this one was used up, otherwise as large as what was used of it.
 * Expired requests are lost for that minute. A refusal is remembered until the next request is
 * possible, so that a flood does not reach the database.
 *
 * A workspace that is not busy pays for each request. If it had half of its minute left when it
 * paid last, its next request goes at once, and is paid for a moment later together with those of
 * other workspaces (rate-payments.ts), but before the one after it.
 *
 * Not guaranteed: while a daemon believes that a workspace has plenty left, others may have spent
 * it. Then each daemon lets in one request too many. It is paid for, so the next ones wait longer.
 *
 * Spec: decisions 1 (429) and 4 (TenantQuotas); Quota semantics; docs/decisions/0011, 0495.
 */

import { Problem } from '../core/contract/problem.ts'
import type { Pool } from '../core/kernel/database/pool.ts'
import { Payments, windowSeconds } from './rate-payments.ts'

export interface Rate {
  /** Spends requests of the workspace, one by one; `limit` per minute, 0 is unlimited. Refuses quota.exceeded (429). */
  spend(tenantId: string, limit: number | bigint, requests?: number): Promise<void>
}

const leaseMs = 1_000
const largestLease = 50
/** The maximum number of remembered workspaces. The one unused for longest is forgotten, and loses its lease. */
const remembered = 10_000

/** The state of one workspace in this daemon; times are monotonic, in ms. */
interface Lease {
  limit: number
  left: number
  until: number
  /** Of how many requests it was. */
  size: number
  refusedUntil: number
  waiting: number
  asking: Promise<void> | undefined
  /** Until then, a request may go before it is paid for. */
  trustedUntil: number
  /** Ends when its debt is paid. */
  owing: Promise<void> | undefined
}

const unused = {
  left: 0,
  until: 0,
  size: 1,
  refusedUntil: 0,
  waiting: 0,
  asking: undefined,
  trustedUntil: 0,
  owing: undefined,
}

export function openRate(pool: Pool): Rate {
  const leases = new Map<string, Lease>()
  const payments = new Payments(pool)

  const leaseOf = (tenantId: string, limit: number): Lease => {
    const known = leases.get(tenantId)
    // The limit has changed, so leases and refusals under the old one do not count.
    const lease = known?.limit === limit ? known : { ...unused, limit }
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
      let mayOwe = requests === 1
      lease.waiting += unpaid
      try {
        while (unpaid > 0) {
          if (taken(lease)) {
            unpaid -= 1
            lease.waiting -= 1
            continue
          }
          refuseWhile(lease)
          if (mayOwe && owed(payments, tenantId, lease)) return
          mayOwe = false // who comes while something is owed is not alone
          if (lease.owing) {
            payments.settle()
            await lease.owing
            continue
          }
          lease.asking ??= renew(payments, tenantId, lease).finally(() => {
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
async function renew(payments: Payments, tenantId: string, lease: Lease): Promise<void> {
  const aSecondsWorth = Math.max(1, Math.floor(lease.limit / windowSeconds))
  const needed = lease.left < 1 ? Math.min(lease.size * 2, aSecondsWorth) : used(lease)
  const wanted = Math.min(Math.max(1, needed, lease.waiting), largestLease, lease.limit)
  const asked = performance.now()

  let granted = wanted
  let answer = await payments.pay({ tenantId, limit: lease.limit, requests: wanted })
  if (!answer.isPaid && wanted > 1) {
    granted = 1
    answer = await payments.pay({ tenantId, limit: lease.limit, requests: 1 })
  }
  lease.size = granted
  lease.left = answer.isPaid ? granted : 0
  lease.until = asked + leaseMs
  lease.refusedUntil = answer.isPaid ? 0 : performance.now() + answer.waitSeconds * 1000
  trust(lease, answer.hasPlenty)
}

const used = ({ size, left }: Lease) => size - left

/** Whether a request may go before it is paid for: of a workspace that had plenty left, that owes nothing, and is not busy. */
function owed(payments: Payments, tenantId: string, lease: Lease): boolean {
  const now = performance.now()
  if (lease.owing || lease.asking || now >= lease.trustedUntil) return false
  if (now < lease.until ? lease.size > 1 : used(lease) > 1) return false
  Object.assign(lease, { size: 1, left: 0 })
  lease.owing = payments.owe(tenantId, lease.limit).then((hasPlenty) => {
    lease.owing = undefined
    trust(lease, hasPlenty)
  })
  return true
}

function trust(lease: Lease, hasPlenty: boolean): void {
  lease.trustedUntil = hasPlenty ? performance.now() + windowSeconds * 1000 : 0
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
