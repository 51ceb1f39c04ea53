/**
 * An account as it is answered: its row, and what an administrator and its own person see besides.
 *
 * Everybody with a role on the workspace sees everybody. A guest sees the accounts that see a container which the guest
 * sees, and no address but the own one. Spec: people 1, N4, I1; docs/decisions/0101.
 */
import type { Account } from '../../../contract/identity/accounts.ts'
import { refuse } from '../../../contract/problem.ts'
import { rankOf } from '../../../contract/vocabulary.ts'
import { momentInJson } from '../../../kernel/database/json-moment.ts'
import { ownHolders } from '../../../kernel/database/role-holders.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { accountIdOf, isAccount } from '../../../kernel/values/actor.ts'
import { isSeen } from '../../access/access.ts'
import { addressesOf } from '../../access/addresses.ts'
import { isRestricted } from '../../access/restriction.ts'
import { roleOnWorkspace } from '../../access/workspace-role.ts'

/** As many open items are counted. */
const countedItems = 1000

/**
 * The accounts `a` for `accountColumns`, which also read `x`. Most columns depend on whether an account is restricted or the
 * caller's own, so each is asked once: `offset 0` keeps PostgreSQL from asking in each of them.
 */
export const accountsFrom = ({ tx, actor }: Ctx): Part => tx.part`account a cross join lateral (
  select ${isRestricted(tx)} as is_restricted, a.id is not distinct from ${accountIdOf(actor)}::uuid as is_own offset 0) x`

/** The columns of an answer, of `accountsFrom`. */
export function accountColumns({ tx, actor }: Ctx, tenantId: string): Part {
  // The operator at the database, or one who acts for the installation in another workspace.
  const isOperator = !isAccount(actor) || actor.tenantId !== tenantId
  const seesAddresses = isOperator || !actor.isGuest
  const administers =
    isOperator || (!actor.isGuest && rankOf[actor.role] >= rankOf.ADMIN && actor.scopes.includes('workspace:admin'))
  // A person's own acts are consent.
  const isShown = tx.part`(x.is_own or not x.is_restricted)`
  const hasAddress = seesAddresses ? isShown : tx.part`x.is_own`
  const hasDetails = administers ? tx.part`true` : tx.part`x.is_own`
  return tx.part`a.id, a.kind, a.state, x.is_restricted, case when ${isShown} then a.display_name end as display_name,
    case when ${hasAddress} then a.email end as email, case when ${isShown} then a.sign_in_name end as sign_in_name,
    a.sign_in_name is not null and a.email is null as is_managed, ${roleOnWorkspace(tx)} as role,
    a.created_at, a.joined_at, a.disabled_at, a.version,
    case when ${hasDetails} then json_build_object(
      'addresses', case when ${isShown} then ${addressesOf(tx)} else '[]' end,
      'identities', ${identities({ tx })},
      'has_password', a.password_hash is not null,
      'start_password_expires_at', ${momentInJson(tx, tx.part`a.start_password_until`)},
      'has_second_factor', exists (select from second_factor f
        where f.tenant_id = a.tenant_id and f.account_id = a.id and f.confirmed_at is not null),
      'last_seen_at', ${momentInJson(tx, lastSeen(tx))},
      'invitation_expires_at', (select ${momentInJson(tx, tx.part`max(i.expires_at)`)} from invitation i
        where i.tenant_id = a.tenant_id and i.account_id = a.id and i.used_at is null and i.expires_at > now()),
      'external_id', case when ${isShown} then a.external_id end,
      'open_item_count', (select count(*) from (select from item t
        where t.tenant_id = a.tenant_id and t.assignee_id = a.id and t.state = 'OPEN' and t.deleted_at is null limit ${countedItems}) open)
    ) end as admin`
}

/** When the account `a` was last seen: its sessions say it, and tokens that belong to none. */
const lastSeen = ({ part }: Ctx['tx']): Part => part`greatest(
  (select max(s.last_used_at) from session s where s.tenant_id = a.tenant_id and s.account_id = a.id),
  (select max(c.last_used_at) from credential c
   where c.tenant_id = a.tenant_id and c.account_id = a.id and c.kind in ('PERSONAL', 'SERVICE')))`

/** The identities of the account `a`, as JSON. */
export const identities = ({ tx }: Pick<Ctx, 'tx'>): Part => tx.part`coalesce((
  select json_agg(json_build_object('id', k.id, 'provider_id', k.provider_id,
    'connected_at', ${momentInJson(tx, tx.part`k.connected_at`)}, 'last_used_at', ${momentInJson(tx, tx.part`k.last_used_at`)}) order by k.id)
  from connected_identity k where k.tenant_id = a.tenant_id and k.account_id = a.id), '[]')`

/** A condition on the account `a`: that a guest sees it. */
export function isSeenByGuest(ctx: Ctx): Part {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  return tx.part`(a.id = ${accountId} or exists (
    select from membership v where v.tenant_id = ${tenantId} and v.holder_id = any (${ownHolders(tx)}) and (
      v.container_id in (${placesSeen(ctx)})
      or (v.container_id is null and (v.role = 'OWNER' or exists (
        select from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
        where c.tenant_id = ${tenantId} and ${isThere(ctx)} and not (c.is_private or coalesce(h.is_private, false)) and ${isSeen(ctx)}))))))`
}

/** The containers whose roles let an account see what the caller sees, as the inside of an `in (…)`: those, and their hubs. */
export function placesSeen(ctx: Ctx): Part {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const seen = tx.part`from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    where c.tenant_id = ${tenantId} and ${isThere(ctx)} and ${isSeen(ctx)}`
  return tx.part`select c.id ${seen} union all select c.parent_id ${seen} and c.parent_id is not null and not c.is_private`
}

export const isThere = ({ tx }: Ctx): Part => tx.part`c.deleted_at is null and h.deleted_at is null`

/** The account of that id; `look` is `tx.last` where nothing follows. Refuses not_found. */
export async function readAccount(
  ctx: Ctx,
  tenantId: string,
  accountId: string,
  look: Ctx['tx'] | Ctx['tx']['last'] = ctx.tx,
): Promise<Account> {
  const { tx, actor } = ctx
  const isGuest = isAccount(actor) && actor.tenantId === tenantId && actor.isGuest === true
  const [row] = await look<Account[]>`
    select ${accountColumns(ctx, tenantId)} from ${accountsFrom(ctx)}
    where a.tenant_id = ${tenantId} and a.id = ${accountId} ${isGuest ? tx.part`and ${isSeenByGuest(ctx)}` : tx.part``}`
  return row ?? refuse('not_found')
}
