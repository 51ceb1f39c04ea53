/** What carries a file, and taking it off everything. Spec: items 1 and 4; docs/decisions/0238. */
import type { z } from 'zod'
import type { AttachmentTold } from '../../contract/media/attachments.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

type Told = z.output<typeof AttachmentTold>

/** At most a hundred (attachments.ts); without those of what was purged: whether they are still there, nobody is told. */
export const referencesTo = ({ tx }: Ctx, tenantId: string, mediaId: string): Promise<readonly Told[]> =>
  tx<Told[]>`
    select r.item_id, i.container_id, r.media_id, r.added_by, r.added_at
    from media_reference r join item i on i.tenant_id = r.tenant_id and i.id = r.item_id
    join container c on c.tenant_id = i.tenant_id and c.id = i.container_id
    where r.tenant_id = ${tenantId} and r.media_id = ${mediaId} and i.purged_at is null and c.purged_at is null
    order by r.item_id`

/** Takes a file that is locked off everything, also off purged items, which a hold may keep. */
export async function detachEverywhere(
  ctx: Ctx,
  tenantId: string,
  mediaId: string,
  references: readonly Told[],
): Promise<void> {
  void ctx.tx`delete from media_reference where tenant_id = ${tenantId} and media_id = ${mediaId}`
  for (const reference of references) await ctx.record('work.item.attachment_removed', reference)
}
