/**
 * Accounts that were disabled long ago: each is erased, and what it wrote stays (KEEP). Those that a legal hold covers, that are
 * restricted or that wait for a request of theirs are passed over. Spec: Keeping, 4, ACCOUNTS.
 */
import { Choices } from '../../contract/privacy/requests.ts'
import { Problem } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { beginErasure } from '../privacy/erasing/begin.ts'
import { isAccountHeld } from '../privacy/erasing/place.ts'
import { doomedBy } from '../retention-rules/doomed.ts'
import type { Taken } from './taken.ts'

/** Each is some statements, in one transaction. */
const mostAtOnce = 10
const mostLookedAt = 1000

const keep = Choices.parse({})

/** Begins the erasure of some, whose end is the work of its own job (areas/privacy/erasing). The run is locked. */
export async function takeAccounts(ctx: Ctx, tenantId: string, before: string, size: number): Promise<Taken> {
  const { tx } = ctx
  const doomed = doomedBy(tx, tenantId, 'ACCOUNTS', tx.part`${before}::timestamptz`)
  const isHeld = isAccountHeld(tenantId, tx.part`d.id`)
  const due = await tx<{ id: string }[]>`
    select d.id from (${doomed}) d where not ${isHeld} order by d.at, d.id limit ${mostLookedAt}`
  const most = Math.min(size, mostAtOnce)
  let removed = 0
  for (const { id: accountId } of due) {
    if (removed === most) return { removed, held: 0, isMore: true }
    if (await begins(ctx, tenantId, accountId)) removed += 1
  }
  const [kept] = await tx<{ count: number }[]>`select count(*)::int as count from (${doomed}) d where ${isHeld}`
  return { removed, held: kept?.count ?? 0, isMore: false }
}

/** Whether it begins: who must stay, because there is no other OWNER or operator, stays. */
async function begins(ctx: Ctx, tenantId: string, accountId: string): Promise<boolean> {
  try {
    await beginErasure(ctx, { tenantId, accountId, requestId: null, choices: keep })
    return true
  } catch (error) {
    if (error instanceof Problem && (error.code === 'membership.last_owner' || error.code === 'admin.operator_last'))
      return false
    throw error
  }
}
