/**
 * Invitations: a new account that waits to be joined, and a further invitation of one that waits.
 *
 *    invite ──▶ INVITED, with its roles and an invitation ──redeem (auth/invitation.ts)──▶ ACTIVE
 *                 └─ the invitation ends: still INVITED ──renew──▶ another invitation
 *
 * Roles and states of a workspace change in turns, so of two invitations of one address the second finds the account. By
 * mail the token is minted as the mail leaves (auth/invitation-mail.ts); a token that is answered is answered once.
 * Spec: people 1, N1 and N2; docs/decisions/0378.
 */
import type { AccountState, Invited, accountOperations as ops } from '../../../contract/identity/accounts.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import { type Role, rankOf } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { type Actor, actsForInstallation, isAccount } from '../../../kernel/values/actor.ts'
import { caseFold } from '../../../kernel/values/case-fold.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { newId } from '../../../kernel/values/id.ts'
import { timeNow } from '../../../kernel/values/time.ts'
import { mintToken } from '../../../kernel/values/token.ts'
import { writeWords } from '../../access/account-words.ts'
import { findHolder, lockAddress, writeFirstAddress } from '../../access/addresses.ts'
import { lockMemberships } from '../../access/held-role.ts'
import { demandMail, sendInvitation } from '../../auth/invitation-mail.ts'
import { endInvitation } from '../../auth/sign-in/jobs.ts'
import { holdBearer, lockAccount } from '../../auth/token/ending.ts'
import { readAccount } from './account-row.ts'
import { demandFirstRoles, giveFirstRoles } from './first-roles.ts'
import { workspaceOfAccount } from './workspace.ts'

type Body = Received<typeof ops.inviteAccount>['body']

/**
 * Refuses auth.role_required, request.invalid, group.bound, structure.full, account.address_taken, mail.limited,
 * auth.unauthenticated.
 */
export async function inviteAccount(
  ctx: Ctx,
  { body }: Received<typeof ops.inviteAccount>,
): Promise<Answer<typeof ops.inviteAccount>> {
  const { tenantId } = ctx.account
  await lockMemberships(ctx, tenantId)
  // The address comes before the locks of accounts, here and wherever one gets its account.
  await lockAddress(ctx, tenantId, body.email)
  await holdBearer(ctx, ctx.account)
  await demandFirstRoles(ctx, body)
  const accountId = newId()
  await refuseTaken(ctx, tenantId, body.email)
  writeAccount(ctx, { tenantId, accountId }, body)
  if (body.deliver === 'MAIL') await demandMail(ctx, tenantId, accountId)
  failpoint('invite.written')

  const { role } = body
  const data = { id: accountId, kind: 'PERSON' as const, state: 'INVITED' as const }
  await ctx.record('identity.account.invited', role === null ? data : { ...data, role }, {
    role,
    deliver: body.deliver,
  })
  failpoint('invite.recorded')
  await giveFirstRoles(ctx, accountId, body)
  failpoint('invite.roles')
  return writeInvitation(ctx, { tenantId, accountId }, body.deliver)
}

/** Refuses account.address_taken. */
async function refuseTaken(ctx: Ctx, tenantId: string, email: string): Promise<void> {
  const holderId = await findHolder(ctx, tenantId, email)
  if (holderId === null) return
  const [holder] = await ctx.tx<{ account_id: string; state: AccountState }[]>`
    select id as account_id, state from account where tenant_id = ${tenantId} and id = ${holderId}`
  if (holder) refuse('account.address_taken', { ...holder })
}

/** The account with its address, which nobody has confirmed yet; they leave with the next statement. */
function writeAccount(ctx: Ctx, holder: Holder, body: Body): void {
  const { tenantId, accountId } = holder
  const { email } = body
  const [display_name, external_id] = [body.display_name ?? null, body.external_id ?? null]
  void ctx.tx`
    insert into account (tenant_id, id, kind, state, email, email_fold, display_name, external_id)
    values (${tenantId}, ${accountId}, 'PERSON', 'INVITED', ${email}, ${caseFold(email)}, ${display_name}, ${external_id})`
  void writeFirstAddress(ctx, holder, { email, isConfirmed: false })
  writeWords(ctx, tenantId, accountId, { display_name, email })
}

interface Holder {
  readonly tenantId: string
  readonly accountId: string
}

