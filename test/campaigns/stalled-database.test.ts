/**
 * PostgreSQL is frozen, its sessions with it, under a load of writers and readers: no call
 * waits for more than 8 s, `/readyz` says so within 2 s and `/healthz` goes on; afterwards the
 * daemon serves and works by itself, and what was acknowledged is there, once.
 * SVC_FAULTS=full freezes it for 25 and for 70 s.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { type OwnCluster, ownCluster } from '../kernel/database/own-cluster.ts'
import { type SpawnedDaemon, spawnDaemon, urlOf } from '../kit/daemon.ts'

const stallSeconds = process.env['SVC_FAULTS'] === 'full' ? [25, 70] : [9]
const writers = 16
const readers = 8
const longest = { callMs: 8_000, readyMs: 2_000, healthMs: 1_000, recoveryMs: 10_000 }
const email = 'owner@stalled.example'

let cluster: OwnCluster
let folder: string
let daemon: SpawnedDaemon
let session: string
let containerId: string
const agent = new Agent({ keepAlive: true, maxSockets: 256, timeout: 1_000 })

beforeAll(async () => {
  cluster = await ownCluster({ fsync: 'off' })
  const [owner, login] = [cluster.address('svc_owner'), cluster.address('svc_daemon')]
  await cluster.migrate()
  folder = mkdtempSync(join(tmpdir(), 'svc-stalled-'))
  await createKeyring(join(folder, 'keyring.json'))
  daemon = await spawnDaemon({
    SVC_DATABASE_URL: urlOf(login),
    SVC_DATABASE_OWNER_URL: urlOf(owner),
    SVC_DATA_DIR: folder,
    SVC_KEYRING_FILE: join(folder, 'keyring.json'),
    SVC_SETUP_TOKEN: 'a-token-for-the-tests',
    SVC_PORT: '0',
    SVC_LOG_LEVEL: 'fatal',
  })
  const set = await call('POST', '/api/v1/auth/installation:set-up', {
    body: {
      set_up_token: 'a-token-for-the-tests',
      workspace: { slug: 'stalled', display_name: 'Stalled' },
      owner: { email, display_name: 'Olga', password: 'correct horse battery' },
    },
  })
  expect(set.status).toBe(201)
  session = set.json.session.access_token
  await cluster.superuser`
    insert into tenant_quota (tenant_id, quota, ceiling) values (${set.json.tenant.id}, 'api_requests_per_minute', 0)`
  const [hub] = (await call('GET', '/api/v1/containers')).json.data
  const made = await call('POST', '/api/v1/containers', {
    body: { kind: 'COLLECTION', parent_id: hub.id, name: 'Stalled' },
  })
  expect(made.status).toBe(201)
  containerId = made.json.id
})
afterAll(async () => {
  cluster.thaw()
  daemon.process.kill('SIGKILL')
  await daemon.ended
  agent.destroy()
  await cluster.remove()
  rmSync(folder, { recursive: true, force: true })
})

interface Called {
  readonly status: number
  readonly ms: number
  readonly retryAfter: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
  readonly json: any
}

function call(method: string, path: string, { body, key }: { body?: object; key?: string } = {}): Promise<Called> {
  const begun = performance.now()
  const text = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(`${daemon.address}${path}`, {
      agent,
      method,
      headers: {
        ...(session === undefined ? {} : { authorization: `Bearer ${session}` }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          ms: performance.now() - begun,
          retryAfter: response.headers['retry-after'],
          json: JSON.parse(Buffer.concat(chunks).toString('utf8') || 'null'),
        }),
      )
    })
    sent.end(text)
  })
}

/** Calls until it is told to stop; answers all that came. */
async function during(isOver: () => boolean, once: () => Promise<Called>, restMs: number): Promise<Called[]> {
  const all: Called[] = []
  while (!isOver()) {
    all.push(await once())
    await pause(restMs)
  }
  return all
}

const slowest = (calls: readonly Called[]) => Math.max(...calls.map(({ ms }) => ms))
const beatOf = () => {
  const [file] = readdirSync(join(folder, 'witness')).filter((name) => name.endsWith('.json'))
  return (JSON.parse(readFileSync(join(folder, 'witness', file!), 'utf8')) as { beat: number }).beat
}

