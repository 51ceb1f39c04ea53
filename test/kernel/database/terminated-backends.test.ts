/**
 * A session that dies inside a transaction takes nothing but that transaction with it
 * (threats T-03, F-04). SVC_FAULTS=full runs the long form.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openPool, type Pool } from '../../../src/core/kernel/database/pool.ts'
import { type OwnCluster, ownCluster } from './own-cluster.ts'
import { clean, into, type Load, makeWorkspaces, startLoad, verdict, watchProcess } from './two-workspaces.ts'

const full = process.env['SVC_FAULTS'] === 'full'
const terminations = full ? 2_000 : 80
const timeouts = full ? 300 : 10
/** Only for a drill that went wrong; the short form takes about six seconds for each. */
const patienceMs = full ? 600_000 : 60_000
const applicationName = 'svc-drill'

let cluster: OwnCluster
beforeAll(async () => {
  cluster = await ownCluster({ fsync: 'off' })
  await makeWorkspaces(cluster.superuser)
})
afterAll(() => cluster.remove())
beforeEach(() => cluster.superuser`truncate ledger`)

function drilledPool(size: number, idleInTransactionMs = 10_000): Pool {
  return openPool(cluster.address('svc_login'), { size, applicationName, idleInTransactionMs })
}

/** Terminates sessions of the pool, one at a time, until that many were hit. */
async function terminateSessions(load: Load, wanted: number): Promise<void> {
  for (let hit = 0; hit < wanted && isSound(load); ) {
    const killed = await cluster.superuser<{ done: boolean }[]>`
      select pg_terminate_backend(pid) as done from (
        select pid from pg_stat_activity where application_name = ${applicationName} order by random() limit 1) victim`
    hit += killed.filter(({ done }) => done).length
    await pause(2)
  }
}

/** Waits until the load has as many more successes: the pool has recovered. A load that has gone wrong is not waited for. */
async function moreAcknowledged(load: Load, more: number): Promise<void> {
  const wanted = load.acknowledged.size + more
  while (load.acknowledged.size < wanted && isSound(load)) await pause(5)
}

const isSound = ({ foreign, strange }: Load) => foreign.length + strange.length === 0

async function judged(load: Load): Promise<void> {
  expect(load.foreign).toEqual([])
  expect(load.strange).toEqual([])
  expect(await verdict(cluster.superuser, load)).toEqual(clean)
}

describe.each([1, 2, 10])('with a pool of %i', (size) => {
  test(
    `${terminations} terminated sessions: nothing strays, nothing is lost, the process lives`,
    async () => {
      const watched = watchProcess()
      const pool = drilledPool(size)
      const load = startLoad((workspace, work) => pool.transaction(into(workspace), work), size * 2 + 2, 6)

      await terminateSessions(load, terminations)
      await moreAcknowledged(load, 20)
      await load.stop()
      await pool.close()
      watched.stop()

      expect(load.failed.size).toBeGreaterThan(0)
      expect(watched.uncaught).toEqual([])
      await judged(load)
    },
    patienceMs,
  )

  test(
    `${timeouts} transactions that idled too long: the same`,
    async () => {
      const watched = watchProcess()
      const pool = drilledPool(size, 150)
      // Waits of 0 to 250 ms against a limit of 150: about two of five die while they wait.
      const load = startLoad((workspace, work) => pool.transaction(into(workspace), work), size * 2 + 2, 250)

      while (load.failed.size < timeouts && isSound(load)) await pause(20)
      await moreAcknowledged(load, 3)
      await load.stop()
      await pool.close()
      watched.stop()

      expect(watched.uncaught).toEqual([])
      await judged(load)
    },
    patienceMs,
  )
})
