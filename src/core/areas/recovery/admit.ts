/**
 * Admission: the end of a recovery.
 *
 *    checks ──▶ every session, its tokens and every proof void ──▶ new epoch, gate open, journal
 *
 * The rewind has restored sessions that were signed out and proofs that were spent. They look
 * like the valid ones, so all are voided, and people sign in again. Tokens that people created
 * stay valid, except those whose revocation is in the ledger. If the process is killed before
 * the last transaction, the gate is still closed, and a second run continues.
 *
 * Ours: `svc recovery admit`; T-46.
 */

import type { CheckCode } from '../../contract/recovery-checks.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lockGateExclusive } from '../../kernel/transaction/gate.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { RecoveryActor } from '../../kernel/values/actor.ts'
import { newId } from '../../kernel/values/id.ts'
import { checkRecovery } from './check.ts'
import type { Check } from './finding.ts'

export interface Admission {
  readonly admitted: boolean
  readonly checks: readonly Check[]
  /** The findings that prevent the admission. */
  readonly refused_by: readonly CheckCode[]
  readonly sessions_ended: number
  readonly proofs_voided: number
}

/** Opens the gate, unless there is a finding that is not accepted. */
export async function admitTraffic(
  installation: Installation,
  actor: RecoveryActor,
  { accept = [], ledgers = [] }: { readonly accept?: readonly CheckCode[]; readonly ledgers?: readonly string[] } = {},
): Promise<Admission> {
  const checks = await checkRecovery(installation, ledgers)
  const findings = checks.filter(({ state }) => state === 'finding').map(({ code }) => code)
  const refusedBy = findings.filter((code) => !accept.includes(code))
  if (refusedBy.length > 0)
    return { admitted: false, checks, refused_by: refusedBy, sessions_ended: 0, proofs_voided: 0 }

  const ended = await voidAll(installation, actor)
  await open(installation, actor, { accepted: findings, ...ended })
  return { admitted: true, checks, refused_by: [], ...ended }
}

/** Rows of each kind in one transaction, so that no transaction lasts long. */
const batch = 2_000

/** Voids one batch of each kind, and answers the counts. */
async function voidSome({ tx }: Ctx) {
  const [sessions, tokens, proofs, ...waiting] = await Promise.all([
    tx`update session set revoked_at = now() where (tenant_id, id) in (select tenant_id, id from session where revoked_at is null limit ${batch})`,
    tx`
      update credential set revoked_at = now()
      where (tenant_id, id) in (select tenant_id, id from credential where kind in ('SESSION', 'REFRESH') and revoked_at is null limit ${batch})`,
    tx`update step_up set used_at = now() where (tenant_id, id) in (select tenant_id, id from step_up where used_at is null limit ${batch})`,
    tx`
      update sign_in_challenge set used_at = now()
      where (tenant_id, id) in (select tenant_id, id from sign_in_challenge where used_at is null limit ${batch})`,
    tx`
      update sign_in_link set used_at = now()
      where (tenant_id, id) in (select tenant_id, id from sign_in_link where used_at is null limit ${batch})`,
    tx`
      update sign_in_flow set used_at = now()
      where (tenant_id, id) in (select tenant_id, id from sign_in_flow where used_at is null limit ${batch})`,
  ])
  return {
    sessions: sessions.count,
    tokens: tokens.count,
    proofs: [proofs, ...waiting].reduce((sum, { count }) => sum + count, 0),
  }
}

async function voidAll(installation: Installation, actor: RecoveryActor) {
  const ended = { sessions_ended: 0, proofs_voided: 0 }
  for (;;) {
    const { sessions, tokens, proofs } = await installation.transaction(actor, {}, voidSome)
    ended.sessions_ended += sessions
    ended.proofs_voided += proofs
    if (sessions + tokens + proofs === 0) return ended
  }
}

/** Voids one more batch, and answers whether it had any rows. */
async function isSomeLeft(ctx: Ctx): Promise<boolean> {
  const { sessions, tokens, proofs } = await voidSome(ctx)
  return sessions + tokens + proofs > 0
}

async function open(
  installation: Installation,
  actor: RecoveryActor,
  params: Readonly<Record<string, unknown>>,
): Promise<void> {
  const epoch = newId()
  await installation.transaction(actor, {}, async (ctx) => {
    // A sign-in under way has either committed and is visible here, or happens after this transaction.
    await lockGateExclusive(ctx.tx)
    const [before] = await ctx.tx<{ epoch: string; recovery_point: string | null }[]>`
      select epoch, recovery_point from installation for update`
    while (await isSomeLeft(ctx)); // an operator may have signed in meanwhile
    await ctx.tx`
      update installation
      set epoch = ${epoch}, epoch_number = epoch_number + 1, gated_at = null, gate_reason = null,
          recovered_to = recovery_point, recovery_point = null, admitted_at = now()`
    // Witnesses from before this recovery prove nothing any more.
    await ctx.tx`delete from daemon_witness`
    await ctx.journal('recovery.admitted', null, {
      params: { recovery_point: before?.recovery_point ?? null, epoch_before: before?.epoch, epoch, ...params },
    })
  })
  installation.identity.epoch = epoch
}
