/**
 * Files that go with their uploader: off everything that carries them, and out of every answer at once. While a hold is in force
 * their rows and bytes stay, withheld; its release removes them. Spec: Keeping, 2, files uploaded; items 4; docs/decisions/0271.
 */
import type { Media } from '../../../contract/media/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { part } from '../../erasure/rules.ts'
import { heldCopy } from '../../erasure/statement.ts'
import { detachEverywhere, referencesTo } from '../../media/carriers.ts'
import { columnsOf } from '../../media/media-row.ts'
import { removeMedia, withholdMedia } from '../../media/removal.ts'
import { heldIn, isAnyHeld, placeOf } from './place.ts'
import type { Sweeping } from './sweeping.ts'

interface Uploaded extends Media {
  readonly is_withheld: boolean
}

/** Each takes some statements and events. */
const mostAtOnce = 50

/** Answers whether there may be more. */
export async function removeFiles(ctx: Ctx, sweeping: Sweeping, size: number): Promise<boolean> {
  const { tx } = ctx
  const { tenantId, id, accountId } = sweeping
  const most = Math.min(size, mostAtOnce)
  const [hold] = await tx<{ is_held: boolean }[]>`select ${isAnyHeld(tenantId)} as is_held`
  const isHeld = hold?.is_held === true
  const files = await tx<Uploaded[]>`
    select ${columnsOf(ctx)}, m.withheld_at is not null as is_withheld from media m
    where m.tenant_id = ${tenantId} and m.created_by = ${accountId} and (m.withheld_at is null or not ${isHeld})
    order by m.id limit ${most} for update`
  for (const { is_withheld, ...file } of files) {
    const rule = { part: 'FILES', table: 'media_reference', item: part`x.item_id` } as const
    const carried = part`from media_reference x where x.tenant_id = ${tenantId} and x.media_id = ${file.id}
      and ${heldIn(tx, sweeping)(rule) ?? part`false`}`
    await tx`${heldCopy(placeOf(sweeping), id, rule, part`to_jsonb(x)`, carried)}`
    await detachEverywhere(ctx, tenantId, file.id, await referencesTo(ctx, tenantId, file.id))
    if (!isHeld) await removeMedia(ctx, tenantId, file, is_withheld)
    else {
      // Its copy says that something of it is kept, until the release.
      const row = part`from media x where x.tenant_id = ${tenantId} and x.id = ${file.id}`
      await tx`${heldCopy(placeOf(sweeping), id, { part: 'FILES', table: 'media' }, part`to_jsonb(x)`, row)}`
      await withholdMedia(ctx, tenantId, file)
    }
  }
  return files.length === most
}
