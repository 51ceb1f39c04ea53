/**
 * Sweeping 10,000,000 kept answers that have expired: what it costs a neighbour's mixed requests through a daemon at the same
 * time, and how long the transactions of the sweep last. The sweep runs in this process, the daemon in its own.
 * BENCH_SWEEP_ROWS has fewer rows, to try the benchmark itself.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { sweepExpired } from '../src/core/areas/auth/sign-in/jobs.ts'
import { sweeps } from '../src/core/areas/auth/sign-in/sweeps.ts'
import type { Installation } from '../src/core/kernel/transaction/installation.ts'
import { type Backlog, backlogsOf } from '../src/core/kernel/transaction/sweep.ts'
import { fillBoards } from './board-filler.ts'
import { fillKeptAnswers } from './filler.ts'
import type { Ground } from './ground.ts'
import { p99, startNeighbour } from './neighbour.ts'
import { startDaemon } from './processes.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'
import { timed } from './timed.ts'

const rows = Number(process.env['BENCH_SWEEP_ROWS'] ?? 10_000_000)
const idleMs = 60_000
const size = { boards: 10, buckets: 5, itemsEach: 250 }

export async function sweeping(ground: Ground): Promise<Line[]> {
  const boards = await fillBoards(ground, size)
  // Before the rows are made: no daemon starts where its key opens none of the sealed values.
  const daemon = await startDaemon(ground.environment, '--role', 'api')
  try {
    const { tenantId, accountId, installation } = ground
    await fillKeptAnswers(ground.superuser, {
      ...{ tenantId, accountId, count: rows },
      keyId: installation.keyring.current,
    })
    const neighbour = await startNeighbour(daemon.address, ground, boards)
    try {
      const alone = await neighbour.askUntil(pause(idleMs))
      const work = timed(installation)
      const meanwhile = await neighbour.askUntil(swept(work.installation))
      return [
        ceilingLine(
          `sweeping ${rows} kept answers: a transaction, p99 of ${work.tookMs.length}`,
          p99(work.tookMs),
          'ms',
          100,
        ),
        ratioLine(
          `a neighbour's mixed requests meanwhile, p99 of ${meanwhile.length}, against alone`,
          { ours: p99(meanwhile), bare: p99(alone), unit: 'ms' },
          'at most',
          1.5,
        ),
      ]
    } finally {
      await neighbour.end()
    }
  } finally {
    await daemon.stop()
  }
}

/** Runs the job as often as it takes: a run has its time, and the next one goes on. */
async function swept(installation: Installation): Promise<void> {
  do await sweepExpired.run(installation, {})
  while (await waits(installation))
}

const waits = (installation: Installation) =>
  installation.transaction({ kind: 'SYSTEM', job: 'bench' }, { readOnly: true }, async ({ tx }) => {
    const backlogs = await tx.text<Backlog[]>(backlogsOf(sweeps))
    return backlogs.some((backlog) => backlog.rows > 0)
  })
