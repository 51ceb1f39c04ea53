/**
 * Purging a workspace of 1,000,000 rows: the length of its longest transaction, the locks that it
 * takes, and the cost for a neighbour's reads through a daemon at the same time. The purge runs in
 * this process, the daemon in its own. The neighbour reads at a steady pace, so that a slow answer
 * does not mean fewer reads.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { performForAnswer } from '../src/core/app/perform.ts'
import { repeatPurge } from '../src/core/areas/tenants/purge/purge.ts'
import { tenantOperations } from '../src/core/contract/tenants/operations.ts'
import { recoveryActor } from '../src/core/kernel/values/actor.ts'
import { fillWorkspace } from './filler.ts'
import type { Ground } from './ground.ts'
import { p99, startNeighbour } from './neighbour.ts'
import { startDaemon } from './processes.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'
import { watch } from './watched.ts'

const rows = 1_000_000
const idleMs = 60_000
const allowed = ['AccessShareLock', 'RowShareLock', 'RowExclusiveLock']

export async function purging(ground: Ground): Promise<Line[]> {
  const leaving = await leavingWorkspace(ground)
  const daemon = await startDaemon(ground.environment, '--role', 'api')
  const neighbour = await startNeighbour(daemon.address, ground)
  try {
    const idle = await neighbour.askUntil(pause(idleMs))
    const watched = watch(ground)
    const meanwhile = await neighbour.askUntil(purged(ground, leaving)).finally(() => watched.stop())
    const { longestMs, modes } = await watched.stop()
    return [
      ceilingLine(`purging ${rows} rows: the longest transaction`, longestMs, 'ms', 500),
      ceilingLine(
        `purging ${rows} rows: table locks stronger than ROW EXCLUSIVE (${[...modes].join(', ')})`,
        [...modes].filter((mode) => !allowed.includes(mode)).length,
        'kinds',
        0,
      ),
      ratioLine(
        `a neighbour's reads meanwhile, p99 of ${meanwhile.length}, against idle`,
        { ours: p99(meanwhile), bare: p99(idle), unit: 'ms' },
        'at most',
        2,
      ),
    ]
  } finally {
    await neighbour.end()
    await daemon.stop()
  }
}

async function leavingWorkspace({ installation, superuser }: Ground): Promise<string> {
  const made = await performForAnswer(installation, tenantOperations.provisionTenant, recoveryActor(), {
    body: { slug: 'leaving', display_name: 'Leaving', owner_email: 'owner@leaving.example.org' },
  })
  const workspace = { tenantId: made.tenant.id, collectionId: made.collection_id }
  await fillWorkspace(superuser, workspace, ['audit_entry', 'outbox_event', 'label', 'account'], rows / 4)
  await performForAnswer(installation, tenantOperations.deleteTenant, recoveryActor(), {
    tenantId: made.tenant.id,
    body: { confirmation: 'Leaving' },
  })
  return made.tenant.id
}

/** Purges without waiting, as a recovery repeats a purge. */
async function purged({ installation }: Ground, tenantId: string): Promise<void> {
  let outcome = await repeatPurge(installation, tenantId)
  while (outcome === 'more') outcome = await repeatPurge(installation, tenantId)
  if (outcome !== 'purged') throw new Error(`the purge ended as ${outcome}`)
}
