/** Copies carry the files of their originals. Spec: items 1, N15; items 4, Store. */
import { mostAttachments } from '../../../contract/media/attachments.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'

interface Reference {
  readonly item_id: string
  readonly media_id: string
  readonly name: string | null
  readonly alt: string | null
}

/**
 * `copies`: the id of a copy by that of its original. The files are locked, so that nobody detaches the last reference
 * meanwhile and lets one be swept. Refuses structure.full where a file would be on too many items.
 */
export async function copyFiles(ctx: Ctx, copies: ReadonlyMap<string, string>): Promise<void> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const originals = tx.list([...copies.keys()])
  const theirs = tx.part`(
    select r.media_id from media_reference r where r.tenant_id = ${tenantId} and r.item_id in ${originals})`
  const [files, counted] = await together(
    tx<{ id: string }[]>`
      select m.id from media m where m.tenant_id = ${tenantId} and m.id in ${theirs} order by m.id for no key update`,
    tx<{ media_id: string; count: number }[]>`
      select o.media_id, count(*)::int as count from media_reference o
      where o.tenant_id = ${tenantId} and o.media_id in ${theirs} group by o.media_id`,
  )
  if (files.length === 0) return
  const carried = await tx<Reference[]>`
    select r.item_id, r.media_id, r.name, r.alt from media_reference r
    where r.tenant_id = ${tenantId} and r.item_id in ${originals} and r.media_id in ${tx.list(files.map(({ id }) => id))}`
  const more = Map.groupBy(carried, ({ media_id }) => media_id)
  if (counted.some(({ media_id, count }) => count + (more.get(media_id)?.length ?? 0) > mostAttachments))
    refuse('structure.full', { limit: mostAttachments })
  if (carried.length === 0) return
  const rows = carried.map(({ item_id, ...reference }) => ({
    ...reference,
    tenant_id: tenantId,
    item_id: copies.get(item_id) ?? item_id,
    added_by: accountId,
  }))
  void tx`insert into media_reference ${tx.rows(rows, 'tenant_id', 'item_id', 'media_id', 'name', 'alt', 'added_by')}`
}
