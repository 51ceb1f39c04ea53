/**
 * Anonymous floods of what costs most to read: a neighbour is served as before.
 *
 * The daemon and each flood are processes of their own. The short form asserts that the neighbour
 * is answered and the flood refused; SVC_FAULTS=full holds the neighbour's median to three times
 * what it is alone, and prints both. Spec: decisions 7, Bounds at the door.
 */
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SpawnedDaemon, spawnDaemon, type TestDaemon, testDaemon, urlOf } from '../kit/daemon.ts'
import { beginFlood, type FloodOfCalls } from '../kit/flood.ts'
import type { FloodOrder } from '../kit/flood-process.ts'
import { besideFlood, expectSpared } from '../kit/neighbour.ts'
import { type Person, person, setUp } from '../kit/people.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const calls = isFull ? 1_000 : 30

let home: TestDaemon
let daemon: SpawnedDaemon
let port: number
let owner: Person
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

beforeAll(async () => {
  home = await testDaemon()
  const { tenantId } = await setUp(home)
  owner = await person(home, tenantId)
  await home.db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
  daemon = await spawnDaemon({
    SVC_DATABASE_URL: urlOf(home.db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(home.db.owner),
    SVC_DATA_DIR: home.config.dataDir,
    SVC_KEYRING_FILE: home.config.keyringFile,
    SVC_PORT: '0',
    SVC_LOG_LEVEL: 'fatal',
    SVC_LEDGER_FILE: `${home.config.ledgerFile}.flooded`,
  })
  port = Number(new URL(daemon.address).port)
})
afterAll(async () => {
  agent.destroy()
  daemon.process.kill()
  await daemon.ended
  await home.close()
})

const ask = () =>
  new Promise<number>((resolve, reject) => {
    const headers = { authorization: `Bearer ${owner.token}` }
    request({ agent, port, host: '127.0.0.1', path: '/api/v1/accounts/me', headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    })
      .once('error', reject)
      .end()
  })

const kib = 1024
const members = { open: '{', unit: '"m#":1', close: '}' }
const ones = { open: '[', unit: '1', close: ']' }
const names = (count: number) => Array.from({ length: count }, (_, at) => at.toString(36)).join('&')
const signIn = { method: 'POST', path: '/api/v1/auth/sessions' }

/** What is sent, and every answer that the flood may get (429 where its source has had its rate); a connection that is closed under a body counts by its error. */
const floods: readonly [string, Pick<FloodOrder, 'path'> & Partial<FloodOrder>, readonly string[]][] = [
  ['nothing but /healthz', { method: 'GET', path: '/healthz' }, ['200']],
  [
    '100,000 unknown members in 1 MiB',
    { ...signIn, bodies: [{ ...members, bytes: 1024 * kib }] },
    ['413', 'ECONNRESET', 'EPIPE'],
  ],
  ['1 MiB of ones', { ...signIn, bodies: [{ ...ones, bytes: 1024 * kib }] }, ['413', 'ECONNRESET', 'EPIPE']],
  ['64 KiB of ones', { ...signIn, bodies: [{ ...ones, bytes: 64 * kib }] }, ['400']],
  ['as many unknown members as are read', { ...signIn, bodies: [{ ...members, bytes: 8_000 }] }, ['422', '429']],
  [
    '64 KiB of one text',
    { ...signIn, bodies: [{ open: '{"a":"', unit: 'xxxxxxx', close: '"}', bytes: 64 * kib - 20 }] },
    ['422', '429'],
  ],
  [
    '256 KiB of ones to where somebody must be known',
    { method: 'POST', path: '/api/v1/items', bodies: [{ ...ones, bytes: 256 * kib }] },
    ['413', 'ECONNRESET', 'EPIPE'],
  ],
  ['3,500 names in a query', { method: 'GET', path: `/api/v1/meta/problems?${names(3_500)}` }, ['400']],
  ['the document of the API', { method: 'GET', path: '/api/v1/openapi.json' }, ['200']],
]

test.each(floods)('%s', async (name, order, expected) => {
  let flood: FloodOfCalls | undefined
  const felt = await besideFlood(name, { call: ask, wanted: 200, calls }, async () => {
    flood = await beginFlood({ daemon: daemon.address, ...order })
    return flood
  })
  expect(felt.beside.refused).toEqual({})
  expect(Object.keys(flood?.answers ?? {}).filter((status) => !expected.includes(status))).toEqual([])
  expect(Object.keys(flood?.answers ?? {}).length).toBeGreaterThan(0)
  if (isFull) expectSpared(felt)
})
