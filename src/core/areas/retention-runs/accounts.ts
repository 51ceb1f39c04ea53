/**
 * Accounts that were disabled long ago: each is erased, and what it wrote stays (KEEP). Those that a legal hold covers, that are
 * restricted or that wait for a request of theirs are passed over. Spec: Keeping, 4, ACCOUNTS.
 */
import { Choices } from '../../contract/privacy/requests.ts'
import { Problem } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { beginErasure } from '../privacy/erasing/begin.ts'
import { doomedBy } from '../retention-rules/doomed.ts'
import { isAccountHeld } from './held.ts'
import type { Taken } from './taken.ts'

/** Each is some statements, in one transaction. */
const mostAtOnce = 10
const mostLookedAt = 1000

const keep = Choices.parse({})

/** Begins the erasure of some, whose end is the work of its own job (areas/privacy/erasing). The run is locked. */
export async function takeAccounts(ctx: Ctx, tenantId: string, before: string, size: number): Promise<Taken> {
  const { tx } = ctx
  const due = await tx<{ id: string; is_held: boolean }[]>`
    select d.id, ${isAccountHeld(tx, tenantId, tx.part`d.id`)} as is_held from (${doomedBy(tx, tenantId, 'ACCOUNTS', tx.part`${before}::timestamptz`)}) d
    order by d.at, d.id limit ${mostLookedAt}`
  const most = Math.min(size, mostAtOnce)
  let removed = 0
  for (const { id: accountId, is_held } of due) {
    if (is_held) continue
    if (removed === most) break
    if (await begins(ctx, tenantId, accountId)) removed += 1
  }
  return { removed, held: due.filter(({ is_held }) => is_held).length, isMore: removed === most }
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
