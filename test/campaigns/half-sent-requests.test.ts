/**
 * Thousands of connections that never send a whole request: a neighbour is served beside them from another address,
 * and from the same one, as behind a proxy; health answers on its own port. The daemon, the flood and the neighbour
 * are three processes. SVC_FAULTS=full runs the 5,100 connections that once took all of a daemon's.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { beginFlood } from '../kit/connection-flood.ts'
import { type SpawnedDaemon, spawnDaemon, urlOf } from '../kit/daemon.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { besideFlood, expectSpared } from '../kit/neighbour.ts'

const full = process.env['SVC_FAULTS'] === 'full'
const connections = full ? 5_100 : 300
/** The daemon's own bound: it lies below the flood in both forms. */
const bound = full ? 5_000 : 250
const calls = full ? 600 : 60

let db: TestDatabase
let daemon: SpawnedDaemon
let port: number
let healthPort: number
const folder = mkdtempSync(join(tmpdir(), 'svc-half-sent-'))

beforeAll(async () => {
  db = await testDatabase()
  await createKeyring(join(folder, 'keyring.json'))
  healthPort = await freePort()
  daemon = await spawnDaemon({
    SVC_DATABASE_URL: urlOf(db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(db.owner),
    SVC_DATA_DIR: folder,
    SVC_KEYRING_FILE: join(folder, 'keyring.json'),
    SVC_PORT: '0',
    SVC_SOURCE_RATE: '0', // the neighbour brings no token, and calls faster than strangers may
    SVC_HEALTH_PORT: String(healthPort),
    SVC_CONNECTIONS: String(bound),
    SVC_LOG_LEVEL: 'error',
  })
  port = Number(new URL(daemon.address).port)
})
afterAll(async () => {
  daemon.process.kill('SIGKILL')
  await daemon.ended
  await db.drop()
  rmSync(folder, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: free } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return free
}

/** A call on a connection of its own, which the daemon has to let in each time; answers its status. */
const callFrom = (source: string, to: number, path: string) => (): Promise<number> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: to, localAddress: source, path, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })

const flooder = '127.0.0.3'
const header = 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Half: '
const body =
  'POST /api/v1/auth/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{'

const [neighbour, behindOneProxy] = ['127.0.0.2', flooder]
const floods: [string, { begin: string; dripMs?: number }, string][] = [
  ['half a header', { begin: header }, neighbour],
  ['half a body, behind the same proxy', { begin: body }, behindOneProxy],
  ['half a body', { begin: body }, neighbour],
  ['half a header and a byte every five seconds', { begin: header, dripMs: 5_000 }, neighbour],
  ['half a header, behind the same proxy', { begin: header }, behindOneProxy],
]

test.each(full ? floods : floods.slice(0, 2))(
  `%s on each of ${connections} connections spares a neighbour`,
  async (name, plan, source) => {
    const call = callFrom(source, port, '/api/v1/auth/sign-in-rules?workspace=nobody')
    const wanted = await call()
    const felt = await besideFlood(name, { call, wanted, calls, restMs: full ? 20 : 10 }, () =>
      beginFlood({ port, connections, source: flooder, ...plan }),
    )
    if (full) expectSpared(felt, 5)
    else expect(felt.beside.refused).toEqual({})
  },
)

test('health answers on its own port, whatever the flood is sent to', async () => {
  const health = callFrom(neighbour, healthPort, '/healthz')
  for (const to of [port, healthPort]) {
    const felt = await besideFlood(
      `health beside a flood of ${to === port ? 'the API' : 'its own port'}`,
      { call: health, wanted: 200, calls },
      () => beginFlood({ port: to, connections, source: flooder, begin: header }),
    )
    expect(felt.beside.refused).toEqual({})
  }
})
