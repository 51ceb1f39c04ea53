/**
 * The addresses of accounts, as rows: whose an address is, and which an account has.
 *
 *    asked for ──confirmed──▶ the account's ──removed──▶ told, and gone after two days
 *       └─ 24 hours pass ─▶ gone
 *    given at an invitation ─▶ the account's, the primary one, unconfirmed ──confirmed──▶
 *
 * An address is an account's while it is the primary one or confirmed (`held_fold`); of one workspace two accounts never have
 * the same. One that waits blocks nobody. `account.email` is the primary address, and only `makePrimary` moves it. An account
 * that older code made has no row: its primary address counts as confirmed, and `completeAddresses` writes the row before
 * anything changes. Spec: people 1, Addresses; docs/decisions/0410.
 */
import type { AccountAddress } from '../../contract/identity/addresses.ts'
import { momentInJson } from '../../kernel/database/json-moment.ts'
import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { caseFold } from '../../kernel/values/case-fold.ts'
import { newId } from '../../kernel/values/id.ts'

interface Holder {
  readonly tenantId: string
  readonly accountId: string
}

/**
 * The id of the account whose address this is, as a query; null: nobody's. `coalesce` stands within a query of its own: beside a
 * policy PostgreSQL compares an indexed column with the answer of a query, and with a `coalesce` row by row.
 */
export const accountWithAddress = ({ part }: Pick<Tx, 'part'>, tenantId: Part | string, email: string): Part => {
  const fold = caseFold(email)
  return part`(select coalesce(
    (select held.account_id from account_address held where held.tenant_id = ${tenantId} and held.held_fold = ${fold}),
    (select p.id from account p where p.tenant_id = ${tenantId} and p.email_fold = ${fold})))`
}

/** The same of what somebody signs in with: an address, or the name of a managed account. Neither looks like the other. */
export const accountSigningIn = (tx: Pick<Tx, 'part'>, tenantId: Part, email: string): Part => tx.part`(select coalesce(
  ${accountWithAddress(tx, tenantId, email)},
  (select n.id from account n where n.tenant_id = ${tenantId} and n.sign_in_name = ${caseFold(email)})))`

/** An address gets its account in turns, until the commit. It comes before the locks of accounts. */
export const lockAddress = ({ tx }: Pick<Ctx, 'tx'>, tenantId: string, email: string): Promise<unknown> =>
  tx`select pg_advisory_xact_lock(${lockClasses.addresses}, hashtext(${`${tenantId} ${caseFold(email)}`}))`

/** Whose the address is. After `lockAddress` the answer holds until the commit. */
export async function findHolder({ tx }: Pick<Ctx, 'tx'>, tenantId: string, email: string): Promise<string | null> {
  const [row] = await tx<{ id: string | null }[]>`select ${accountWithAddress(tx, tenantId, email)} as id`
  return row?.id ?? null
}

/** Writes the primary address of a new account; it leaves with the commit. */
export function writeFirstAddress(
  { tx }: Pick<Ctx, 'tx'>,
  { tenantId, accountId }: Holder,
  { email, isConfirmed }: { readonly email: string; readonly isConfirmed: boolean },
): Promise<unknown> {
  return tx`
    insert into account_address (tenant_id, id, account_id, email, email_fold, is_primary, confirmed_at)
    values (${tenantId}, ${newId()}, ${accountId}, ${email}, ${caseFold(email)}, true, ${isConfirmed ? tx.part`now()` : null})`
}

/** Writes the row that an account of older code lacks. The account's row is locked. */
export const completeAddresses = ({ tx }: Pick<Ctx, 'tx'>, { tenantId, accountId }: Holder): Promise<unknown> => tx`
  insert into account_address (tenant_id, id, account_id, email, email_fold, is_primary, confirmed_at, created_at)
  select a.tenant_id, a.id, a.id, a.email, a.email_fold, true, coalesce(a.joined_at, a.created_at), a.created_at
  from account a where a.tenant_id = ${tenantId} and a.id = ${accountId} and a.email is not null and not exists (
    select from account_address d where d.tenant_id = a.tenant_id and d.account_id = a.id and d.is_primary)`

