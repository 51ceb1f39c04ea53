/**
 * One workspace sends 250 creates at once, again and again; another one's calls are served as
 * before: none is refused. SVC_FAULTS=full runs the long form, which also holds their median
 * against three times what it was alone.
 */
import { randomUUIDv7 } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SpawnedDaemon, spawnDaemon, type TestDaemon, testDaemon, urlOf } from '../kit/daemon.ts'
import { beginFlood } from '../kit/flood.ts'
import { besideFlood, expectSpared } from '../kit/neighbour.ts'
import { type Person, person, setUp, workspace } from '../kit/people.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const atOnce = 250
const calls = isFull ? 400 : 40

let prepared: TestDaemon
let daemon: SpawnedDaemon
let flooder: Person
let neighbour: Person
let floodedId: string
let ownId: string
beforeAll(async () => {
  prepared = await testDaemon()
  const { tenantId } = await setUp(prepared)
  const otherId = await workspace(prepared, 'neighbour')
  const soon = { expires: "now() + interval '1 day'" }
  flooder = await person(prepared, tenantId, soon)
  neighbour = await person(prepared, otherId, soon)
  const { sql } = prepared.db
  for (const id of [tenantId, otherId])
    for (const quota of ['api_requests_per_minute', 'items'])
      await sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${id}, ${quota}, 0)`
  floodedId = await collection(flooder, 'Flooded')
  ownId = await collection(neighbour, 'Own')
  daemon = await spawnDaemon({
    SVC_DATABASE_URL: urlOf(prepared.db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(prepared.db.owner),
    SVC_DATA_DIR: prepared.config.dataDir,
    SVC_KEYRING_FILE: prepared.config.keyringFile,
    SVC_LEDGER_FILE: `${prepared.config.ledgerFile}.flooded`,
    SVC_PORT: '0',
    SVC_LOG_LEVEL: 'fatal',
  })
})
afterAll(async () => {
  daemon.process.kill('SIGKILL')
  await daemon.ended
  await prepared.close()
})

async function collection({ token, tenantId }: Person, name: string): Promise<string> {
  const { sql } = prepared.db
  const [hub] = await sql<{ id: string }[]>`select id from container where tenant_id = ${tenantId} and kind = 'HUB'`
  const hubId = hub?.id ?? (await made(token, { kind: 'HUB', name: 'Hub' }))
  return made(token, { kind: 'COLLECTION', parent_id: hubId, name: `${name} ${randomUUIDv7()}` })
}

async function made(token: string, body: object): Promise<string> {
  const { status, json } = await prepared.call('POST', '/api/v1/containers', { token, body })
  expect(status).toBe(201)
  return json.id
}

const items = (containerId: string, title: string) => ({ container_id: containerId, title })

/** 250 creates of one workspace at once, from another process. */
const flood = () =>
  beginFlood({
    daemon: daemon.address,
    connections: atOnce,
    path: '/api/v1/items',
    token: flooder.token,
    bodies: [JSON.stringify(items(floodedId, 'One of many'))],
  })

function call(method: string, path: string, body?: object): Promise<number> {
  const text = body === undefined ? '' : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(`${daemon.address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${neighbour.token}`,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.end(text)
  })
}

const kinds = [
  ['reads', 200, () => call('GET', `/api/v1/items?container_id=${ownId}&size=10`)],
  ['creates', 201, () => call('POST', '/api/v1/items', items(ownId, 'Mine'))],
] as const

test.each(kinds)(
  `another workspace's %s beside ${atOnce} creates at once: none refused`,
  async (name, wanted, one) => {
    const felt = await besideFlood(`${name} beside a flooding workspace`, { call: one, wanted, calls }, flood)
    expect(felt.beside.refused).toEqual({})
    if (isFull) expectSpared(felt)
  },
  300_000,
)
