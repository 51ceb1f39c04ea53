/** PostgreSQL is killed under load: what was acknowledged is there, and the pool comes back by itself. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DatabaseUnavailable, openPool } from '../../../src/core/kernel/database/pool.ts'
import { type OwnCluster, ownCluster } from './own-cluster.ts'
import { clean, into, makeWorkspaces, startLoad, verdict, watchProcess, workspaces } from './two-workspaces.ts'

const kills = process.env['SVC_FAULTS'] === 'full' ? 12 : 3

let cluster: OwnCluster
beforeAll(async () => {
  cluster = await ownCluster() // fsync stays on: that is what is acknowledged
  await makeWorkspaces(cluster.superuser)
})
afterAll(() => cluster.remove())

test(`${kills} times SIGKILL under load`, async () => {
  const watched = watchProcess()
  const pool = openPool(cluster.address('svc_login'), { size: 4, applicationName: 'svc-kill' })
  const load = startLoad((workspace, work) => pool.transaction(into(workspace), work), 10, 3)

  for (let kill = 0; kill < kills; kill += 1) {
    const wanted = load.acknowledged.size + 100
    while (load.acknowledged.size < wanted) await pause(5)
    await cluster.killAndRestart()
  }
  const wanted = load.acknowledged.size + 100
  while (load.acknowledged.size < wanted) await pause(5)
  await load.stop()
  await pool.close()
  watched.stop()

  expect(load.failed.size).toBeGreaterThan(0)
  expect(watched.uncaught).toEqual([])
  expect(load.foreign).toEqual([])
  expect(load.strange).toEqual([])
  expect(await verdict(cluster.superuser, load)).toEqual(clean)
}, 120_000)

test('while it is away a transaction is unavailable, and the next one after its return succeeds', async () => {
  const pool = openPool(cluster.address('svc_login'), { size: 2, applicationName: 'svc-kill', acquireMs: 300 })
  const [workspace] = workspaces
  const read = () => pool.transaction(into(workspace), (tx) => tx.last`select 1 as one`, { readOnly: true })
  await read()

  await cluster.kill()
  // A backend outlives the killed server for a moment, and may still answer on its connection.
  await expect.poll(() => read().catch((error: unknown) => error)).toBeInstanceOf(DatabaseUnavailable)
  await expect(Promise.all([read(), read(), read()])).rejects.toThrow(DatabaseUnavailable)
  await cluster.start()

  expect(await read()).toEqual([{ one: 1 }])
  await pool.close()
})
