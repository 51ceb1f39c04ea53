/**
 * What changes the addresses of an account: one is confirmed, made the primary one, or removed. Each is told to every
 * address that the account has, and to the one that goes: whoever takes an account over cannot do so unseen.
 * Spec: people 1, I4, Addresses; 4, N20; docs/decisions/0410.
 */
import type {
  AccountAddress,
  confirmationOperations,
  addressOperations as ops,
} from '../../../contract/identity/addresses.ts'
import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { dateNow } from '../../../kernel/values/time.ts'
import { hashToken, isTokenShaped } from '../../../kernel/values/token.ts'
import { type Worded, writeWords } from '../../access/account-words.ts'
import {
  completeAddresses,
  confirmPrimary,
  findHolder,
  lockAddress,
  makePrimary,
  otherAddressesOf,
  voidFormerResets,
} from '../../access/addresses.ts'
import { isIssued } from '../../access/issued-moment.ts'
import { tellAccount } from '../../mail/jobs.ts'
import { lockAccount } from '../token/ending.ts'

interface Holder {
  readonly tenantId: string
  readonly accountId: string
}

interface Asked {
  readonly id: string
  readonly address_id: string
  readonly makes_primary: boolean
  readonly email: string
}

/** Refuses auth.confirmation_invalid, account.address_taken. */
export async function confirmAddress(
  ctx: Ctx,
  { body }: Received<typeof confirmationOperations.confirmAddress>,
): Promise<AccountAddress> {
  const { tenantId, accountId } = ctx.account
  const holder = { tenantId, accountId }
  if (!isTokenShaped(body.token, 'addressConfirmation')) refuse('auth.confirmation_invalid')
  const found = await findAsked(ctx, holder, body.token)
  if (!found) refuse('auth.confirmation_invalid')
  await lockAddress(ctx, tenantId, found.email)
  void lockAccount(ctx, holder)
  void completeAddresses(ctx, holder)
  // A separate statement sees what was committed while this one waited for the locks.
  const asked = await findAsked(ctx, holder, body.token)
  if (!asked) refuse('auth.confirmation_invalid')
  await refuseTaken(ctx, holder, asked.email)

  return settle(ctx, holder, asked)
}

async function findAsked({ tx }: Ctx, { tenantId, accountId }: Holder, token: string): Promise<Asked | undefined> {
  const [asked] = await tx<Asked[]>`
    select c.id, c.address_id, c.makes_primary, d.email from address_confirmation c
    join account_address d on d.tenant_id = c.tenant_id and d.id = c.address_id and d.removed_at is null
    where c.tenant_id = ${tenantId} and c.account_id = ${accountId} and c.hash = ${hashToken(token)}
      and c.used_at is null and c.expires_at > now() and ${isIssued(tx, tx.part`c.created_at`)}`
  return asked
}

async function refuseTaken(ctx: Ctx, { tenantId, accountId }: Holder, email: string): Promise<void> {
  const holderId = await findHolder(ctx, tenantId, email)
  if (holderId === null || holderId === accountId) return
  const [holder] = await ctx.tx<{ account_id: string; state: string }[]>`
    select id as account_id, state from account where tenant_id = ${tenantId} and id = ${holderId}`
  if (holder) refuse('account.address_taken', { ...holder })
}

async function settle(ctx: Ctx, holder: Holder, asked: Asked): Promise<AccountAddress> {
  const { tx } = ctx
  const { tenantId, accountId } = holder
  void tx`
    update address_confirmation set used_at = now()
    where tenant_id = ${tenantId} and account_id = ${accountId} and address_id = ${asked.address_id} and used_at is null`
  void tx`
    update account_address set confirmed_at = now(), ends_at = null
    where tenant_id = ${tenantId} and id = ${asked.address_id} and confirmed_at is null`
  const [[address], [primary]] = await Promise.all([
    tx<[AccountAddress]>`
      select id, email, is_primary, confirmed_at from account_address where tenant_id = ${tenantId} and id = ${asked.address_id}`,
    tx<{ id: string }[]>`
      select id from account_address where tenant_id = ${tenantId} and account_id = ${accountId} and is_primary`,
  ])
  const moves = !address.is_primary && (asked.makes_primary || !primary)
  const now = moves ? await makePrimary(ctx, holder, address.id) : address
  failpoint('address.settled')
  await rewordAccount(ctx, holder)
  failpoint('address.worded')
  await tell(ctx, holder, 'identity.account.address_confirmed', address.id, { is_primary: now.is_primary })
  failpoint('address.told')
  return now
}

