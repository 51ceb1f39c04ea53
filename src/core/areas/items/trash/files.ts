/**
 * The files that removed items carried: one that nothing carries any more is loose from then on, and is swept as if somebody
 * had detached it (areas/media/sweep.ts). The files' locks decide which of several removals and detachments was the last.
 * Spec: items 4, Store; docs/decisions/0238, 0270.
 */
import type { Tx } from '../../../kernel/database/transaction.ts'

/** Locks the files of items that are locked, in the order of their ids. */
export async function lockFilesOf(tx: Tx, tenantId: string, itemIds: readonly string[]): Promise<readonly string[]> {
  const files = await tx<{ id: string }[]>`
    select m.id from media m
    where m.tenant_id = ${tenantId} and m.id in (
      select r.media_id from media_reference r where r.tenant_id = ${tenantId} and r.item_id in ${tx.list(itemIds)})
    order by m.id for no key update`
  return files.map(({ id }) => id)
}

/** Behind the removal of the items' references. Sent and not awaited. */
export function loosenFiles(tx: Tx, tenantId: string, ids: readonly string[]): void {
  if (ids.length === 0) return
  void tx`
    update media m set loose_since = now()
    where m.tenant_id = ${tenantId} and m.id in ${tx.list(ids)} and m.loose_since is null
      and not exists (select from media_reference r where r.tenant_id = ${tenantId} and r.media_id = m.id)`
}
