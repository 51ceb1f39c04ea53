/**
 * The role of an account on the workspace, for a statement that reads accounts: the highest of its own and of its groups'.
 * What the role lets an account see is elsewhere (access.ts). Spec: decisions 2, Roles; people 2; docs/decisions/0101, 0390.
 */
import { ownHolders } from '../../kernel/database/role-holders.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'

/** The rank of a role in a column, as in `rankOf`. */
export const rankIn = ({ part }: Pick<Tx, 'part'>, column: Part): Part => part`
  case ${column} when 'OWNER' then 50 when 'ADMIN' then 40 when 'MEMBER' then 30 when 'COMMENTER' then 20 when 'VIEWER' then 10 end`

/** The role of the account `a` on the workspace; null: it has none there. */
export const roleOnWorkspace = (tx: Pick<Tx, 'part'>): Part => tx.part`(
  select general.role from membership general
  where general.tenant_id = a.tenant_id and general.container_id is null and general.holder_id = any (${ownHolders(tx)})
  order by ${rankIn(tx, tx.part`general.role`)} desc limit 1)`

/** The ids of the accounts that are ADMIN or OWNER of the workspace, as the inside of an `in (…)`. A group is never OWNER. */
export const administratorsOf = ({ part }: Pick<Tx, 'part'>, tenantId: string): Part => part`
  select m.account_id from membership m
  where m.tenant_id = ${tenantId} and m.container_id is null and m.account_id is not null and m.role in ('ADMIN', 'OWNER')
  union select g.account_id from membership m join group_member g on g.tenant_id = m.tenant_id and g.group_id = m.group_id
  where m.tenant_id = ${tenantId} and m.container_id is null and m.role = 'ADMIN'`
