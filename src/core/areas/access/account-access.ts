/** What other accounts than the caller may do in a container. Spec: decisions 2 (roles); docs/decisions/0101. */

import type { AccountState } from '../../contract/identity/accounts.ts'
import type { Role } from '../../contract/vocabulary.ts'
import { ownHolders } from '../../kernel/database/role-holders.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { highestOf, roleIn } from './access.ts'
import { isRestrictedFor } from './restriction.ts'

export interface AccountAccess {
  readonly state: AccountState
  /** Its role in the container; undefined if it does not see it. */
  readonly role: Role | undefined
}

interface FoundRow {
  readonly account_id: string
  readonly state: AccountAccess['state']
  readonly id: string
  readonly is_private: boolean
  readonly is_hub_private: boolean
  readonly held_role: Role | null
  /** The container or hub of the role; null with a role: the workspace. */
  readonly held_in: string | null
}

/** The account's access to the container; undefined if the workspace has no such account. `containerId`: a query for the id. */
export async function accessOf(ctx: Ctx, containerId: Part, accountId: string): Promise<AccountAccess | undefined> {
  return (await accessOfEach(ctx, containerId, [accountId])).get(accountId)
}

/**
 * Whether an account is ACTIVE or INVITED and sees a container: for a statement that reads many. Both are queries for an id. It
 * says what `accessOf` does; `q`, because both queries may say `a`.
 */
export const hasAccess = (
  tx: Pick<Tx, 'part'>,
  tenantId: string,
  accountId: Part,
  containerId: Part,
): Part => tx.part`exists (
  select from account q
  join container c on c.tenant_id = q.tenant_id and c.id = ${containerId}
  left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
  join membership m on m.tenant_id = q.tenant_id and m.holder_id = any (array_append(q.group_ids, q.id))
  where q.tenant_id = ${tenantId} and q.id = ${accountId} and q.state in ('ACTIVE', 'INVITED') and (
    m.container_id = c.id or m.container_id = c.parent_id and not c.is_private
    or m.container_id is null and (m.role = 'OWNER' or not (c.is_private or coalesce(h.is_private, false)))))`

/**
 * The same of several accounts, by their ids; without those that the workspace does not have. A restricted account has no role here:
 * nobody assigns or mentions it (restriction.ts).
 */
export async function accessOfEach(
  ctx: Ctx,
  containerId: Part,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, AccountAccess>> {
  const { tenantId } = ctx.account
  const rows = await ctx.tx<FoundRow[]>`
    select a.id as account_id, a.state, c.id, c.is_private, coalesce(h.is_private, false) as is_hub_private,
           m.role as held_role, m.container_id as held_in
    from account a
    join container c on c.tenant_id = a.tenant_id and c.id = ${containerId}
    left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    left join membership m on m.tenant_id = a.tenant_id and m.holder_id = any (${ownHolders(ctx.tx)})
      and not ${isRestrictedFor(ctx)} and (m.container_id is null or m.container_id in (c.id, c.parent_id))
    where a.tenant_id = ${tenantId} and a.id in ${ctx.tx.list(accountIds)}`
  const byAccount = Map.groupBy(rows, ({ account_id }) => account_id)
  return new Map([...byAccount].map(([id, found]) => [id, accessIn(found)]))
}

/** `rows`: one account's, at least one. */
function accessIn(rows: readonly FoundRow[]): AccountAccess {
  const [row] = rows as readonly [FoundRow, ...FoundRow[]]
  const general = highestOf(rows.filter(({ held_in }) => held_in === null).map(({ held_role }) => held_role))
  const held = rows.filter(({ held_in }) => held_in !== null)
  return { state: row.state, role: roleIn(general, row, held) }
}

/**
 * Whether the account `a` sees the container `c`, whose hub is `h`, and which is not deleted; where `containerId` is null,
 * whether it has a role at all. For a statement that reads many accounts; it says what `accessOf` does.
 */
export const isSeenByAccount = (tx: Pick<Tx, 'part'>, tenantId: string, containerId: Part): Part => tx.part`exists (
  select from membership m where m.tenant_id = ${tenantId} and m.holder_id = any (${ownHolders(tx)}) and (
    ${containerId} is null
    or c.deleted_at is null and h.deleted_at is null and (
      m.container_id = c.id or m.container_id = c.parent_id and not c.is_private
      or m.container_id is null and c.id is not null
        and (m.role = 'OWNER' or not (c.is_private or coalesce(h.is_private, false))))) offset 0)`
