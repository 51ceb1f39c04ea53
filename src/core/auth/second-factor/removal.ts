/**
 * Removal of a second factor, and new recovery codes.
 *
 * Who lost both the app and the codes is helped by an administrator of the workspace, or by
 * the operator at the database; neither learns anything that would sign him in as the other.
 *
 * Spec: Index, Auth; docs/decisions/0054.
 */
import { isAccount } from '../../actor.ts'
import type { Ctx } from '../../context.ts'
import { fold } from '../../fold.ts'
import { tellAccount } from '../../mail/jobs.ts'
import type { Answer, Received } from '../../operation.ts'
import { refuse, refuseMember } from '../../problem.ts'
import { type Role, rankOf } from '../../schema.ts'
import { voidStepUps } from '../session.ts'
import type { secondFactorOperations as ops } from './contract.ts'
import { isFactorDemanded } from './demand.ts'
import { lockOwn, removeFactor } from './enrolment.ts'
import { type Holder, makeCodes, voidCodes } from './recovery-codes.ts'
import { findFactor } from './show.ts'

/** Refuses auth.second_factor_absent. */
export async function regenerateRecoveryCodes(ctx: Ctx): Promise<Answer<typeof ops.regenerateRecoveryCodes>> {
  const actor = await lockOwn(ctx)
  if (!(await findFactor(ctx, actor, 'in force'))) refuse('auth.second_factor_absent')
  const codes = await makeCodes(ctx, actor)
  await voidStepUps(ctx, actor)
  await tell(ctx, actor, 'recovery_codes_made')
  return { recovery_codes: codes }
}

/** Refuses request.invalid, not_found, auth.role_required, auth.second_factor_demanded, auth.second_factor_absent. */
export async function disableSecondFactor(ctx: Ctx, { body }: Received<typeof ops.disableSecondFactor>): Promise<void> {
  const holder = await findHolder(ctx, body)
  const isOwn = isAccount(ctx.actor) && holder.accountId === ctx.actor.accountId
  if (isOwn && (await isFactorDemanded(ctx, ctx.actor))) refuse('auth.second_factor_demanded')
  if (isAccount(ctx.actor)) return remove(ctx, holder)
  return ctx.inWorkspace(holder.tenantId, () => remove(ctx, holder))
}

async function remove(ctx: Ctx, holder: Holder): Promise<void> {
  await ctx.tx`select 1 from account where tenant_id = ${holder.tenantId} and id = ${holder.accountId} for update`
  const [inForce, pending] = [await findFactor(ctx, holder, 'in force'), await findFactor(ctx, holder, 'pending')]
  if (!inForce) refuse('auth.second_factor_absent')

  await removeFactor(ctx, holder, inForce.id)
  if (pending) await removeFactor(ctx, holder, pending.id)
  await voidCodes(ctx, holder)
  await voidStepUps(ctx, holder)
  await tell(ctx, holder, 'second_factor_off')
}

interface Target {
  readonly tenant_id: string
  readonly account_id: string
  readonly role: Role
}

/** Whose factor it is. Without a name it is the caller's own; another's takes an administrator of the same workspace. */
async function findHolder(ctx: Ctx, body: Received<typeof ops.disableSecondFactor>['body']): Promise<Holder> {
  const { actor } = ctx
  if (isAccount(actor)) {
    if (body.workspace !== undefined) refuseMember('/workspace', 'member.unknown')
    if (body.account_id === undefined && body.email === undefined) return actor
  } else if (body.account_id === undefined && body.workspace === undefined)
    refuseMember('/workspace', 'member.required')
  if (body.account_id !== undefined && body.email !== undefined)
    refuseMember('/account_id', 'member.conflicts', { with: ['workspace', 'email'] })

  const target = await findTarget(ctx, isAccount(actor) ? actor.tenantId : undefined, body)
  if (isAccount(actor) && target?.account_id !== actor.accountId) {
    if (rankOf[actor.role] < rankOf.ADMIN) refuse('auth.role_required', { role: 'ADMIN' })
    if (!actor.scopes.includes('workspace:admin')) refuse('auth.scope_required', { scope: 'workspace:admin' })
    if (target && rankOf[target.role] > rankOf[actor.role]) refuse('auth.role_required', { role: target.role })
  }
  if (!target) refuse('not_found')
  return { tenantId: target.tenant_id, accountId: target.account_id }
}

async function findTarget(
  ctx: Ctx,
  tenantId: string | undefined,
  { account_id, workspace, email }: Received<typeof ops.disableSecondFactor>['body'],
): Promise<Target | undefined> {
  const [found] = await ctx.tx<Target[]>`
    select a.tenant_id, a.id as account_id, m.role from account a
    join membership m on m.tenant_id = a.tenant_id and m.account_id = a.id
    join tenant t on t.id = a.tenant_id
    where (${tenantId ?? null}::uuid is null or a.tenant_id = ${tenantId ?? null}::uuid)
      and (${account_id ?? null}::uuid is null or a.id = ${account_id ?? null}::uuid)
      and (${workspace ?? null}::text is null or t.slug = ${workspace ?? null})
      and (${email === undefined ? null : fold(email)}::text is null or a.email_fold = ${email === undefined ? null : fold(email)})
    limit 1`
  return found
}

/** The trail, the event and the mail to the account itself, also where somebody else did it. */
async function tell(
  ctx: Ctx,
  { tenantId, accountId }: Holder,
  name: 'second_factor_off' | 'recovery_codes_made',
): Promise<void> {
  const what = name === 'second_factor_off' ? 'removed' : 'recovery_codes_made'
  const noticeId = await ctx.audit(`second_factor.${what}`, { subject: { kind: 'account', id: accountId } })
  await ctx.emit({
    name: `identity.second_factor.${what}`,
    subject: `/accounts/${accountId}`,
    data: { account_id: accountId },
  })
  await tellAccount(ctx, { tenantId, accountId, noticeId, name, at: new Date().toISOString() })
}