test.each(stallSeconds)(
  'frozen for %i s under load: bounded, honest, and as before afterwards',
  async (seconds) => {
    let isOver = false
    const acknowledged: string[] = []
    /** One item; the same key is sent until it is taken. */
    const writer = async (): Promise<Called[]> => {
      const all: Called[] = []
      while (!isOver) {
        const [key, title] = [randomUUID(), `stalled ${randomUUID()}`]
        for (let taken = false; !taken && !isOver; ) {
          const answer = await call('POST', '/api/v1/items', { body: { container_id: containerId, title }, key })
          all.push(answer)
          taken = answer.status === 201
          if (taken) acknowledged.push(title)
          else await pause(100)
        }
        await pause(20)
      }
      return all
    }
    const reading = () => call('GET', `/api/v1/items?container_id=${containerId}&size=5`)
    const load = Promise.all([
      ...Array.from({ length: writers }, writer),
      ...Array.from({ length: readers }, () => during(() => isOver, reading, 20)),
    ])
    await pause(1_000)

    const before = acknowledged.length
    await cluster.freeze()
    let isFrozen = true
    const ready = during(
      () => !isFrozen,
      () => call('GET', '/readyz'),
      200,
    )
    const health = during(
      () => !isFrozen,
      () => call('GET', '/healthz'),
      50,
    )
    await pause(seconds * 1_000)
    const inStall = acknowledged.length - before
    isFrozen = false
    const [readiness, healthiness] = await Promise.all([ready, health])
    const thawed = performance.now()
    cluster.thaw()
    while ((await call('GET', '/readyz')).status !== 200) await pause(50)
    for (let inARow = 0; inARow < 10; ) inARow = (await reading()).status === 200 ? inARow + 1 : 0
    const recovery = performance.now() - thawed
    const beat = beatOf()
    await pause(2_000)
    isOver = true
    const calls = (await load).flat()

    const told = new Map<number, number>()
    for (const { status } of calls) told.set(status, (told.get(status) ?? 0) + 1)
    process.stdout.write(
      `frozen for ${seconds} s: ${calls.length} calls, the slowest ${Math.round(slowest(calls))} ms, ${JSON.stringify(Object.fromEntries(told))}; ` +
        `${acknowledged.length} acknowledged (${inStall} while frozen); /readyz ${Math.round(slowest(readiness))} ms of ${readiness.length}, ` +
        `/healthz ${Math.round(slowest(healthiness))} ms of ${healthiness.length}; served again after ${Math.round(recovery)} ms\n`,
    )
    expect(slowest(calls)).toBeLessThan(longest.callMs)
    expect(calls.filter(({ status }) => ![200, 201, 503].includes(status)).map(({ json }) => json)).toEqual([])
    expect(calls.filter(({ status, retryAfter }) => status === 503 && !(Number(retryAfter) > 0))).toEqual([])
    expect(slowest(readiness)).toBeLessThan(longest.readyMs)
    // The first may have been asked in the moment before.
    expect(readiness.slice(1).filter(({ status }) => status !== 503)).toEqual([])
    expect(JSON.stringify(readiness.map(({ json }) => json))).toContain('no answer within 1.5 s')
    expect(healthiness.filter(({ status }) => status !== 200)).toEqual([])
    expect(slowest(healthiness)).toBeLessThan(longest.healthMs)
    expect(recovery).toBeLessThan(longest.recoveryMs)

    // What was acknowledged is there; and nothing twice, acknowledged or not.
    const rows = await cluster.superuser<{ title: string; n: number }[]>`
      select title, count(*)::int as n from item where title like 'stalled %' group by title`
    const found = new Set(rows.map(({ title }) => title))
    expect(acknowledged.filter((title) => !found.has(title))).toEqual([])
    expect(rows.filter(({ n }) => n !== 1)).toEqual([])

    // What works in the background goes on by itself: the witness beats, the worker takes jobs.
    await expect.poll(beatOf, { timeout: 10_000 }).toBeGreaterThan(beat)
    const mails = () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.eml'))
    const sent = mails().length
    await expect
      .poll(() => call('POST', '/api/v1/auth/password:forgot', { body: { workspace: 'stalled', email } }), {
        timeout: 10_000,
      })
      .toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) })
    await expect.poll(() => mails().length, { timeout: 20_000 }).toBeGreaterThan(sent)
  },
  240_000,
)
