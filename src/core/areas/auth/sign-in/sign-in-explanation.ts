/**
 * Why an address can sign in to a workspace, or cannot.
 *
 * Nothing is decided here: every verdict comes from the code of the sign-in itself
 * (areas/auth/sign-in/sign-in-methods.ts, auth/second-factor/), so that the two cannot disagree. A new kind of sign-in
 * is one more entry in `waysOf`.
 *
 * Spec: ours; Password opening, InstanceSettings.
 */

import type { signInExplanationOperations as ops } from '../../../contract/audit/operations.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { SwitchName } from '../../../contract/settings/defaults.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { isGatedFor } from '../../../kernel/transaction/gate.ts'
import { timeNow } from '../../../kernel/values/time.ts'
import type { SwitchesInForce } from '../../settings/settings.ts'
import { type ProviderWay, providerWays } from '../providers/provider-methods.ts'
import { isMeant } from '../second-factor/demand.ts'
import { readFactor } from '../second-factor/enrolment.ts'
import { secondsLocked } from './failed-attempts.ts'
import { passwordWay, readSignIn, type SignInFacts, type WayIn } from './sign-in-methods.ts'

type Explanation = Answer<typeof ops.explainSignIn>
type ExplainedWay = Explanation['ways'][number]

/** Each kind of sign-in, with the verdict of the sign-in itself. The installation's role is in force. */
const waysOf: readonly ((ctx: Ctx, facts: SignInFacts, email: string) => Promise<readonly ExplainedWay[]>)[] = [
  async (_, facts) => [explained(passwordWay(facts))],
  async (ctx, facts, email) => (await providerWays(ctx, facts, email)).map(explainedProvider),
]

/** Refuses not_found. */
export async function explainSignIn(ctx: Ctx, { body }: Received<typeof ops.explainSignIn>): Promise<Explanation> {
  const facts = await readSignIn(ctx, body.workspace, body.email)
  const { account, workspaceState } = facts
  if (workspaceState === null) refuse('not_found')

  const ways: ExplainedWay[] = []
  for (const of of waysOf) ways.push(...(await of(ctx, facts, body.email)))
  const isGated = account !== undefined && (await isGatedFor(ctx.tx, account.id))
  return {
    workspace: { id: facts.tenantId, slug: body.workspace, state: workspaceState },
    account: account
      ? { id: account.id, state: account.state, role: account.role, is_operator: account.isOperator }
      : null,
    can_sign_in: !isGated && ways.some(({ is_open }) => is_open),
    is_gated: isGated,
    ways,
    second_factor: await ctx.inWorkspace(facts.tenantId, () => explainFactor(ctx, facts)),
  }
}

const explained = ({ way, isOpen, because, decidedBy, until, needsNewPassword }: WayIn): ExplainedWay => ({
  way,
  provider: null,
  is_open: isOpen,
  because,
  decided_by: decidedBy && { ...decidedBy, value: writable(decidedBy.value) },
  until,
  needs_new_password: needsNewPassword !== null,
})

const explainedProvider = ({ provider, isOpen, because, decidedBy, until }: ProviderWay): ExplainedWay => ({
  way: 'PROVIDER',
  provider,
  is_open: isOpen,
  because,
  decided_by: decidedBy && { ...decidedBy, value: writable(decidedBy.value) },
  until,
  needs_new_password: false,
})

async function explainFactor(
  ctx: Ctx,
  { tenantId, account, switches }: SignInFacts,
): Promise<Explanation['second_factor']> {
  const who = account && { tenantId, accountId: account.id }
  const factor = who && (await readFactor(ctx, who))
  const seconds = who ? await secondsLocked(ctx, who, 'SECOND_FACTOR') : 0
  const isDemanded =
    account !== undefined &&
    isMeant(switches.mfa_required_for.value, {
      kind: 'ACCOUNT',
      role: account.role ?? 'VIEWER',
      isOperator: account.isOperator,
      hasPassword: account.passwordHash !== null,
    })
  return {
    enrolled_at: factor?.enrolled_at ?? null,
    recovery_codes_left: factor?.recovery_codes_left ?? 0,
    demand: isDemanded ? (factor ? 'MET' : 'MUST_ENROL') : 'NOT_DEMANDED',
    decided_by: deciding(switches, 'mfa_required_for'),
    locked_until: seconds > 0 ? new Date(timeNow() + seconds * 1000).toISOString() : null,
  }
}

const deciding = (switches: SwitchesInForce, name: SwitchName) => ({
  name,
  ...switches[name],
  value: writable(switches[name].value),
})

const writable = (value: SwitchesInForce[SwitchName]['value']) => (typeof value === 'object' ? [...value] : value)