/** The invitation of an account; it is mailed, or its token is answered. */
async function writeInvitation(ctx: Ctx, holder: Holder, deliver: Body['deliver']): Promise<Invited> {
  const { tenantId, accountId } = holder
  const minted = deliver === 'TOKEN' ? mintToken('invitation') : undefined
  const id = newId()
  const expiresAt = new Date(timeNow() + ctx.config.invitationDays * 86_400_000)
  await ctx.tx`
    insert into invitation (tenant_id, id, account_id, hash, expires_at, is_mailed)
    values (${tenantId}, ${id}, ${accountId}, ${minted?.hash ?? null}, ${expiresAt}, ${minted === undefined})`
  const account = await readAccount(ctx, tenantId, accountId)
  await ctx.enqueue(endInvitation, { tenantId, invitationId: id }, { startAfter: expiresAt })
  if (!minted) await ctx.enqueue(sendInvitation, { tenantId, accountId, invitationId: id })
  failpoint('invite.queued')
  return { account, expires_at: expiresAt.toISOString(), redemption_token: minted?.token ?? null }
}

/** Refuses not_found, auth.role_required, account.not_invited, mail.limited. */
export async function renewInvitation(
  ctx: Ctx,
  { accountId, body }: Received<typeof ops.renewInvitation>,
): Promise<Answer<typeof ops.renewInvitation>> {
  if (isAccount(ctx.actor) && !actsForInstallation(ctx.actor))
    return renew(ctx, { tenantId: ctx.actor.tenantId, accountId }, body.deliver)
  const tenantId = await workspaceOfAccount(ctx, accountId)
  const isOwn = administers(ctx.actor, tenantId)
  const renewed = await ctx.inWorkspace(tenantId, async () => {
    if (isAccount(ctx.actor) && !isOwn) await demandOwnerless(ctx, { tenantId, accountId })
    return renew(ctx, { tenantId, accountId }, body.deliver)
  })
  if (isOwn) return renewed
  const [tenant] = await ctx.tx<{ id: string; slug: string }[]>`select id, slug from tenant where id = ${tenantId}`
  await ctx.journal('account.invitation_renewed', tenant ?? null, { subject: { kind: 'account', id: accountId } })
  return renewed
}

/** Whether an operator is an administrator of that workspace besides. */
const administers = (actor: Actor, tenantId: string) =>
  isAccount(actor) && actor.tenantId === tenantId && !actor.isGuest && rankOf[actor.role] >= rankOf.ADMIN

async function renew(ctx: Ctx, holder: Holder, deliver: Body['deliver']): Promise<Invited> {
  const { tenantId, accountId } = holder
  await lockMemberships(ctx, tenantId)
  void lockAccount(ctx, holder)
  const [row] = await ctx.tx<{ state: AccountState; email: string | null }[]>`
    select state, email from account where tenant_id = ${tenantId} and id = ${accountId} and state <> 'ERASED'`
  if (!row) refuse('not_found')
  // An account without an address waits for no invitation, but for its start password.
  if (row.state !== 'INVITED' || row.email === null) refuse('account.not_invited', { state: row.state })
  if (deliver === 'MAIL') await demandMail(ctx, tenantId, accountId)
  await ctx.tx`
    update invitation set used_at = now() where tenant_id = ${tenantId} and account_id = ${accountId} and used_at is null`
  await ctx.record(
    'identity.account.invitation_renewed',
    { id: accountId, kind: 'PERSON', state: 'INVITED' },
    { deliver },
  )
  return writeInvitation(ctx, holder, deliver)
}

/** An operator helps a workspace that nobody could help otherwise. Refuses not_found, auth.role_required. */
async function demandOwnerless(ctx: Ctx, { tenantId, accountId }: Holder): Promise<void> {
  const rows = await ctx.tx<{ account_id: string; role: Role; state: AccountState }[]>`
    select a.id as account_id, m.role, a.state from membership m join account a on a.tenant_id = m.tenant_id and a.id = m.account_id
    where m.tenant_id = ${tenantId} and m.container_id is null and (m.account_id = ${accountId} or (m.role = 'OWNER' and a.state = 'ACTIVE'))
    limit 2`
  const own = rows.find(({ account_id }) => account_id === accountId)
  if (own?.role !== 'OWNER' || rows.some(({ state }) => state === 'ACTIVE'))
    refuse('auth.role_required', { role: 'ADMIN' })
}
