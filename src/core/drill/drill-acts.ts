/** What a drill does before and after the point to which it rewinds, and what must be true afterwards. */

import { performForAnswer } from '../app/perform.ts'
import { spendStepUp } from '../areas/auth/step-up.ts'
import type { Admission } from '../areas/recovery/admit.ts'
import type { PulledLedger } from '../areas/recovery/ledger/ledger-pull.ts'
import type { Rewind } from '../areas/recovery/rewind-detection.ts'
import { repeatPurge } from '../areas/tenants/purge/purge.ts'
import type { Answer, Operation, Sent } from '../contract/operation.ts'
import { operations } from '../contract/operations.ts'
import { Problem } from '../contract/problem.ts'
import type { Installation } from '../kernel/transaction/installation.ts'
import { type AccountActor, anyone, type RecoveryActor, recoveryActor } from '../kernel/values/actor.ts'
import { newId } from '../kernel/values/id.ts'

/** A condition that must hold after a recovery. */
export interface Claim {
  readonly claim: string
  readonly holds: boolean
}

interface Owner {
  readonly tenantId: string
  readonly actor: AccountActor
  readonly refreshToken: string
}

/** The state at the point. */
export interface Stage {
  readonly staying: Owner
  readonly leaving: Owner
  readonly heldBefore: string
  readonly releasedAfter: string
  readonly tokenId: string
  readonly cursor: string
  readonly proof: string
  readonly point: string
}

export interface Played extends Stage {
  readonly placedAfter: string
  readonly placedAndReleasedAfter: string
  readonly lost: readonly Loss[]
}

/** The losses of one kind that a rewind causes. */
export interface Loss {
  readonly what:
    | 'holds placed'
    | 'holds released'
    | 'tokens revoked'
    | 'operators added'
    | 'workspaces purged'
    | 'proofs spent'
    | 'sessions ended'
  readonly count: number
}

const password = 'a drill is no emergency'

const by = (installation: Installation, actor: RecoveryActor | AccountActor | typeof anyone) => ({
  call: <O extends Operation>(operation: O, sent: Sent<O>): Promise<Answer<O>> =>
    performForAnswer(installation, operation, actor, sent),
})

async function ownerOf(installation: Installation, name: string): Promise<Owner> {
  const slug = `drill-${name}-${newId().slice(-12)}`
  const made = await by(installation, recoveryActor()).call(operations.provisionTenant, {
    body: { slug, display_name: `Drill ${name}`, owner_email: `owner@${slug}.example` },
  })
  const session = await by(installation, anyone).call(operations.redeemInvitation, {
    body: { token: made.redemption_token, password },
  })
  return {
    tenantId: made.tenant.id,
    refreshToken: session.refresh_token,
    actor: {
      kind: 'ACCOUNT',
      accountId: made.owner.account_id,
      tenantId: made.tenant.id,
      credentialId: session.session_id,
      bearerId: session.session_id,
      sessionId: session.session_id,
      scopes: ['workspace:read', 'workspace:write', 'workspace:admin'],
      role: 'OWNER',
      isOperator: false,
    },
  }
}

const holdOn = (installation: Installation, tenantId: string, reason: string) =>
  by(installation, recoveryActor()).call(operations.placeHold, {
    body: { tenant_id: tenantId, scope: { kind: 'TENANT', id: null }, reason },
  })

/**
 * A backup target, two workspaces with holds, a token, a cursor and a proof. `backUp` is called in the middle, so that
 * the rest must come from the log.
 */
export async function actBeforePoint(installation: Installation, backUp: () => Promise<void>): Promise<Stage> {
  await by(installation, recoveryActor()).call(operations.createBackupTarget, {
    body: { name: 'drill', kind: 'LOCAL', config: { path: 'drill' } },
  })
  const staying = await ownerOf(installation, 'staying')
  const leaving = await ownerOf(installation, 'leaving')
  const heldBefore = await holdOn(installation, staying.tenantId, 'drill: placed before')
  await backUp()

  const releasedAfter = await holdOn(installation, staying.tenantId, 'drill: released after')
  const owner = by(installation, staying.actor)
  const { id: tokenId } = await owner.call(operations.createToken, {
    body: { name: 'drill', scopes: ['workspace:read'] },
  })
  const { step_up_token: proof } = await owner.call(operations.stepUp, { body: { password } })
  const { next_cursor: cursor } = await by(installation, recoveryActor()).call(operations.listJournal, { size: 1 })
  return {
    staying,
    leaving,
    heldBefore: heldBefore.id,
    releasedAfter: releasedAfter.id,
    tokenId,
    cursor: cursor ?? '',
    proof,
    point: await momentBetween(installation),
  }
}

