/**
 * Who may sign in through a provider.
 *
 *    connected before ───────────────────────────────────▶ that account
 *    by an invitation's token ───────────────────────────▶ the invited account, connected now
 *    vouched address of an invited account ──────────────▶ that account, connected now
 *    vouched and confirmed address of an active account ─▶ that account, connected now
 *    unknown address, and provisioning allows it ────────▶ a new account, connected now
 *    anybody else ───────────────────────────────────────▶ turned away
 *
 * Addresses must match exactly, except for the case of ASCII letters. The folded form that finds
 * the account also drops accents, and an address that only looks similar may be another person's.
 *
 * An address that nobody has confirmed connects nobody: whoever was handed a token may have joined under another person's.
 * Only the installation's own providers connect an operator's account: a workspace's owner must not
 * become an operator by configuring a provider that claims so.
 *
 * The workspace's role is in force, and the provider's row is locked. Spec:
 * IdentityProviderConfiguration.
 */

import type { AccountState } from '../../../contract/identity/accounts.ts'
import { refuse } from '../../../contract/problem.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import { vouchedAddress } from '../../../kernel/egress/oidc-presets.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { caseFold } from '../../../kernel/values/case-fold.ts'
import { type Worded, writeWords } from '../../access/account-words.ts'
import { accountWithAddress, confirmPrimary, isPrimaryConfirmed } from '../../access/addresses.ts'
import { isIssued } from '../../access/issued-moment.ts'
import { confirmBy } from '../addresses/changing.ts'
import { askToConfirmPrimary } from '../addresses/confirmation-mail.ts'
import { type Arrival, connect, nameIn, tellIdentities, tellJoined, textOf } from './joining.ts'
import { createNewcomer, isBroughtIn } from './newcomer.ts'
import { admitsNewcomers } from './newcomer-group.ts'
import type { ProviderRow } from './provider-row.ts'

export type Admission = { readonly is: 'admitted'; readonly accountId: string } | TurnedAwayPerson

export interface TurnedAwayPerson {
  readonly is: 'turned away'
  readonly reason: TurnedAway
  /** The account that the person is known to concern. */
  readonly accountId?: string
}

export type TurnedAway =
  | 'account_not_active'
  | 'no_role'
  | 'address_not_vouched'
  | 'address_unconfirmed'
  | 'not_invited'
  | 'invitation_ended'
  | 'operator'
  | 'group_without_role'

interface AccountRow {
  readonly id: string
  readonly state: AccountState
  readonly email: string | null
  /** Whether somebody has shown that mail to the address is read. */
  readonly is_confirmed: boolean
}

const admittedAs = (accountId: string): Admission => ({ is: 'admitted', accountId })
const turnedAway = (reason: TurnedAway, accountId?: string): Admission => ({
  is: 'turned away',
  reason,
  ...(accountId === undefined ? {} : { accountId }),
})

/** Finds, connects or creates the account. Refuses auth.invitation_invalid. */
export async function admit(ctx: Ctx, arrival: Arrival): Promise<Admission> {
  const connected = await findConnected(ctx, arrival)
  if (connected) return enter(ctx, arrival, connected)
  if (arrival.invitationId !== null) return joinByToken(ctx, arrival, arrival.invitationId)
  return admitByAddress(ctx, arrival)
}

/** The account that the provider named in an earlier call of this flow, if it may still sign in; locked. */
export async function admitProved(ctx: Ctx, tenantId: string, accountId: string | null): Promise<Admission> {
  const [row] = await ctx.tx<{ id: string }[]>`
    select id from account where tenant_id = ${tenantId} and id = ${accountId} and state = 'ACTIVE' for update`
  return row ? admittedAs(row.id) : turnedAway('account_not_active')
}

async function findConnected(ctx: Ctx, { tenantId, provider, claims }: Arrival): Promise<AccountRow | undefined> {
  const [row] = await ctx.tx<AccountRow[]>`
    select a.id, a.state, a.email, ${isPrimaryConfirmed(ctx.tx)} as is_confirmed from connected_identity c
    join account a on a.tenant_id = c.tenant_id and a.id = c.account_id
    where c.tenant_id = ${tenantId} and c.provider_id = ${provider.id} and c.issuer = ${claims.iss} and c.subject = ${claims.sub}
    for update of a`
  return row
}

async function enter(ctx: Ctx, arrival: Arrival, account: AccountRow): Promise<Admission> {
  const { tenantId, provider, claims } = arrival
  const { id, state } = account
  if (state !== 'ACTIVE') return turnedAway('account_not_active', id)
  if (!account.is_confirmed && isVouchedFor(ctx, arrival, account.email))
    await confirmBy(ctx, { tenantId, accountId: id }, 'PROVIDER')
  await ctx.tx`
    update connected_identity set last_used_at = now(), email = ${textOf(claims['email'])}
    where tenant_id = ${tenantId} and provider_id = ${provider.id} and issuer = ${claims.iss} and subject = ${claims.sub}`
  return admittedAs(id)
}

/** The token is the proof, as with a password, so the provider's address need not be the invited one. */
async function joinByToken(ctx: Ctx, arrival: Arrival, invitationId: string): Promise<Admission> {
  const { tenantId } = arrival
  // Locks the account before its invitation, as does everything that ends the two.
  void ctx.tx`
    select 1 from account where tenant_id = ${tenantId}
      and id = (select account_id from invitation where tenant_id = ${tenantId} and id = ${invitationId}) for update`
  const [invitation] = await ctx.tx<{ account_id: string; is_mailed: boolean }[]>`
    update invitation set used_at = now()
    where tenant_id = ${tenantId} and id = ${invitationId} and used_at is null and expires_at > now() returning account_id, is_mailed`
  if (!invitation) refuse('auth.invitation_invalid')
  return join(ctx, arrival, invitation.account_id, invitation.is_mailed)
}

