/**
 * Signing in with a password.
 *
 *    facts, password checked (no transaction open) ─▶ the address's turn ─▶ locked? ─▶ verdict: counted, or a session
 *
 * A wrong password, an unknown address, an unknown workspace and an account without a role get the same answer in the
 * same time. The lock tells them apart no better: it also counts unknown addresses. Whether passwords are switched off
 * depends on the workspace, not on the account, so that refusal comes before every check.
 *
 * Elsewhere: which ways to sign in are open (sign-in-methods.ts), the count (sign-in-lock.ts),
 * sessions (session.ts). Spec: decisions 2, Tokens and shapes; InstanceSettings.
 */

import type { sessionOperations as ops, Session } from '../../../contract/auth/operations.ts'
import type { Received } from '../../../contract/operation.ts'
import { Problem, refuse, refuseMember } from '../../../contract/problem.ts'
import type { SignInValues } from '../../../contract/settings/defaults.ts'
import { admitted } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { refuseWhileGated } from '../../../kernel/transaction/gate.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { type Actor, anyone } from '../../../kernel/values/actor.ts'
import { holdsRole } from '../../access/held-role.ts'
import { readSettings } from '../../settings/settings.ts'
import { endProofs, ownNames, tellPasswordChanged } from '../password/change-password.ts'
import { hasherFor } from '../password/hashing-lane.ts'
import { hashNewPassword, writePassword } from '../password/new-password.ts'
import { isPassword } from '../password/password.ts'
import { startServes } from '../password/start-password.ts'
import { findFactor, type Given, refusalByFactor } from '../second-factor/verification.ts'
import { asksForFactor, withChallenge } from './challenge.ts'
import { startSession } from './session.ts'
import { countFailure, forgetFailures, secondsLocked, takeTurn } from './sign-in-lock.ts'
import { canSignIn, passwordWay, readSignIn, type SignInAccount, type SignInFacts } from './sign-in-methods.ts'

type SignInNeed = ReturnType<typeof passwordWay>['needsNewPassword']

/** The result of checking an address and a password before the transaction. */
export type Proved =
  | { readonly is: 'refused'; readonly problem: Problem }
  /** The password, the address or the workspace is wrong. */
  | { readonly is: 'wrong'; readonly facts: SignInFacts }
  | {
      readonly is: 'right'
      readonly facts: SignInFacts
      readonly accountId: string
      readonly passwordHash: string | null
      readonly needsNewPassword: SignInNeed
    }

/** Checks the password with no transaction open: the hash takes 30 ms, which is too long to hold a connection. */
export const proveSignIn = (
  installation: Installation,
  actor: Actor,
  { body }: Received<typeof ops.signIn>,
): Promise<Proved> => provePassword(installation, actor, body)

async function provePassword(
  installation: Installation,
  actor: Actor,
  { workspace = '', email, password }: { workspace?: string | undefined; email: string; password: string },
): Promise<Proved> {
  const facts = await installation.transaction(anyone, { readOnly: true }, (ctx) => readSignIn(ctx, workspace, email))
  const way = passwordWay(facts)
  if (way.because === 'switched_off') return { is: 'refused', problem: new Problem('auth.password_disabled') }
  if (facts.lockedSeconds > 0) return { is: 'refused', problem: locked(facts.lockedSeconds) }

  const account =
    facts.account && canSignIn(facts.account) && facts.account.startServes !== false && facts.account.hasRole
      ? facts.account
      : undefined
  const hasher = hasherFor(actor, facts.workspaceState === null ? workspace : facts.tenantId)
  const isRight = await isPassword(hasher, password, account?.passwordHash)
  return account && isRight
    ? {
        is: 'right',
        facts,
        accountId: account.id,
        passwordHash: account.passwordHash,
        needsNewPassword: way.needsNewPassword,
      }
    : { is: 'wrong', facts }
}

/**
 * Signs in. Refuses auth.sign_in_failed, auth.sign_in_locked, auth.password_disabled; after the right password only:
 * auth.password_expired, installation.recovering, tenant_suspended, auth.second_factor_required,
 * auth.second_factor_failed, auth.second_factor_locked.
 */
export async function signIn(
  ctx: Ctx,
  { body }: Received<typeof ops.signIn>,
  proved: Proved,
): Promise<Session | Problem> {
  const verdict = await askVerdict(ctx, proved)
  if (verdict instanceof Problem) return verdict
  if (verdict.needsNewPassword) refuse('auth.password_expired', { because: verdict.needsNewPassword })
  const { accountId } = verdict
  const { tenantId } = verdict.facts
  const outcome = await enter(ctx, verdict, body, (bounds) =>
    startSession(ctx, tenantId, accountId, { way: 'PASSWORD' }, bounds),
  )
  return asksForFactor(outcome)
    ? ctx.inWorkspace(tenantId, () => withChallenge(ctx, { tenantId, accountId }, outcome))
    : outcome
}

/**
 * The last checks of every sign-in with a password: the workspace admits the sign-in, the account is unchanged since
 * the password check, the second factor is right.
 */
const enter = <T>(
  ctx: Ctx,
  verdict: Right,
  given: Given,
  work: (bounds: SignInValues) => Promise<T>,
): Promise<T | Problem> =>
  ctx.inWorkspace(verdict.facts.tenantId, () =>
    admitted(ctx.tx, { workspace: verdict.facts.tenantId }, async () => {
      const [refusal, { signIn: bounds }] = await together(stillProved(ctx, verdict, given), readSettings(ctx))
      return refusal ?? work(bounds)
    }),
  )

type Right = Extract<Proved, { is: 'right' }>

/**
 * Applies the result of the password check, under the address's lock. A wrong password is counted; its refusal is
 * returned, not thrown, so that the count is committed.
 */
