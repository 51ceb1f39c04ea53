/**
 * The files that removed items carried: one that nothing carries any more is loose from then on, and is swept as if somebody
 * had detached it (areas/media/sweep.ts). The files' locks decide which of several removals and detachments was the last.
 * A purged item that a hold keeps carries its files, and these are loose all the same: nothing tells of the hold.
 * Spec: items 4, Store; docs/decisions/0238, 0270, 0364.
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

/** The same for purged items that a hold keeps, which are locked: a file that none but purged items carry is loose from now on. */
export async function loosenHeldFiles(tx: Tx, tenantId: string, itemIds: readonly string[]): Promise<void> {
  if (itemIds.length === 0) return
  const isDue = tx.part`
    m.loose_since is null and m.withheld_at is null and not exists (
      select from media_reference r join item i on i.tenant_id = r.tenant_id and i.id = r.item_id
      join container c on c.tenant_id = i.tenant_id and c.id = i.container_id
      where r.tenant_id = ${tenantId} and r.media_id = m.id and i.purged_at is null and c.purged_at is null)`
  const theirs = tx.part`(
    select r.media_id from media_reference r where r.tenant_id = ${tenantId} and r.item_id in ${tx.list(itemIds)})`
  const found = await tx<{ id: string }[]>`select m.id from media m
    where m.tenant_id = ${tenantId} and ${isDue} and m.id in ${theirs} order by m.id`
  if (found.length === 0) return
  const ids = tx.list(found.map(({ id }) => id))
  void tx`select 1 from media where tenant_id = ${tenantId} and id in ${ids} order by id for no key update`
  // Asked again behind the locks: somebody may have attached one meanwhile.
  await tx`update media m set loose_since = now() where m.tenant_id = ${tenantId} and ${isDue} and m.id in ${ids}`
}
