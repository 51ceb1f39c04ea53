/**
 * A workspace's turn: what it is given to record is recorded, and what it may begin is begun, in one transaction.
 *
 * It holds the workspace open like any change of its people, so a suspension or a purge
 * that is answered has seen the last attempt begin. What is over is recorded in a
 * workspace that is suspended or leaving too, as long as no purge has begun: from then on
 * its rows are the purge's alone.
 *
 * Spec: Workspace states; decisions 4 (purge); 5.
 */

import { Problem } from '../../../contract/problem.ts'
import { holdOpen } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { type Claim, claim, holdWebhooks, nothingClaimed } from './claim.ts'
import type { Wanted } from './lanes.ts'
import { isQuiet, type Outcome, record } from './record.ts'

export interface Turn extends Claim {
  readonly tenantId: string
  /** Whether the workspace is ACTIVE. */
  readonly isServed: boolean
}

const dispatcher = { kind: 'SYSTEM', job: 'deliveries' } as const
const behindGate = { isServed: false, epoch: undefined }

/**
 * By key and in the order of an index, whatever the statistics say: a queue grows by 100,000 rows between two looks
 * of the server at it, and a plan that sorts them costs a hundred times as much. For the same reason each statement of
 * a turn names its deliveries by key, also where it joins them. The commit does not wait for the disk: what a crash of
 * the database's server takes back is made again, as after a crash of ours.
 */
export const forTurns = ['seqscan', 'bitmapscan', 'sort']
  .map((plan) => `set local enable_${plan} = 'off'`)
  .concat("set local synchronous_commit = 'off'")
  .join('; ')

/** Throws installation.recovering while the gate is closed: nothing is written then. */
export async function takeTurn(
  installation: Installation,
  tenantId: string,
  outcomes: readonly Outcome[],
  wanted: readonly Wanted[],
  aheadSeconds: number,
): Promise<Turn> {
  const webhookIds = [
    ...new Set([...outcomes.map(({ begun }) => begun.webhookId), ...wanted.map(({ webhookId }) => webhookId)]),
  ]
  const work = async (ctx: Ctx): Promise<Turn> => {
    void ctx.tx.switch(forTurns)
    const held = holdWebhooks(ctx.tx, webhookIds)
    const recorded = outcomes.length > 0 ? record(ctx, tenantId, outcomes, aheadSeconds) : undefined
    // What only succeeded leaves the webhooks as they are: what may be begun is asked for in the same packet.
    if (!outcomes.every(isQuiet)) await recorded
    const claiming = wanted.length > 0 ? claim(ctx, tenantId, wanted, aheadSeconds) : nothingClaimed
    const [claimed] = await Promise.all([claiming, recorded, held])
    return { tenantId, ...claimed, isServed: true }
  }
  try {
    return await installation.transaction(dispatcher, { tenantId, admits: true, gateAccess: behindGate }, work)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'tenant_suspended') throw error
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