/**
 * The addresses of the account `a` as JSON: the primary one first, then the oldest; those that wait, too. An account of older
 * code without a row has its primary one.
 */
export const addressesOf = (tx: Pick<Tx, 'part'>): Part => tx.part`coalesce(
  (select json_agg(json_build_object('id', d.id, 'email', d.email, 'is_primary', d.is_primary,
     'confirmed_at', ${momentInJson(tx, tx.part`d.confirmed_at`)}) order by d.is_primary desc, d.id)
   from account_address d
   where d.tenant_id = a.tenant_id and d.account_id = a.id and d.removed_at is null
     and (d.is_primary or d.confirmed_at is not null or d.ends_at > now())),
  case when a.email is null then '[]' else json_build_array(json_build_object('id', a.id, 'email', a.email, 'is_primary', true,
    'confirmed_at', ${momentInJson(tx, tx.part`coalesce(a.joined_at, a.created_at)`)})) end)`

/** The confirmed addresses besides the primary one of the account `a`, as an array in JSON. */
export const otherAddressesOf = ({ part }: Pick<Tx, 'part'>): Part => part`to_json(array(
  select o.email from account_address o
  where o.tenant_id = a.tenant_id and o.account_id = a.id and not o.is_primary and o.confirmed_at is not null and o.removed_at is null
  order by o.id))`

/** Whether the primary address of the account `a` is confirmed; one of older code is. */
export const isPrimaryConfirmed = ({ part }: Pick<Tx, 'part'>): Part => part`coalesce((
  select d.confirmed_at is not null from account_address d
  where d.tenant_id = a.tenant_id and d.account_id = a.id and d.is_primary), true)`

/** Confirms the primary address of an account, if it waits for that. Answers whether it did. */
export async function confirmPrimary({ tx }: Pick<Ctx, 'tx'>, { tenantId, accountId }: Holder): Promise<boolean> {
  const confirmed = await tx`
    update account_address set confirmed_at = now()
    where tenant_id = ${tenantId} and account_id = ${accountId} and is_primary and confirmed_at is null`
  return confirmed.count > 0
}

/** Voids the links of resets that were mailed to what is no address of the account any more. The account's row is locked. */
export const voidFormerResets = ({ tx }: Pick<Ctx, 'tx'>, { tenantId, accountId }: Holder): Promise<unknown> => tx`
  update password_reset r set used_at = now()
  where r.tenant_id = ${tenantId} and r.account_id = ${accountId} and r.used_at is null and not exists (
    select from account_address d
    where d.tenant_id = ${tenantId} and d.id = coalesce(r.address_id, r.account_id) and d.held_fold is not null)`

/** Makes a confirmed address the one that mail goes to. One before it that nobody confirmed is removed. The account's row is locked. */
export async function makePrimary(
  { tx }: Ctx,
  { tenantId, accountId }: Holder,
  addressId: string,
): Promise<AccountAddress> {
  void tx`
    update account_address set is_primary = false, removed_at = now(), ends_at = now() + interval '1 day'
    where tenant_id = ${tenantId} and account_id = ${accountId} and is_primary and id <> ${addressId} and confirmed_at is null`
  void tx`
    update account_address set is_primary = false
    where tenant_id = ${tenantId} and account_id = ${accountId} and is_primary and id <> ${addressId}`
  void voidFormerResets({ tx }, { tenantId, accountId })
  const [[address]] = await Promise.all([
    tx<[AccountAddress]>`
      update account_address set is_primary = true where tenant_id = ${tenantId} and id = ${addressId}
      returning id, email, is_primary, confirmed_at`,
    tx`
      update account a set email = d.email, email_fold = d.email_fold, updated_at = now(), version = a.version + 1
      from account_address d
      where a.tenant_id = ${tenantId} and a.id = ${accountId} and d.tenant_id = a.tenant_id and d.id = ${addressId}`,
  ])
  return address
}
