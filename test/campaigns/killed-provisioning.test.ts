/**
 * PostgreSQL is killed while workspaces are provisioned by Idempotency-Key: each is made
 * exactly once, none in part, and the installation comes back by itself. Threats F-02.
 * SVC_FAULTS=full runs the long form.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { hashToken } from '../../src/core/kernel/values/token.ts'
import { type OwnCluster, ownCluster } from '../kernel/database/own-cluster.ts'
import { watchProcess } from '../kernel/database/two-workspaces.ts'
import { provisionBody, type TestInstallation, testInstallation } from '../kit/installation.ts'
import { migratedDatabase } from '../kit/migrated-database.ts'

const kills = process.env['SVC_FAULTS'] === 'full' ? 60 : 10
/** Between two kills; 60 kills of the long form make at least 5,000. */
const between = process.env['SVC_FAULTS'] === 'full' ? 85 : 15
const workers = 6

let cluster: OwnCluster
let own: TestInstallation
beforeAll(async () => {
  cluster = await ownCluster() // fsync stays on: that is what is acknowledged
  const at = await migratedDatabase(cluster)
  own = await testInstallation({ at, poolSize: 4 })
})
afterAll(async () => {
  await own.close()
  await own.oracle.end({ timeout: 1 })
  await cluster.remove()
})

test(`${kills} times SIGKILL while ${workers} provision`, async () => {
  const watched = watchProcess()
  /** What was answered, by slug. */
  const answered = new Map<string, { readonly id: string; readonly token: string }>()
  const strange: unknown[] = []
  let retries = 0
  let going = true

  const provisionOne = async () => {
    const sent = { body: provisionBody(), idempotencyKey: randomUUID() }
    while (strange.length === 0) {
      try {
        const { tenant, redemption_token } = await own.asRecovery(operations.provisionTenant, sent)
        answered.set(tenant.slug, { id: tenant.id, token: redemption_token })
        return
      } catch (error) {
        const { name, code } = error as { name: string; code?: string }
        retries += 1
        if (name !== 'DatabaseUnavailable' && code !== 'service.unavailable' && code !== 'idempotency.in_progress')
          strange.push(error)
        await pause(10)
      }
    }
  }
  const work = async () => {
    while (going && strange.length === 0) await provisionOne()
  }

  const working = Array.from({ length: workers }, work)
  for (let kill = 0; kill < kills; kill += 1) {
    const wanted = answered.size + between
    while (answered.size < wanted && strange.length === 0) await pause(2)
    await cluster.killAndRestart()
  }
  const wanted = answered.size + between // after the last kill it goes on by itself
  while (answered.size < wanted && strange.length === 0) await pause(2)
  going = false
  await Promise.all(working)
  watched.stop()

  expect(strange).toEqual([])
  expect(watched.uncaught).toEqual([])
  expect(retries).toBeGreaterThan(0)
  await expectEachOnceAndWhole(answered)
}, 1_200_000)

async function expectEachOnceAndWhole(answered: ReadonlyMap<string, { id: string; token: string }>): Promise<void> {
  const rows = await own.oracle<{ id: string; slug: string; hash: string; parts: string }[]>`
    select t.id, t.slug, (select encode(hash, 'hex') from invitation i where i.tenant_id = t.id) as hash,
           concat_ws(' ',
             (select count(*) from container x where x.tenant_id = t.id), (select count(*) from bucket x where x.tenant_id = t.id),
             (select count(*) from label x where x.tenant_id = t.id), (select count(*) from account x where x.tenant_id = t.id),
             (select count(*) from membership x where x.tenant_id = t.id), (select count(*) from invitation x where x.tenant_id = t.id),
             (select count(*) from audit_entry x where x.tenant_id = t.id), (select count(*) from outbox_event x where x.tenant_id = t.id),
             (select count(*) from journal x where x.workspace_id = t.id), (select count(*) from pgboss.job x where x.data->>'tenantId' = t.id::text)
           ) as parts
    from tenant t`
  const found = new Map(rows.map((row) => [row.slug, { id: row.id, hash: row.hash }]))
  const expected = new Map(
    [...answered].map(([slug, { id, token }]) => [slug, { id, hash: hashToken(token).toString('hex') }]),
  )
  expect(rows).toHaveLength(answered.size)
  expect(found).toEqual(expected)
  expect([...new Set(rows.map(({ parts }) => parts))]).toEqual(['2 3 4 1 1 1 1 11 1 1'])
  expect(await own.oracle`select 1 from idempotency_record`).toHaveLength(answered.size)
}