/** Makes a confirmed address of the account the primary one. The account's row is locked. */
export async function movePrimary(ctx: Ctx, holder: Holder, addressId: string): Promise<AccountAddress> {
  const address = await makePrimary(ctx, holder, addressId)
  await rewordAccount(ctx, holder)
  await tell(ctx, holder, 'identity.account.primary_address_changed', addressId)
  return address
}

/** Refuses not_found, account.address_primary. */
export async function removeAddress(
  ctx: Ctx,
  { accountId, addressId }: Received<typeof ops.removeAddress>,
): Promise<void> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const holder = { tenantId, accountId }
  await lockAccount(ctx, holder)
  void completeAddresses(ctx, holder)
  const [found] = await tx<{ is_primary: boolean; confirmed_at: string | null }[]>`
    select is_primary, confirmed_at from account_address
    where tenant_id = ${tenantId} and account_id = ${accountId} and id = ${addressId} and removed_at is null`
  if (!found) refuse('not_found')
  if (found.is_primary) refuse('account.address_primary')

  void tx`
    update address_confirmation set used_at = now()
    where tenant_id = ${tenantId} and account_id = ${accountId} and address_id = ${addressId} and used_at is null`
  const event = 'identity.account.address_removed'
  // Told while the address is there, so that it is told, too; one that nobody confirmed is nobody's.
  if (found.confirmed_at !== null) await tell(ctx, holder, event, addressId)
  else await ctx.record(event, { id: accountId, address_id: addressId })
  await tx`
    update account_address set removed_at = now(), ends_at = now() + interval '1 day'
    where tenant_id = ${tenantId} and id = ${addressId}`
  void voidFormerResets(ctx, holder)
  await rewordAccount(ctx, holder)
}

/**
 * Confirms the primary address where something else has shown that it is read: a vouching provider, the link of a reset.
 * The account's row is locked.
 */
export async function confirmBy(ctx: Ctx, holder: Holder, by: 'PROVIDER' | 'RESET'): Promise<void> {
  if (!(await confirmPrimary(ctx, holder))) return
  const [row] = await ctx.tx<{ id: string }[]>`
    select id from account_address where tenant_id = ${holder.tenantId} and account_id = ${holder.accountId} and is_primary`
  if (!row) throw new Error('an address that was confirmed is gone')
  await tell(ctx, holder, 'identity.account.address_confirmed', row.id, { by })
}

/** The words by which the account is found are those of its addresses, too. */
async function rewordAccount(ctx: Ctx, { tenantId, accountId }: Holder): Promise<void> {
  const [worded] = await ctx.tx<Worded[]>`
    select a.display_name, a.email, ${otherAddressesOf(ctx.tx)} as others from account a
    where a.tenant_id = ${tenantId} and a.id = ${accountId}`
  if (worded) writeWords(ctx, tenantId, accountId, worded)
}

async function tell(
  ctx: Ctx,
  { tenantId, accountId }: Holder,
  event:
    | 'identity.account.address_confirmed'
    | 'identity.account.address_removed'
    | 'identity.account.primary_address_changed',
  addressId: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const data = { id: accountId, address_id: addressId }
  const noticeId = await ctx.record(event, data, { address_id: addressId, ...more })
  await tellAccount(ctx, { tenantId, accountId, noticeId, name: 'address_changed', at: dateNow().toISOString() })
}
