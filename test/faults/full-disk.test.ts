/**
 * F-07: PostgreSQL's disk, of 80 MB, fills up while workspaces are provisioned. The daemon
 * stays up and answers 503 and nothing else; what it acknowledged is there afterwards; and
 * once there is space and PostgreSQL was started again it serves within 10 s by itself.
 *
 *     SVC_FAULTS=full vitest run test/faults/full-disk.test.ts    3 rounds instead of 1
 */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type OwnCluster, ownCluster } from '../kernel/database/own-cluster.ts'
import { type SpawnedDaemon, spawnDaemon } from '../kit/daemon.ts'
import { mountDisk } from '../kit/disk.ts'
import { password, provisionBody, type TestInstallation, testInstallation } from '../kit/installation.ts'
import { migratedDatabase } from '../kit/migrated-database.ts'

const rounds = process.env['SVC_FAULTS'] === 'full' ? 3 : 1
const diskMebibytes = 80
const longestMs = 10_000
const callers = 4

const disk = mountDisk(diskMebibytes)

let cluster: OwnCluster
let own: TestInstallation
let daemon: SpawnedDaemon
let sql: postgres.Sql
let token: string

beforeAll(async () => {
  if (disk === undefined) return
  chmodSync(disk.folder, 0o711)
  const small = { max_wal_size: '8MB', min_wal_size: '2MB', checkpoint_timeout: '30s' } // fsync stays on: that is what is acknowledged
  cluster = await ownCluster(small, { below: disk.folder, segmentMebibytes: 1 })
  const at = await migratedDatabase(cluster)
  sql = at.sql
  own = await testInstallation({ at, poolSize: 4 })
  token = await operatorToken()
  daemon = await spawnDaemon({ ...own.env, SVC_PORT: '0', SVC_LOG_LEVEL: 'fatal' })
  expect(daemon.address, daemon.stderr()).not.toBe('')
}, 120_000)

afterAll(async () => {
  if (disk === undefined) return
  daemon?.process.kill('SIGTERM')
  await daemon?.ended
  await own?.close()
  await sql?.end({ timeout: 1 })
  await cluster?.remove()
  disk.remove()
})

async function operatorToken(): Promise<string> {
  const { tenant, account_id } = await own.asRecovery(operations.setUpInstallation, {
    body: {
      set_up_token: 'not asked for',
      workspace: { slug: 'first', display_name: 'First' },
      owner: { email: 'ops@first.example', display_name: 'Olive', password },
    },
  })
  const { token: text, hash, last4 } = mintToken('personal')
  await sql`
    insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes, expires_at)
    values (${tenant.id}, ${randomUUIDv7()}, ${account_id}, 'PERSONAL', ${hash}, ${last4}, 'ops', 'admin:tenants', now() + interval '1 day')`
  return text
}

const isHealthy = async () => (await fetch(`${daemon.address}/healthz`)).status

test.runIf(disk !== undefined)(
  `${rounds} times the disk fills up: 503 only, nothing acknowledged is lost, and it comes back`,
  async () => {
    const acknowledged = new Set<string>()
    const answers = new Map<string, number>()
    let refused = 0
    let lastDoneAt = 0
    let going = true
    const provision = async () => {
      const body = provisionBody()
      const said = await fetch(`${daemon.address}/api/v1/admin/tenants`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
        },
        body: JSON.stringify(body),
      }).then(
        async (response) => {
          await response.arrayBuffer()
          return String(response.status)
        },
        (error: Error) => `no answer: ${error.message}`,
      )
      answers.set(said, (answers.get(said) ?? 0) + 1)
      if (said === '201') {
        acknowledged.add(body.slug)
        lastDoneAt = performance.now()
      }
      if (said === '503') {
        refused += 1
        await pause(20)
      }
    }
    const calling = Array.from({ length: callers }, async () => {
      while (going) await provision()
    })
    const until = async (holds: () => boolean) => {
      while (!holds()) await pause(10)
    }

    for (let round = 1; round <= rounds; round += 1) {
      const wanted = acknowledged.size + 20
      await until(() => acknowledged.size >= wanted)
      disk?.fill()
      const refusedBefore = refused
      await until(() => refused >= refusedBefore + 50)
      expect(await isHealthy()).toBe(200)
      expect(daemon.process.exitCode).toBeNull()
      expect(disk?.free(), 'nothing else made room').toBeLessThan(100)

      disk?.makeRoom()
      if (cluster.hasEnded()) await cluster.start() // as whoever supervises it does
      const freeAt = performance.now()
      await until(() => lastDoneAt > freeAt)
      const backMs = Math.round(lastDoneAt - freeAt)
      process.stderr.write(
        `  round ${round}: ${acknowledged.size} acknowledged, ${refused} refused, back after ${backMs} ms\n`,
      )
      expect(backMs).toBeLessThan(longestMs)
    }
    going = false
    await Promise.all(calling)

    expect([...answers.keys()].sort()).toEqual(['201', '503'])
    const rows = await sql<{ slug: string }[]>`select slug from tenant`
    const there = new Set(rows.map(({ slug }) => slug))
    expect([...acknowledged].filter((slug) => !there.has(slug))).toEqual([])
  },
  600_000,
)
