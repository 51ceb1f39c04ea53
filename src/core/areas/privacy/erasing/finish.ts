/**
 * The end of an erasure.
 *
 *    swept ──nothing is held──▶ ended, the request DONE
 *       └──a hold keeps parts──▶ the request PARTLY_DONE, the account restricted ──released──▶ the copies go ──▶ ended
 *
 * Spec: Keeping, 1 (Two steps of removal) and 2.
 */
import type { ErasedPart } from '../../../contract/privacy/requests.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { restrictRemains } from '../../identity/accounts/restricting.ts'
import { recordClosed } from '../evidence.ts'
import { removeFiles } from './files.ts'
import { isCopyHeld } from './place.ts'
import type { Sweeping } from './sweeping.ts'

const batch = 500

/** Removes copies that no hold covers any more; answers whether there may be more. */
export async function releaseCopies({ tx }: Ctx, sweeping: Sweeping): Promise<boolean> {
  const { tenantId, id } = sweeping
  const gone = await tx`
    delete from erasure_held d where d.tenant_id = ${tenantId} and d.id = any (array(
      select h.id from erasure_held h
      where h.tenant_id = ${tenantId} and h.erasure_id = ${id} and not ${isCopyHeld(tx, sweeping)} order by h.id limit ${batch}))`
  return gone.count === batch
}

/** Says how far it is: ended, or what is kept. Behind the sweep. */
export async function settleErasure(ctx: Ctx, sweeping: Sweeping): Promise<void> {
  const { tx } = ctx
  const { tenantId, id, accountId, requestId, choices } = sweeping
  if (choices.files === 'REMOVE' && accountId !== null) while (await removeFiles(ctx, sweeping, batch));
  const kept = await tx<{ part: ErasedPart }[]>`
    select distinct part from erasure_held where tenant_id = ${tenantId} and erasure_id = ${id} order by part`
  const held = kept.map(({ part }) => part)
  const isEnded = held.length === 0
  const now = await ctx.now()
  await tx`
    update erasure set swept_at = ${sweeping.sweptAt ?? now}, ended_at = ${isEnded ? now : null}
    where tenant_id = ${tenantId} and id = ${id}`
  if (requestId !== null) await settleRequest(ctx, { tenantId, requestId }, held)
  if (accountId !== null) await restrictRemains(ctx, { tenantId, accountId, requestId, isKept: !isEnded })
  failpoint('erasure.settled')
}

async function settleRequest(
  ctx: Ctx,
  { tenantId, requestId }: { readonly tenantId: string; readonly requestId: string },
  held: readonly ErasedPart[],
): Promise<void> {
  const { tx } = ctx
  const state = held.length === 0 ? 'DONE' : 'PARTLY_DONE'
  const changed = await tx`
    update privacy_request
    set state = ${state}, held_parts = ${tx.json(held)}, executes_at = null, closed_at = ${state === 'DONE' ? await ctx.now() : null},
        updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${requestId} and state in ('GRANTED', 'PARTLY_DONE')
      and (state <> ${state} or held_parts <> ${tx.json(held)})`
  if (changed.count === 0) return
  if (state === 'PARTLY_DONE') {
    await ctx.audit('privacy_request.partly_done', {
      subject: { kind: 'privacy_request', id: requestId },
      params: { held_parts: held },
    })
    return
  }
  await recordClosed(ctx, { id: requestId, kind: 'ERASURE' }, 'DONE')
}
