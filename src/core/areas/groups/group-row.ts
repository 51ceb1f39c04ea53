/** Groups as their rules read them, and which of them the caller sees. Spec: people 2, Groups. */
import type { Group } from '../../contract/groups/operations.ts'
import { refuse } from '../../contract/problem.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { visibleContainerIds } from '../access/access.ts'

/** The columns of a Group, of `account_group g`. */
export const groupColumns = ({ tx }: Ctx): Part => tx.part`
  g.id, g.name, g.description, g.external_id, g.member_count, g.created_at, g.updated_at, g.version,
  case when g.binding_provider_id is not null then
    json_build_object('provider_id', g.binding_provider_id, 'value', g.binding_value) end as binding`

/** Whether the caller sees the group `g`: a guest sees those with a role in a container of the guest's. */
export function isGroupSeen(ctx: Ctx): Part {
  const { tx, account } = ctx
  if (!account.isGuest) return tx.part`true`
  return tx.part`exists (
    select from membership given where given.tenant_id = ${account.tenantId} and given.holder_id = g.id
      and given.container_id in (${visibleContainerIds(ctx)}))`
}

/** The group, locked until the commit. Refuses not_found. */
export async function lockGroup(ctx: Ctx, groupId: string): Promise<Group> {
  const { tx } = ctx
  const [row] = await tx<Group[]>`
    select ${groupColumns(ctx)} from account_group g
    where g.tenant_id = ${ctx.account.tenantId} and g.id = ${groupId} for update`
  return row ?? refuse('not_found')
}
