/** An installation with a server of its own, whose clock and those of its daemons a test sets. */
import type postgres from 'postgres'
import { expect } from 'vitest'
import { type OwnCluster, ownCluster } from '../kernel/database/own-cluster.ts'
import { type SpawnedDaemon, spawnDaemon } from './daemon.ts'
import { type FakeTime, fakeTime } from './fake-time.ts'
import { type TestInstallation, testInstallation } from './installation.ts'
import { migratedDatabase } from './migrated-database.ts'

export interface ClockedInstallation {
  readonly time: FakeTime
  readonly own: TestInstallation
  /** As superuser. */
  readonly sql: postgres.Sql
  /** One more daemon, which listens. */
  daemon(): Promise<SpawnedDaemon>
  close(): Promise<void>
}

export async function clockedInstallation(): Promise<ClockedInstallation> {
  const time = fakeTime()
  const cluster: OwnCluster = await ownCluster({ fsync: 'off' }, { env: time.single })
  const at = await migratedDatabase(cluster, { max: 2 })
  const { sql } = at
  const own = await testInstallation({ at })
  const daemons: SpawnedDaemon[] = []
  return {
    ...{ time, own, sql },
    async daemon() {
      const started = await spawnDaemon({ ...own.env, ...time.threaded, SVC_PORT: '0', SVC_LOG_LEVEL: 'error' })
      expect(started.address, started.stderr()).not.toBe('')
      daemons.push(started)
      return started
    },
    async close() {
      time.set('+0')
      for (const { process } of daemons) process.kill('SIGTERM')
      await Promise.all(daemons.map(({ ended }) => ended))
      await own.close()
      await sql.end({ timeout: 1 })
      await cluster.remove()
      time.remove()
    },
  }
}
