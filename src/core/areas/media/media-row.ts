/** Rows of media: who sees one, and what an event tells of it. Spec: items 4; docs/decisions/0237, 0238. */
import type { Media } from '../../contract/media/operations.ts'
import { refuse } from '../../contract/problem.ts'
import { rankOf } from '../../contract/vocabulary.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { isSeen } from '../access/access.ts'

/** The columns of an answer, of the medium `m`. */
export const columnsOf = ({ tx }: Pick<Ctx, 'tx'>): Part => tx.part`
  m.id, m.filename, m.kind, m.content_type, m.size_bytes, m.received_bytes, m.sha256, m.width, m.height,
  case when m.small_bytes is null then '[]'::jsonb else '["SMALL","MEDIUM"]'::jsonb end as previews,
  m.state, m.created_by, m.created_at, m.version`

/** Whether the caller sees the medium `m`: its own, or one that an item carries which it sees. */
export function isSeenMedia(ctx: Ctx): Part {
  const { tx, account } = ctx
  return tx.part`m.withheld_at is null and (m.created_by = ${account.accountId} or exists (
    select from media_reference r
    join item i on i.tenant_id = r.tenant_id and i.id = r.item_id and i.deleted_at is null
    join container c on c.tenant_id = i.tenant_id and c.id = i.container_id and c.deleted_at is null
    left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    where r.tenant_id = ${account.tenantId} and r.media_id = m.id and h.deleted_at is null and ${isSeen(ctx)}))`
}

/** The one medium `m`, if the caller sees it. */
const seenOne = (ctx: Ctx, mediaId: string): Part => ctx.tx.part`
  from media m where m.tenant_id = ${ctx.account.tenantId} and m.id = ${mediaId} and ${isSeenMedia(ctx)}`

/** Refuses not_found. */
export async function visibleMedia(ctx: Ctx, mediaId: string): Promise<Media> {
  const [media] = await ctx.tx.last<Media[]>`select ${columnsOf(ctx)} ${seenOne(ctx, mediaId)}`
  return media ?? refuse('not_found')
}

interface WithPreviews extends Media {
  /** How long they are; null: it has none. */
  readonly small_bytes: number | null
  readonly medium_bytes: number | null
}

/** Refuses not_found. */
export async function visibleWithPreviews(ctx: Ctx, mediaId: string): Promise<WithPreviews> {
  const [media] = await ctx.tx.last<WithPreviews[]>`
    select ${columnsOf(ctx)}, m.small_bytes, m.medium_bytes ${seenOne(ctx, mediaId)}`
  return media ?? refuse('not_found')
}

/** Whether the caller administers the files of the whole workspace. */
export const keepsAll = ({ account: { role, isGuest } }: Ctx): boolean => !isGuest && rankOf[role] >= rankOf.ADMIN

/** The key of a file in the store. */
export const keyOf = (tenantId: string, mediaId: string) => ({ tenantId, mediaId })
