/** Copies carry the files of their originals, without those that a comment brought. Spec: items 1, N15; items 4, Store. */
import { mostCopiedFiles } from '../../../contract/items/tree.ts'
import { mostAttachments } from '../../../contract/media/attachments.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'

interface Carried {
  readonly item_id: string
  readonly media_id: string
  readonly name: string | null
  readonly alt: string | null
}

/**
 * What the items carry. The files are locked, so that nobody detaches the last reference meanwhile and lets one be swept.
 * Refuses structure.full for too many files, or where one would be on too many items.
 */
export async function filesOf(ctx: Ctx, itemIds: readonly string[]): Promise<readonly Carried[]> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const items = tx.list(itemIds)
  const theirs = tx.part`(
    select r.media_id from media_reference r where r.tenant_id = ${tenantId} and r.item_id in ${items})`
  const [files, counted] = await together(
    tx<{ id: string }[]>`
      select m.id from media m where m.tenant_id = ${tenantId} and m.id in ${theirs} order by m.id for no key update`,
    tx<{ media_id: string; count: number }[]>`
      select o.media_id, count(*)::int as count from media_reference o
      where o.tenant_id = ${tenantId} and o.media_id in ${theirs} group by o.media_id`,
  )
  if (files.length === 0) return []
  const carried = await tx<Carried[]>`
    select r.item_id, r.media_id, r.name, r.alt from media_reference r
    where r.tenant_id = ${tenantId} and r.item_id in ${items} and r.media_id in ${tx.list(files.map(({ id }) => id))}
      and r.comment_id is null
    order by r.item_id, r.added_at, r.media_id`
  if (carried.length > mostCopiedFiles) refuse('structure.full', { limit: mostCopiedFiles })
  const more = Map.groupBy(carried, ({ media_id }) => media_id)
  if (counted.some(({ media_id, count }) => count + (more.get(media_id)?.length ?? 0) > mostAttachments))
    refuse('structure.full', { limit: mostAttachments })
  return carried
}

/** Attaches locked files to new items of a container, as attaching each by itself does. */
export async function attachEach(ctx: Ctx, containerId: string, files: readonly Carried[], now: string): Promise<void> {
  if (files.length === 0) return
  const { tx } = ctx
  const { tenantId: tenant_id, accountId: added_by } = ctx.account
  const rows = files.map((file) => ({ ...file, tenant_id, added_by }))
  void tx`insert into media_reference ${tx.rows(rows, 'tenant_id', 'item_id', 'media_id', 'name', 'alt', 'added_by')}`
  for (const { item_id, media_id } of files)
    await ctx.record('work.item.attachment_added', {
      item_id,
      container_id: containerId,
      media_id,
      added_by,
      added_at: now,
    })
}
