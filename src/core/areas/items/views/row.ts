/** Rows of views, and who may use them. Spec: items 7, O26 to O29; docs/decisions/0207. */
import type { View } from '../../../contract/items/views.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { visibleContainerIds } from '../../access/access.ts'

/** A view's columns, as they are answered. */
export const columnsOf = ({ tx }: Ctx): Part => tx.part`
  v.id, v.container_id, v.name, v.layout, v.filter, v.sort, v.group_by, v.columns, v.visibility, v.created_by,
  v.created_at, v.updated_at, v.version`

/** The caller's own private views `v`: whatever it sees by now, these are its own. */
export const isOwn = ({ tx, account }: Ctx): Part =>
  tx.part`v.tenant_id = ${account.tenantId} and v.visibility = 'PRIVATE' and v.created_by = ${account.accountId}`

/** Shared views `v` that the caller sees. One of the whole workspace is no guest's: it names what a guest does not see. */
export function isShared(ctx: Ctx): Part {
  const { tx, account } = ctx
  const ofAll = account.isGuest ? tx.part`` : tx.part`v.container_id is null or`
  return tx.part`
    v.tenant_id = ${account.tenantId} and v.visibility = 'SHARED' and (${ofAll} v.container_id in (${visibleContainerIds(ctx)}))`
}

/** A view that the caller may use; undefined: none has this id, or somebody else's private one. */
export async function findView(ctx: Ctx, viewId: string): Promise<View | undefined> {
  const { tx } = ctx
  const [view] = await tx<View[]>`
    select ${columnsOf(ctx)} from item_view v
    where v.tenant_id = ${ctx.account.tenantId} and v.id = ${viewId} and (${isOwn(ctx)} or ${isShared(ctx)})`
  return view
}
