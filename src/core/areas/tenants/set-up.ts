/**
 * The first run: creates the first workspace, its owner and the first operator, once.
 *
 * Over the API it needs the set-up token, which the daemon prints while the installation is not
 * set up. At the database it needs none: the operating system has admitted the caller.
 * Spec: decisions 2, First run.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { setUpOperations as ops } from '../../contract/auth/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { Actor } from '../../kernel/values/actor.ts'
import { newId } from '../../kernel/values/id.ts'
import { hasherFor } from '../auth/password/hashing-lane.ts'
import { hashNewPassword } from '../auth/password/new-password.ts'
import { startSession } from '../auth/sign-in/session.ts'
import { readLocalisation } from '../settings/settings.ts'
import { createWorkspace, newTenant, refuseBlockedSlug } from './provision.ts'

interface InstallationRow {
  readonly set_up_at: string | null
  readonly set_up_token_hash: Buffer | null
}

/** Refuses a wrong token before the expensive hash. Then hashes the password outside a transaction. */
export async function hashForSetUp(
  installation: Installation,
  actor: Actor,
  { body }: Received<typeof ops.setUpInstallation>,
): Promise<string> {
  await installation.transaction(actor, { readOnly: true }, async (ctx) => {
    const [row] = await ctx.tx<InstallationRow[]>`select set_up_at, set_up_token_hash from installation`
    checkToken(ctx, row, body.set_up_token)
  })
  const { owner, workspace } = body
  return hashNewPassword(installation, {
    hasher: hasherFor(actor, workspace.slug),
    password: owner.password,
    pointer: '/owner/password',
    names: [owner.email, owner.email.split('@')[0], owner.display_name, workspace.slug, workspace.display_name],
  })
}

/** Refuses installation.already_set_up, auth.unauthenticated, request.invalid, admin.slug_taken, admin.multi_mode_required. */
export async function setUpInstallation(
  ctx: Ctx,
  { body }: Received<typeof ops.setUpInstallation>,
  passwordHash: string,
): Promise<Answer<typeof ops.setUpInstallation>> {
  const [row] = await ctx.tx<InstallationRow[]>`select set_up_at, set_up_token_hash from installation for update`
  checkToken(ctx, row, body.set_up_token)
  const tenant = await newTenant(ctx, body.workspace, await readLocalisation(ctx), '/workspace')
  await refuseBlockedSlug(ctx, tenant.slug)
  const accountId = newId()

  await createWorkspace(ctx, tenant, {
    accountId,
    email: body.owner.email,
    displayName: body.owner.display_name,
    passwordHash,
  })
  await ctx.tx`insert into operator (account_id, workspace_id) values (${accountId}, ${tenant.id})`
  await ctx.tx`update installation set set_up_at = now(), set_up_token_hash = null`
  await ctx.journal('tenant.provisioned', tenant)
  await ctx.journal('operator.added', tenant, { subject: { kind: 'account', id: accountId } })
  await ctx.journal('installation.set_up', tenant)
  ctx.recordObligation({ act: 'operator.added', tenant_id: tenant.id, account_id: accountId })
  const session = await ctx.inWorkspace(tenant.id, () => startSession(ctx, tenant.id, accountId, { way: 'SET_UP' }))

  return {
    tenant: { id: tenant.id, slug: tenant.slug, display_name: tenant.displayName },
    account_id: accountId,
    session,
  }
}

function checkToken(ctx: Ctx, row: InstallationRow | undefined, token: string): void {
  if (!row || row.set_up_at !== null) refuse('installation.already_set_up')
  if (ctx.actor.kind === 'RECOVERY') return
  const expected = row.set_up_token_hash
  if (!expected || !timingSafeEqual(expected, hashSetUpToken(token))) refuse('auth.unauthenticated')
}

/** The operator may choose the token (SVC_SETUP_TOKEN), so it may have any form. */
export const hashSetUpToken = (token: string) => createHash('sha256').update(`svc set-up ${token}`).digest()
