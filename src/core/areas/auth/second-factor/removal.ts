/**
 * Removal of a second factor, and new recovery codes.
 *
 * A person who lost both the app and the codes is helped by an administrator of the workspace, or
 * by the operator at the database. Neither learns anything that would let them sign in as that
 * person.
 *
 * Spec: Index, Auth; docs/decisions/0054.
 */

import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse, refuseMember } from '../../../contract/problem.ts'
import type { secondFactorOperations as ops } from '../../../contract/second-factor/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { isAccount } from '../../../kernel/values/actor.ts'
import { dateNow } from '../../../kernel/values/time.ts'
import { accountSigningIn } from '../../access/addresses.ts'
import { tellAccount } from '../../mail/jobs.ts'
import { voidProofs } from '../sign-in/session.ts'
import { isFactorDemanded } from './demand.ts'
import { lockOwn, removeFactor } from './enrolment.ts'
import { type Holder, makeCodes, voidCodes } from './recovery-codes.ts'
import { findFactor } from './verification.ts'

/** Refuses auth.second_factor_absent. */
export async function regenerateRecoveryCodes(ctx: Ctx): Promise<Answer<typeof ops.regenerateRecoveryCodes>> {
  const actor = await lockOwn(ctx)
  if (!(await findFactor(ctx, actor, 'in force'))) refuse('auth.second_factor_absent')
  const codes = await makeCodes(ctx, actor)
  await voidProofs(ctx, actor)
  await tell(ctx, actor, 'recovery_codes_made')
  return { recovery_codes: codes }
}

/**
 * Refuses request.invalid, not_found, auth.second_factor_demanded, auth.second_factor_absent.
 */
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
  await voidProofs(ctx, holder)
  await tell(ctx, holder, 'second_factor_off')
}

interface Target {
  readonly tenant_id: string
  readonly account_id: string
}

type Named = Received<typeof ops.disableSecondFactor>['body']

/** The account whose factor is meant. If the body names none, it is the caller's own. */
async function findHolder(ctx: Ctx, body: Named): Promise<Holder> {
  const { actor } = ctx
  if (!isAccount(actor)) {
    checkNames(body, 'at the database')
    const target = await findTarget(ctx, undefined, body)
    return target ? holderOf(target) : refuse('not_found')
  }
  if (body.account_id === undefined && body.email === undefined && body.workspace === undefined) return actor
  checkNames(body, 'in a workspace')
  const target = await findTarget(ctx, actor.tenantId, body)
  return target ? holderOf(target) : refuse('not_found')
}

/**
 * An account is named by its id alone, or by what it signs in with; at the database that needs its workspace. Refuses
 * request.invalid.
 */
function checkNames({ account_id, workspace, email }: Named, where: 'at the database' | 'in a workspace'): void {
  if (account_id !== undefined && (email !== undefined || workspace !== undefined))
    refuseMember('/account_id', 'member.conflicts', { with: ['workspace', 'email'] })
  if (account_id !== undefined) return
  if (email === undefined) refuseMember('/email', 'member.required')
  if (where === 'at the database' && workspace === undefined) refuseMember('/workspace', 'member.required')
  if (where === 'in a workspace' && workspace !== undefined) refuseMember('/workspace', 'member.unknown')
}

const holderOf = ({ tenant_id, account_id }: Target): Holder => ({ tenantId: tenant_id, accountId: account_id })

async function findTarget(
  ctx: Ctx,
  tenantId: string | undefined,
  { account_id, workspace, email }: Named,
): Promise<Target | undefined> {
  const [found] = await ctx.tx<Target[]>`
    select a.tenant_id, a.id as account_id from account a
    join tenant t on t.id = a.tenant_id
    where (${tenantId ?? null}::uuid is null or a.tenant_id = ${tenantId ?? null}::uuid)
      and (${account_id ?? null}::uuid is null or a.id = ${account_id ?? null}::uuid)
      and (${workspace ?? null}::text is null or t.slug = ${workspace ?? null})
      ${email === undefined ? ctx.tx.part`` : ctx.tx.part`and a.id = ${accountSigningIn(ctx.tx, ctx.tx.part`t.id`, email)}`}
    limit 1`
  return found
}

const eventOf = {
  second_factor_off: 'identity.second_factor.removed',
  recovery_codes_made: 'identity.second_factor.recovery_codes_made',
} as const

/** Writes the trail and the event, and mails the account itself, also if another account made the change. */
async function tell(ctx: Ctx, { tenantId, accountId }: Holder, name: keyof typeof eventOf): Promise<void> {
  const noticeId = await ctx.record(eventOf[name], { account_id: accountId })
  await tellAccount(ctx, { tenantId, accountId, noticeId, name, at: dateNow().toISOString() })
}
