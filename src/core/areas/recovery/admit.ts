/**
 * Admission: the end of a recovery.
 *
 *    checks ──▶ every session, its tokens and every proof void ──▶ new epoch, gate open, journal
 *
 * The rewind has revived what had ended: sessions that were signed out, proofs that were
 * spent. None of those can be told from the others, so all are void; people sign in again.
 * Tokens that people made stay, but for those whose revocation the ledger knows. Killed
 * anywhere before its last transaction, the gate is still closed; a second run goes on.
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
  /** The findings that stand in the way. */
  readonly refused_by: readonly CheckCode[]
  readonly sessions_ended: number
  readonly proofs_voided: number
}

/** Opens the gate, unless a finding stands in the way that is not accepted. */
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

/** Rows of one transaction, so that none lasts long. */
const batch = 2_000

/** Voids some of what is left, and answers how many. */
async function voidSome({ tx }: Ctx) {
  const [sessions, tokens, proofs] = await Promise.all([
    tx`update session set revoked_at = now() where (tenant_id, id) in (select tenant_id, id from session where revoked_at is null limit ${batch})`,
    tx`
      update credential set revoked_at = now()
      where (tenant_id, id) in (select tenant_id, id from credential where kind in ('SESSION', 'REFRESH') and revoked_at is null limit ${batch})`,
    tx`update step_up set used_at = now() where (tenant_id, id) in (select tenant_id, id from step_up where used_at is null limit ${batch})`,
  ])
  return { sessions: sessions.count, tokens: tokens.count, proofs: proofs.count }
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

/** Voids some more; whether there was anything. */
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
    // Whoever has signed in meanwhile is seen by this transaction, or comes after it.
    await lockGateExclusive(ctx.tx)
    const [before] = await ctx.tx<{ epoch: string; recovery_point: string | null }[]>`
      select epoch, recovery_point from installation for update`
    while (await isSomeLeft(ctx)); // an operator may have signed in meanwhile
    await ctx.tx`
      update installation
      set epoch = ${epoch}, epoch_number = epoch_number + 1, gated_at = null, gate_reason = null, recovery_point = null, admitted_at = now()`
    // What daemons proved by before this recovery proves nothing any more.
    await ctx.tx`delete from daemon_witness`
    await ctx.journal('recovery.admitted', null, {
      params: { recovery_point: before?.recovery_point ?? null, epoch_before: before?.epoch, epoch, ...params },
    })
  })
  installation.identity.epoch = epoch
}