async function askVerdict(ctx: Ctx, proved: Proved): Promise<Right | Problem> {
  if (proved.is === 'refused') throw proved.problem
  const { tenantId, subject, switches } = proved.facts
  const attempts = switches.password_lockout_attempts.value
  const isRight = proved.is === 'right'
  await together(
    refuseWhileLocked(ctx, proved.facts, attempts),
    isRight ? refuseWhileGated(ctx.tx, proved.accountId) : undefined,
  )
  if (!isRight) {
    if (attempts > 0) await recordFailure(ctx, proved.facts, attempts)
    return new Problem('auth.sign_in_failed')
  }
  if (attempts > 0) void forgetFailures(ctx, tenantId, subject)
  return proved
}

/** Waits for the address's turn. Refuses auth.sign_in_locked. */
async function refuseWhileLocked(ctx: Ctx, { tenantId, subject }: SignInFacts, attempts: number): Promise<void> {
  if (attempts === 0) return
  void takeTurn(ctx, tenantId, subject)
  const seconds = await secondsLocked(ctx, tenantId, subject, attempts)
  if (seconds > 0) throw locked(seconds)
}

async function recordFailure(ctx: Ctx, facts: SignInFacts, attempts: number): Promise<void> {
  const { tenantId, subject, account } = facts
  const [, seconds] = await Promise.all([
    countFailure(ctx, tenantId, subject),
    secondsLocked(ctx, tenantId, subject, attempts),
  ])
  if (!account || seconds === 0) return
  await ctx.inWorkspace(tenantId, () =>
    ctx.audit('account.sign_in_locked', {
      subject: { kind: 'account', id: account.id },
      params: { failures: attempts },
    }),
  )
}

/**
 * Locks the account, compares it with what was proved before the transaction, then checks the second factor. Refuses
 * auth.sign_in_failed; the Problem must be returned, not thrown, so that a wrong code stays counted.
 */
async function stillProved(
  ctx: Ctx,
  { facts: { tenantId }, accountId, passwordHash }: Right,
  given: Given,
): Promise<Problem | undefined> {
  const [[row], isHere, factor] = await together(
    ctx.tx<StandingRow[]>`
      select a.password_hash, a.state, ${startServes(ctx.tx)} as "startServes" from account a
      where a.tenant_id = ${tenantId} and a.id = ${accountId} for update`,
    holdsRole(ctx, tenantId, accountId),
    findFactor(ctx, { tenantId, accountId }, 'in force'),
  )
  if (row?.password_hash !== passwordHash || !canSignIn(row) || row.startServes === false || !isHere)
    refuse('auth.sign_in_failed')
  return refusalByFactor(ctx, { tenantId, accountId }, factor, { given, purpose: 'SECOND_FACTOR' })
}

interface StandingRow extends Pick<SignInAccount, 'state' | 'startServes'> {
  readonly password_hash: string | null
}

const locked = (seconds: number) =>
  new Problem('auth.sign_in_locked', {}, { headers: { 'retry-after': String(Math.ceil(seconds)) } })

interface ProvedWithNew {
  readonly proved: Proved
  readonly newHash: string | null
}

/**
 * Checks the old password and hashes the new one, with no transaction open; the new one only if the old one is right.
 */
export async function proveWithNewPassword(
  installation: Installation,
  actor: Actor,
  { body }: Received<typeof ops.signInWithNewPassword>,
): Promise<ProvedWithNew> {
  const proved = await provePassword(installation, actor, body)
  if (proved.is !== 'right') return { proved, newHash: null }
  // Whoever handed it over knows it, whatever the switch for earlier passwords says.
  if (proved.needsNewPassword === 'START' && body.new_password === body.password)
    refuseMember('/new_password', 'password.used_before', { history: 1 })
  const { tenantId } = proved.facts
  const names = await installation.transaction(anyone, { tenantId, readOnly: true }, (ctx) =>
    ownNames(ctx, tenantId, proved.accountId),
  )
  const account = { tenantId, id: proved.accountId }
  const hasher = hasherFor(actor, tenantId)
  const given = { hasher, password: body.new_password, pointer: '/new_password', names, account }
  return { proved, newHash: await hashNewPassword(installation, given) }
}

/**
 * Signs in and replaces the password; every other session ends. Replacing a start password activates the account. Refuses
 * what signIn refuses but auth.password_expired.
 */
export async function signInWithNewPassword(
  ctx: Ctx,
  { body }: Received<typeof ops.signInWithNewPassword>,
  { proved, newHash }: ProvedWithNew,
): Promise<Session | Problem> {
  const verdict = await askVerdict(ctx, proved)
  if (verdict instanceof Problem) return verdict
  if (newHash === null) throw new Error('a right password without a new hash')
  const { accountId } = verdict
  const { tenantId } = verdict.facts
  return enter(ctx, verdict, body, async (bounds) => {
    await writePassword(ctx, tenantId, accountId, newHash)
    await endProofs(ctx, { tenantId, accountId, except: null, because: 'password_changed' })
    await tellPasswordChanged(ctx, { tenantId, accountId })
    if (verdict.needsNewPassword === 'START') await activate(ctx, tenantId, accountId)
    return startSession(ctx, tenantId, accountId, { way: 'PASSWORD' }, bounds)
  })
}

/** Somebody who waited has joined; an account that has joined before stays as it is. */
async function activate(ctx: Ctx, tenantId: string, accountId: string): Promise<void> {
  const joined = await ctx.tx`
    update account set state = 'ACTIVE', joined_at = now()
    where tenant_id = ${tenantId} and id = ${accountId} and state = 'INVITED'`
  if (joined.count > 0) await ctx.record('identity.account.joined', { id: accountId, kind: 'PERSON', state: 'ACTIVE' })
}
