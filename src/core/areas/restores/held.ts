/**
 * What legal holds in force cover now: ids that a difference leaves alone, by the rules of the trash (areas/items/trash/holds.ts).
 * Nothing is read of a workspace without a hold. Spec: Keeping, 1 (A hold covers) and 3 (Held rows stay).
 */
import { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { stagedHolds } from '../backup/loading/staging.ts'
import { isCommentHeld, isContainerHeld, isItemHeld, isTemplateHeld } from '../items/trash/holds.ts'
import { longSeconds, type RestorePlace } from './difference.ts'

/** Notes it anew, in the workspace's transaction. Answers whether a hold is in force. */
export async function noteHeld({ tx }: Ctx, { tenantId, restoreId }: RestorePlace): Promise<boolean> {
  await tx.patience(longSeconds)
  const held = new Part([stagedHolds(restoreId)], [], false)
  await tx`delete from ${held} where tenant_id = ${tenantId}`
  const holds = await tx<{ scope_kind: string }[]>`
    select scope_kind from legal_hold where tenant_id = ${tenantId} and released_at is null`
  if (holds.length === 0) return false
  if (holds.some(({ scope_kind }) => scope_kind === 'TENANT')) {
    await tx`insert into ${held} (tenant_id, kind, id) values (${tenantId}, 'all', ${tenantId})`
    return true
  }
  void tx`
    insert into ${held} (tenant_id, kind, id) select ${tenantId}, 'item', i.id from item i
    where i.tenant_id = ${tenantId} and ${isItemHeld(tx, tenantId)}`
  void tx`
    insert into ${held} (tenant_id, kind, id) select ${tenantId}, 'container', c.id from container c
    where c.tenant_id = ${tenantId} and ${isContainerHeld(tx, tenantId)}`
  void tx`
    insert into ${held} (tenant_id, kind, id) select ${tenantId}, 'template', t.id from template t
    where t.tenant_id = ${tenantId} and ${isTemplateHeld(tx, tenantId)}`
  // Of what is held whole, and what its author wrote.
  void tx`
    insert into ${held} (tenant_id, kind, id) select ${tenantId}, 'comment', k.id from comment k
    where k.tenant_id = ${tenantId} and (${isCommentHeld(tx, tenantId)} or k.item_id in (
      select h.id from ${held} h where h.tenant_id = ${tenantId} and h.kind = 'item'))`
  await tx`
    insert into ${held} (tenant_id, kind, id) select ${tenantId}, 'media', m.id from media m
    where m.tenant_id = ${tenantId} and (
      m.id in (
        select r.media_id from media_reference r join ${held} h on h.tenant_id = r.tenant_id and h.kind = 'item' and h.id = r.item_id
        where r.tenant_id = ${tenantId})
      or exists (
        select from legal_hold l
        where l.tenant_id = ${tenantId} and l.released_at is null and l.scope_kind = 'ACCOUNT' and l.scope_id = m.created_by))`
  return true
}