async function admitByAddress(ctx: Ctx, arrival: Arrival): Promise<Admission> {
  const { tenantId, provider, claims } = arrival
  const address = vouchedAddress(ctx.config.providerPresets, provider, claims)
  if (address === undefined) return turnedAway('address_not_vouched')
  const account = await findByAddress(ctx, tenantId, address)
  if (account) return admitKnown(ctx, arrival, account, address)
  if (!isBroughtIn(ctx.config.providerPresets, provider, claims, address)) return turnedAway('not_invited')
  if (!(await admitsNewcomers(ctx, tenantId, provider, claims))) return turnedAway('group_without_role')

  const accountId = await createNewcomer(ctx, arrival, address)
  if (accountId === undefined) {
    // Another sign-in created an account with this address at the same moment, most likely from another window.
    const twin = (await findConnected(ctx, arrival)) ?? (await findByAddress(ctx, tenantId, address))
    if (!twin) throw new Error('an address that was taken is free')
    return admitKnown(ctx, arrival, twin, address)
  }
  await connect(ctx, arrival, accountId)
  return admittedAs(accountId)
}

async function findByAddress(ctx: Ctx, tenantId: string, address: string): Promise<AccountRow | undefined> {
  const [row] = await ctx.tx<AccountRow[]>`
    select a.id, a.state, coalesce(d.email, a.email) as email, (d.id is null or d.confirmed_at is not null) as is_confirmed
    from account a
    left join account_address d on d.tenant_id = a.tenant_id and d.held_fold = ${caseFold(address)}
    where a.tenant_id = ${tenantId} and a.id = ${accountWithAddress(ctx.tx, tenantId, address)} for update of a`
  return row
}

async function admitKnown(ctx: Ctx, arrival: Arrival, account: AccountRow, address: string): Promise<Admission> {
  if (!isSameAddress(account.email ?? '', address)) return turnedAway('not_invited')
  const facts = {
    state: account.state,
    isOperator: await isOperator(ctx, account.id),
    isConfirmed: account.is_confirmed,
  }
  const meeting = meetingOf(facts, arrival.provider)
  switch (meeting) {
    case 'join':
      return joinInvited(ctx, arrival, account.id)
    case 'connect':
      await tellIdentities(ctx, arrival.tenantId, account.id, await connect(ctx, arrival, account.id))
      return admittedAs(account.id)
    default:
      return turnedAway(meeting, account.id)
  }
}

/** What happens to a person whose vouched address belongs to an account. */
export function meetingOf(
  {
    state,
    isOperator,
    isConfirmed,
  }: { readonly state: AccountRow['state']; readonly isOperator: boolean; readonly isConfirmed: boolean },
  provider: Pick<ProviderRow, 'tenant_id'>,
): 'join' | 'connect' | 'account_not_active' | 'operator' | 'address_unconfirmed' {
  if (state === 'DISABLED' || state === 'ERASED') return 'account_not_active'
  if (state === 'INVITED') return 'join'
  if (isOperator && provider.tenant_id !== installationScope) return 'operator'
  return isConfirmed ? 'connect' : 'address_unconfirmed'
}

/** Whether the provider vouches for this very address. */
function isVouchedFor(ctx: Ctx, { provider, claims }: Arrival, email: string | null): boolean {
  const address = vouchedAddress(ctx.config.providerPresets, provider, claims)
  return address !== undefined && email !== null && isSameAddress(email, address)
}

const isSameAddress = (one: string, other: string) => lower(one) === lower(other)
const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

const isOperator = (ctx: Ctx, accountId: string) =>
  ctx.asInstallation(async () => {
    const [row] = await ctx.tx`select 1 from operator where account_id = ${accountId}`
    return row !== undefined
  })

async function joinInvited(ctx: Ctx, arrival: Arrival, accountId: string): Promise<Admission> {
  const used = await ctx.tx`
    update invitation set used_at = now()
    where tenant_id = ${arrival.tenantId} and account_id = ${accountId} and used_at is null and expires_at > now()
      and ${isIssued(ctx.tx, ctx.tx.part`created_at`)}`
  return used.count === 0 ? turnedAway('invitation_ended') : join(ctx, arrival, accountId, false)
}

/** An invited account becomes active, without a password. `byMail`: the invitation was in a mail to its address. */
async function join(ctx: Ctx, arrival: Arrival, accountId: string, byMail: boolean): Promise<Admission> {
  const { tenantId, provider, claims } = arrival
  const [joined] = await ctx.tx<Worded[]>`
    update account set state = 'ACTIVE', joined_at = now(), updated_at = now(), version = version + 1,
           display_name = coalesce(display_name, ${nameIn(claims)})
    where tenant_id = ${tenantId} and id = ${accountId} and state = 'INVITED' returning display_name, email`
  if (!joined) refuse('auth.invitation_invalid')
  writeWords(ctx, tenantId, accountId, joined)
  if (byMail || isVouchedFor(ctx, arrival, joined.email)) await confirmPrimary(ctx, { tenantId, accountId })
  else await askToConfirmPrimary(ctx, { tenantId, accountId })
  await connect(ctx, arrival, accountId)
  await tellJoined(ctx, accountId, { provider_id: provider.id })
  return admittedAs(accountId)
}
