/**
 * A turn: one transaction of one workspace that records results and claims deliveries.
 *
 * It takes the workspace's lock, like any change by the workspace's people. So no attempt starts after a suspension or a
 * purge has been answered. Results are also recorded while the workspace is suspended or pending deletion, until a purge
 * begins. From then on only the purge writes its rows.
 *
 * Spec: Workspace states; decisions 4 (purge); 5.
 */

import { withoutSync } from '../../../kernel/database/roles.ts'
import { holdOpen, isNotAdmitted } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { type Claim, claim, holdWebhooks, nothingClaimed } from './claim.ts'
import { isQuiet, type Outcome, record } from './record.ts'
import type { ClaimRequest } from './target.ts'

export interface TurnResult extends Claim {
  readonly tenantId: string
  /** Whether the workspace is ACTIVE. */
  readonly isServed: boolean
}

const dispatcher = { kind: 'SYSTEM', job: 'deliveries' } as const
const behindGate = { isServed: false, epoch: undefined }

/**
 * Settings of a turn's transaction.
 *
 * Rows are read by key and in the order of an index, whatever the statistics say: a queue may grow by 100,000 rows before
 * the server analyzes it again, and a plan that sorts them costs a hundred times as much. For the same reason each
 * statement of a turn names its deliveries by key, also where it joins them. The commit does not wait for the disk: if a
 * crash of the database server loses it, the attempts are made again, as after a crash of the daemon.
 */
export const forTurns = ['seqscan', 'bitmapscan', 'sort']
  .map((plan) => `set local enable_${plan} = 'off'`)
  .concat(withoutSync)
  .join('; ')

/** Refuses installation.recovering: behind a closed gate nothing is written. */
export async function takeTurn(
  installation: Installation,
  tenantId: string,
  outcomes: readonly Outcome[],
  wanted: readonly ClaimRequest[],
  aheadSeconds: number,
): Promise<TurnResult> {
  const webhookIds = [
    ...new Set([...outcomes.map(({ begun }) => begun.webhookId), ...wanted.map(({ webhookId }) => webhookId)]),
  ]
  const work = async (ctx: Ctx): Promise<TurnResult> => {
    void ctx.tx.switch(forTurns)
    const held = holdWebhooks(ctx.tx, webhookIds)
    const recorded = outcomes.length > 0 ? record(ctx, tenantId, outcomes, aheadSeconds) : undefined
    // Successes alone do not change the webhooks, so the claim leaves in the same packet.
    if (!outcomes.every(isQuiet)) await recorded
    const claiming = wanted.length > 0 ? claim(ctx, tenantId, wanted, aheadSeconds) : nothingClaimed
    const [claimed] = await Promise.all([claiming, recorded, held])
    return { tenantId, ...claimed, isServed: true }
  }
  try {
    return await installation.transaction(dispatcher, { tenantId, admits: true, gateAccess: behindGate }, work)
  } catch (error) {
    if (!isNotAdmitted(error)) throw error
    if (outcomes.length > 0) await recordInto(installation, tenantId, outcomes, webhookIds, aheadSeconds)
    return { tenantId, ...nothingClaimed, isServed: false }
  }
}

/** Records in a workspace that is not ACTIVE, unless it is being purged, or gone. */
const recordInto = (
  installation: Installation,
  tenantId: string,
  outcomes: readonly Outcome[],
  webhookIds: readonly string[],
  aheadSeconds: number,
): Promise<void> =>
  installation.transaction(dispatcher, { tenantId, gateAccess: behindGate }, async (ctx) => {
    await holdOpen(ctx.tx, tenantId)
    const [tenant] = await ctx.tx<{ is_purged: boolean }[]>`
      select purge_started_at is not null as is_purged from tenant where id = ${tenantId}`
    if (tenant?.is_purged !== false) return
    await holdWebhooks(ctx.tx, webhookIds)
    await record(ctx, tenantId, outcomes, aheadSeconds)
  })
