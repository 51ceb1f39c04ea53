/**
 * A flood of sign-ins beside three neighbours: one who is signed in and steps up, one who signs in from another
 * address, one who reads. With the rates of sources and, so that the turns are seen by themselves, without them.
 * SVC_FAULTS=full holds each median against three times what it was alone; the short form, that none is refused.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SpawnedDaemon, spawnDaemon, type TestDaemon, testDaemon, urlOf } from '../kit/daemon.ts'
import { beginFlood } from '../kit/flood.ts'
import { type Source, source } from '../kit/from-source.ts'
import { besideFlood, expectSpared, type Neighbour } from '../kit/neighbour.ts'
import { type Home, setUp, workspace } from '../kit/people.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const calls = isFull ? 200 : 6
const connections = 64

let home: TestDaemon
let owner: Home
beforeAll(async () => {
  home = await testDaemon()
  owner = await setUp(home)
  await workspace(home, 'other')
  await home.db.sql`insert into tenant_quota values (${owner.tenantId}, 'api_requests_per_minute', 0)`
})
afterAll(() => home.close())

const guess = (slug: string) => JSON.stringify({ workspace: slug, email: 'nobody-#@home.example', password: 'a guess' })

describe.each([
  ['with the rates of sources', '1'],
  ['by turns alone', '0'],
])('%s', (form, rate) => {
  let daemon: SpawnedDaemon
  const sources: Source[] = []
  beforeAll(async () => {
    daemon = await spawnDaemon({
      SVC_DATABASE_URL: urlOf(home.db.daemon),
      SVC_DATABASE_OWNER_URL: urlOf(home.db.owner),
      SVC_DATA_DIR: home.config.dataDir,
      SVC_KEYRING_FILE: home.config.keyringFile,
      SVC_LEDGER_FILE: `${home.config.ledgerFile}.${rate}`,
      SVC_LOG_LEVEL: 'error',
      SVC_PORT: '0',
      SVC_SOURCE_RATE: rate,
    })
  })
  afterAll(async () => {
    for (const one of sources) one.close()
    daemon.process.kill('SIGKILL')
    await daemon.ended
  })

  function from(address: string): Source {
    const opened = source(daemon.address, address, 1)
    sources.push(opened)
    return opened
  }

  const right = () => JSON.stringify({ workspace: 'home', email: owner.email, password: owner.password })
  const flood = () =>
    beginFlood({
      daemon: daemon.address,
      from: '127.0.0.2',
      connections,
      path: '/api/v1/auth/sessions',
      bodies: [guess('home'), guess('other'), guess('unknown-#'), right()],
    })

  async function spared(name: string, neighbour: Omit<Neighbour, 'calls'>): Promise<void> {
    const { alone, beside } = await besideFlood(`${name}, ${form}`, { ...neighbour, calls }, flood)
    if (isFull) expectSpared({ alone, beside })
    else expect(beside.refused).toEqual({})
  }

  test('who is signed in steps up', () => {
    const by = from('127.0.0.4')
    const body = { password: owner.password }
    const call = async () => (await by.post('/auth/step-up', body, { token: owner.session })).status
    return spared('step-up', { call, wanted: 201 })
  }, 120_000)

  test('a stranger from elsewhere signs in', () => {
    // Each from an address of its own, as people do; the flood is one address.
    let asked = 0
    const call = async () => {
      asked += 1
      const by = source(daemon.address, `127.0.${1 + Math.floor(asked / 250)}.${1 + (asked % 250)}`, 1)
      const { status } = await by.post('/auth/sessions', JSON.parse(right()))
      by.close()
      return status
    }
    return spared('sign-in', { call, wanted: 201 })
  }, 120_000)

  test('who reads reads', () => {
    const by = from('127.0.0.5')
    const call = async () => (await by.get('/accounts/me', { token: owner.session })).status
    return spared('read', { call, wanted: 200 })
  }, 120_000)
})
