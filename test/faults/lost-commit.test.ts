/**
 * The commit was applied and its answer lost: a retry under the same key is answered what
 * the first one was. Threats T-10, F-03. SVC_FAULTS=full runs the long form.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { hashToken } from '../../src/core/kernel/values/token.ts'
import { type PacketProxy, packetProxy } from '../kernel/database/packet-proxy.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { provisionBody, type TestInstallation, testInstallation } from '../kit/installation.ts'

const cuts = process.env['SVC_FAULTS'] === 'full' ? 5_000 : 100

let database: TestDatabase
let proxy: PacketProxy
let own: TestInstallation
beforeAll(async () => {
  database = await testDatabase()
  proxy = await packetProxy(database.daemon)
  own = await testInstallation({ at: { owner: database.owner, daemon: proxy.address, sql: database.sql }, poolSize: 2 })
  await own.provision() // the queue is connected
})
afterAll(async () => {
  await own.close()
  await proxy.close()
  await database.drop()
})

const { provisionTenant } = operations
const noPacket = 'no packet has this text'

test(`${cuts} lost answers to a commit: no second workspace, and every retry replays`, async () => {
  for (let cut = 0; cut < cuts; cut += 1) {
    const sent = { body: provisionBody(), idempotencyKey: randomUUID() }
    proxy.sent()
    proxy.cutAnswerTo('Q\0\0\0\x0bcommit\0')
    await expect(own.asRecovery(provisionTenant, sent)).rejects.toMatchObject({ name: 'DatabaseUnavailable' })
    expect(proxy.sent().filter((packet) => packet.endsWith('commit\0'))).toHaveLength(1)
    proxy.cutAnswerTo(noPacket)

    const committed = await own.oracle<{ id: string; hash: Buffer }[]>`
      select t.id, i.hash from tenant t join invitation i on i.tenant_id = t.id where t.slug = ${sent.body.slug}`
    expect(committed).toHaveLength(1)
    const replayed = await own.asRecovery(provisionTenant, sent)
    expect(replayed.tenant.id).toBe(committed[0]!.id)
    expect(hashToken(replayed.redemption_token)).toEqual(committed[0]!.hash)
    expect(await own.oracle`select 1 from journal where workspace_id = ${replayed.tenant.id}`).toHaveLength(1)
  }
}, 1_800_000)