/** A moment after all actions so far and before all later ones, by the database's clock. */
async function momentBetween(installation: Installation): Promise<string> {
  const now = async () => {
    const [row] = await installation.transaction(
      recoveryActor(),
      { readOnly: true },
      ({ tx }) => tx<{ now: string }[]>`select clock_timestamp() as now`,
    )
    return Date.parse(row?.now ?? '')
  }
  const before = await now()
  const point = before + 2 // whole milliseconds: what was committed in this one lies before it
  while ((await now()) <= point) await new Promise((resolve) => setTimeout(resolve, 1))
  return new Date(point).toISOString()
}

/** The actions that the rewind undoes. */
export async function actAfterPoint(installation: Installation, stage: Stage): Promise<Played> {
  const { staying, leaving } = stage
  const operator = by(installation, recoveryActor())
  const owner = by(installation, staying.actor)
  const placed = await holdOn(installation, staying.tenantId, 'drill: placed after')
  const shortLived = await holdOn(installation, staying.tenantId, 'drill: placed and released after')
  await operator.call(operations.releaseHold, { holdId: shortLived.id })
  await operator.call(operations.releaseHold, { holdId: stage.releasedAfter })
  await owner.call(operations.revokeToken, { tokenId: stage.tokenId })
  await spendStepUp(installation, staying.actor, stage.proof, { operation: 'drill', targetId: undefined })
  await operator.call(operations.addOperator, { body: { account_id: staying.actor.accountId } })
  const purged = await repeatPurge(installation, leaving.tenantId)
  if (purged !== 'purged') throw new Error(`the drill's workspace was not purged: ${purged}`)
  await owner.call(operations.signOut, {})
  return {
    ...stage,
    placedAfter: placed.id,
    placedAndReleasedAfter: shortLived.id,
    lost: [
      { what: 'holds placed', count: 2 },
      { what: 'holds released', count: 2 },
      { what: 'tokens revoked', count: 1 },
      { what: 'operators added', count: 1 },
      { what: 'workspaces purged', count: 1 },
      { what: 'proofs spent', count: 1 },
      { what: 'sessions ended', count: 1 },
    ],
  }
}

/** Compares the recovered installation with what happened. */
export async function proveRecovered(
  installation: Installation,
  played: Played,
  {
    rewind,
    pulled,
    admission,
  }: {
    readonly rewind: Rewind | undefined
    readonly pulled: readonly PulledLedger[]
    readonly admission: Admission
  },
): Promise<Claim[]> {
  const operator = by(installation, recoveryActor())
  const holds = [played.heldBefore, played.releasedAfter, played.placedAfter, played.placedAndReleasedAfter]
  const inForce = await Promise.all(
    holds.map(async (holdId) => (await operator.call(operations.getHold, { holdId })).released_at === null),
  )
  const { data: register } = await operator.call(operations.listOperators, {})
  const { accountId, tenantId } = played.staying.actor
  const [found] = await installation.transaction(
    recoveryActor(),
    { readOnly: true },
    ({ tx }) => tx<{ is_alive: boolean; sessions: number }[]>`
      select exists (select from credential where tenant_id = ${tenantId} and id = ${played.tokenId} and revoked_at is null) as is_alive,
             (select count(*)::int from session where tenant_id = ${tenantId} and revoked_at is null) as sessions`,
  )
  return [
    { claim: 'a daemon that starts finds the rewind by itself', holds: rewind !== undefined },
    {
      claim: 'the copy of the ledger at a target is whole, and all was done from it',
      holds: pulled.length === 1 && pulled[0]?.fault === null,
    },
    { claim: `every hold is in force (${holds.length} of them)`, holds: inForce.every(Boolean) },
    { claim: 'the revoked token is revoked', holds: found?.is_alive === false },
    { claim: 'the operator is in the register', holds: register.some((one) => one.account_id === accountId) },
    {
      claim: 'the purged workspace is gone',
      holds:
        (await codeOf(operator.call(operations.getPurgeCertificate, { tenantId: played.leaving.tenantId }))) ===
          'done' &&
        (await codeOf(operator.call(operations.listHolds, { tenant_id: played.leaving.tenantId }))) === 'not_found',
    },
    {
      claim: 'the spent proof is not good a second time',
      holds:
        (await codeOf(
          spendStepUp(installation, played.staying.actor, played.proof, { operation: 'drill', targetId: undefined }),
        )) === 'auth.step_up_required',
    },
    {
      claim: 'sessions from before are void',
      holds:
        found?.sessions === 0 &&
        (await codeOf(
          by(installation, anyone).call(operations.refreshSession, {
            body: { refresh_token: played.staying.refreshToken },
          }),
        )) === 'auth.unauthenticated',
    },
    {
      claim: 'cursors from before are gone',
      holds: (await codeOf(operator.call(operations.listJournal, { size: 1, cursor: played.cursor }))) === 'gone',
    },
    { claim: 'workspaces are admitted again', holds: admission.admitted },
  ]
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'done'
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
}
