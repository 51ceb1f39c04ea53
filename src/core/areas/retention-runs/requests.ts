/**
 * Requests about personal data that were closed long ago shrink to their kind, their decision and their moments: nothing tells
 * any more whose they were. Those of an account that a legal hold covers stay. Spec: Keeping, 4, REQUESTS.
 */
import type { Ctx } from '../../kernel/transaction/context.ts'
import { isAccountHeld } from '../privacy/erasing/place.ts'
import { doomedBy } from '../retention-rules/doomed.ts'
import type { Taken } from './taken.ts'

/** Shrinks as many as named, at most. The run is locked: nobody else does now. */
export async function takeRequests(ctx: Ctx, tenantId: string, before: string, size: number): Promise<Taken> {
  const { tx } = ctx
  const doomed = doomedBy(tx, tenantId, 'REQUESTS', tx.part`${before}::timestamptz`)
  const due = await tx<{ id: string }[]>`
    select d.id from (${doomed}) d join privacy_request r on r.tenant_id = ${tenantId} and r.id = d.id
    where not ${isAccountHeld(tenantId, tx.part`r.account_id`)} order by d.at, d.id limit ${size}`
  const ids = tx.list(due.map(({ id }) => id))
  void tx`delete from privacy_mention where tenant_id = ${tenantId} and request_id in ${ids}`
  void tx`delete from privacy_search where tenant_id = ${tenantId} and request_id in ${ids}`
  await tx`
    update privacy_request
    set account_id = null, subject_name = null, subject_contact = null, details = null, identity_how = null, identity_by = null,
        handler_id = null, extended_text = null, choices = null, held_parts = '[]', updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id in ${ids}`
  if (due.length === size) return { removed: size, held: 0, isMore: true }
  const [kept] = await tx<{ count: number }[]>`select count(*)::int as count from (${doomed}) d`
  return { removed: due.length, held: kept?.count ?? 0, isMore: false }
}
