/**
 * Managed accounts: people without an address, who sign in with a name. An administrator hands over a start password, which
 * is replaced at the first sign-in (auth/password/start-password.ts).
 *
 *    create ──▶ INVITED, with its roles and a start password ──replaced──▶ ACTIVE
 *    issue ──▶ another start password; password, sessions and tokens from before are void, the second factor stays
 *
 * Whoever has an address helps himself, with `:forgot`; at the database anybody gets a start password.
 * Spec: people 1, N3 and N5; docs/decisions/0412.
 */
import type { AccountState } from '../../../contract/identity/accounts.ts'
import type { managedOperations as ops } from '../../../contract/identity/managed.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { type Actor, isAccount } from '../../../kernel/values/actor.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { newId } from '../../../kernel/values/id.ts'
import { writeWords } from '../../access/account-words.ts'
import { otherAddressesOf } from '../../access/addresses.ts'
import { lockMemberships } from '../../access/held-role.ts'
import { hasherFor } from '../../auth/password/hashing-lane.ts'
import { mintStartPassword, type StartPassword, writeStartPassword } from '../../auth/password/start-password.ts'
import { forgetFailures, subjectOf } from '../../auth/sign-in/sign-in-lock.ts'
import { passwordsServe } from '../../auth/sign-in/sign-in-methods.ts'
import { endCredentials, endOtherTokens, holdBearer, lockAccount } from '../../auth/token/ending.ts'
import { readSettings } from '../../settings/settings.ts'
import { readAccount } from './account-row.ts'
import { demandFirstRoles, giveFirstRoles } from './first-roles.ts'
import { inWorkspaceOf } from './workspace.ts'

interface Holder {
  readonly tenantId: string
  readonly accountId: string
}

/** Makes the start password with no transaction open: its hash takes 30 ms. */
export const prepareStartPassword = (_: Installation, actor: Actor): Promise<StartPassword> =>
  mintStartPassword(hasherFor(actor, isAccount(actor) ? actor.tenantId : ''))

/**
 * Refuses account.managed_disabled, auth.password_disabled, auth.role_required, request.invalid, group.bound,
 * account.name_taken, structure.full.
 */
export async function createManagedAccount(
  ctx: Ctx,
  { body }: Received<typeof ops.createManagedAccount>,
  start: StartPassword,
): Promise<Answer<typeof ops.createManagedAccount>> {
  const { tenantId } = ctx.account
  await lockMemberships(ctx, tenantId)
  await holdBearer(ctx, ctx.account)
  if (!(await readSettings(ctx)).signIn.managed_accounts) refuse('account.managed_disabled')
  if (!(await passwordsServe(ctx, tenantId))) refuse('auth.password_disabled')
  await demandFirstRoles(ctx, body)
  const holder = { tenantId, accountId: newId() }
  await writeManaged(ctx, holder, body)

  const expiresAt = await writeStartPassword(ctx, holder, start)
  failpoint('managed.written')
  const data = { id: holder.accountId, kind: 'PERSON' as const, state: 'INVITED' as const }
  await ctx.record('identity.account.created', body.role === null ? data : { ...data, role: body.role }, {
    role: body.role,
  })
  failpoint('managed.recorded')
  await giveFirstRoles(ctx, holder.accountId, body)
  failpoint('managed.roles')
  const account = await readAccount(ctx, tenantId, holder.accountId)
  return { account, start_password: start.password, expires_at: expiresAt }
}

type Body = Received<typeof ops.createManagedAccount>['body']

/** Refuses account.name_taken. */
async function writeManaged({ tx }: Ctx, { tenantId, accountId }: Holder, body: Body): Promise<void> {
  const { sign_in_name, display_name } = body
  const written = await tx`
    insert into account (tenant_id, id, kind, state, sign_in_name, display_name, external_id)
    values (${tenantId}, ${accountId}, 'PERSON', 'INVITED', ${sign_in_name}, ${display_name}, ${body.external_id ?? null})
    on conflict on constraint account_name_taken do nothing`
  if (written.count === 0) refuse('account.name_taken')
  writeWords({ tx }, tenantId, accountId, { display_name, email: null })
}

interface ManagedRow {
  readonly kind: 'PERSON' | 'SERVICE'
  readonly state: AccountState
  readonly email: string | null
  readonly sign_in_name: string | null
}

/** Refuses not_found, account.disabled, account.has_address. */
export const issueStartPassword = (
  ctx: Ctx,
  { accountId }: Received<typeof ops.issueStartPassword>,
  start: StartPassword,
): Promise<Answer<typeof ops.issueStartPassword>> =>
  inWorkspaceOf(ctx, accountId, (tenantId) => issue(ctx, { tenantId, accountId }, start))

async function issue(ctx: Ctx, holder: Holder, start: StartPassword): Promise<Answer<typeof ops.issueStartPassword>> {
  const { tenantId, accountId } = holder
  // Before the account's row, as a sign-in takes them; a refusal below gives them back.
  await forgetFailuresOf(ctx, holder)
  if (isAccount(ctx.actor)) await holdBearer(ctx, ctx.actor)
  void lockAccount(ctx, holder)
  const [row] = await ctx.tx<ManagedRow[]>`
    select kind, state, email, sign_in_name from account
    where tenant_id = ${tenantId} and id = ${accountId} and kind = 'PERSON' and state <> 'ERASED'`
  if (!row) refuse('not_found')
  if (row.state === 'DISABLED') refuse('account.disabled')
  if (row.email !== null && isAccount(ctx.actor)) refuse('account.has_address')

  // Tokens first, for each of which the ledger keeps that it ended.
  await endOtherTokens(ctx, holder, newId())
  await endCredentials(ctx, holder, 'start_password_issued')
  const expiresAt = await writeStartPassword(ctx, holder, start)
  const { kind, state } = row
  await ctx.record('identity.account.start_password_issued', { id: accountId, kind, state })
  if (!isAccount(ctx.actor)) await journal(ctx, holder)
  const name = row.sign_in_name ?? row.email ?? ''
  return { account_id: accountId, sign_in_name: name, start_password: start.password, expires_at: expiresAt }
}

/** Failed sign-ins with anything that the account signs in with are forgotten. */
async function forgetFailuresOf(ctx: Ctx, { tenantId, accountId }: Holder): Promise<void> {
  const [row] = await ctx.tx<(Pick<ManagedRow, 'email' | 'sign_in_name'> & { readonly others: readonly string[] })[]>`
    select a.email, a.sign_in_name, ${otherAddressesOf(ctx.tx)} as others from account a
    where a.tenant_id = ${tenantId} and a.id = ${accountId}`
  for (const name of row ? [row.sign_in_name, row.email, ...row.others] : [])
    if (name !== null) await forgetFailures(ctx, tenantId, subjectOf(tenantId, name))
}

const journal = (ctx: Ctx, { tenantId, accountId }: Holder): Promise<void> =>
  ctx.asInstallation(async () => {
    const [tenant] = await ctx.tx<{ id: string; slug: string }[]>`select id, slug from tenant where id = ${tenantId}`
    await ctx.journal('account.start_password_issued', tenant ?? null, { subject: { kind: 'account', id: accountId } })
  })
