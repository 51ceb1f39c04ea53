/** The daemon as a process: how it starts, what it prints, how it ends. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isServed } from '../../src/core/kernel/database/serving.ts'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { type SpawnedDaemon, spawnDaemon, urlOf } from '../kit/daemon.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'

let db: TestDatabase
let folder: string
let env: NodeJS.ProcessEnv
const started: SpawnedDaemon[] = []

beforeAll(async () => {
  db = await testDatabase()
  folder = mkdtempSync(join(tmpdir(), 'svc-process-'))
  await createKeyring(join(folder, 'keyring.json'))
  env = {
    SVC_DATABASE_URL: urlOf(db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(db.owner),
    SVC_DATA_DIR: folder,
    SVC_KEYRING_FILE: join(folder, 'keyring.json'),
    SVC_PORT: '0',
  }
})
afterAll(async () => {
  for (const { process } of started) process.kill('SIGKILL')
  await db.drop()
  rmSync(folder, { recursive: true, force: true })
})

async function start(overrides: NodeJS.ProcessEnv = {}): Promise<SpawnedDaemon> {
  const daemon = await spawnDaemon({ ...env, ...overrides })
  started.push(daemon)
  return daemon
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

describe('a start that fails says so in one line', () => {
  test.each<[string, NodeJS.ProcessEnv, number, RegExp]>([
    ['a wrong setting', { SVC_PORT: 'eighty' }, 2, /SVC_PORT/],
    ['a keyring that is not there', { SVC_KEYRING_FILE: '/nowhere/keyring.json' }, 2, /\/nowhere\/keyring\.json/],
    ['an address that is not ours', { SVC_HOST: '192.0.2.1' }, 2, /192\.0\.2\.1/],
    [
      'a database that is not there',
      { SVC_DATABASE_URL: 'postgres://u@127.0.0.1:1/x', SVC_DATABASE_OWNER_URL: 'postgres://u@127.0.0.1:1/x' },
      7,
      /127\.0\.0\.1:1/,
    ],
    [
      'a database URL with a password in it',
      { SVC_DATABASE_URL: 'postgres://nobody:sEcReT-canary@127.0.0.1:1/x' },
      7,
      /./,
    ],
  ])('%s', async (_, overrides, code, says) => {
    const daemon = await start(overrides)
    expect(await daemon.ended).toBe(code)
    expect(daemon.stdout()).toBe('')
    expect(linesOf(daemon.stderr())).toHaveLength(1)
    expect(daemon.stderr()).toMatch(says)
    expect(daemon.stderr()).not.toMatch(/sEcReT-canary|\n\s+at /)
  })

  test('a keyring that others can read', async () => {
    const path = join(folder, 'open.json')
    writeFileSync(path, '{}', { mode: 0o644 })
    const daemon = await start({ SVC_KEYRING_FILE: path })
    expect(await daemon.ended).toBe(2)
    expect(linesOf(daemon.stderr())).toHaveLength(1)
  })

  test('a port in use', async () => {
    const first = await start()
    const second = await start({ SVC_PORT: new URL(first.address).port })
    expect(await second.ended).toBe(1)
    expect(linesOf(second.stderr())).toEqual([expect.stringContaining('is in use')])
    first.process.kill('SIGTERM')
    expect(await first.ended).toBe(0)
  })
})

describe('a life', () => {
  test('keeps a set-up token in a file until it is set up, says where it listens, and drains on SIGTERM', async () => {
    const first = await start()
    const [tokenLine, listening, ...more] = linesOf(first.stdout())
    const [, file = ''] = /^set-up token in (\S+) /.exec(tokenLine ?? '') ?? []
    const token = readFileSync(file, 'utf8').trim()
    expect([token, statSync(file).mode & 0o777]).toEqual([expect.stringMatching(/^svci_[0-9A-Za-z]{49}$/), 0o600])
    expect(first.stdout() + first.stderr()).not.toContain(token)
    expect(listening).toMatch(/^listening on http:\/\/127\.0\.0\.1:[0-9]+$/)
    expect(more).toEqual([])
    expect(await isServed(db.daemon)).toBe(true)

    const answer = await fetch(`${first.address}/api/v1/auth/installation:set-up`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        set_up_token: token,
        workspace: { slug: 'home', display_name: 'Home' },
        owner: { email: 'olga@home.example', display_name: 'Olga', password: 'correct horse battery' },
      }),
    })
    expect(answer.status).toBe(201)

    first.process.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    expect(await isServed(db.daemon)).toBe(false)

    const second = await start()
    expect(linesOf(second.stdout())).toEqual([`listening on ${second.address}`])
    expect(existsSync(file)).toBe(false)
    second.process.kill('SIGINT')
    expect(await second.ended).toBe(130)
  })

  test('a request in flight is answered before it ends, and the connection is closed behind it', async () => {
    const daemon = await start()
    const { port } = new URL(daemon.address)
    const body = JSON.stringify({ token: 'x' })
    const socket = connect(Number(port), '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString()
    })
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.write(
      `POST /api/v1/auth/invitations:inspect HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    )
    // Its headers have arrived: the request is in flight, and waits for its body.
    await expect.poll(() => answer).toContain('100 Continue')
    daemon.process.kill('SIGTERM')
    await expect.poll(() => daemon.stderr()).toContain('"draining"')
    socket.write(body)
    await closed
    expect(answer).toContain('410 Gone')
    expect(answer.toLowerCase()).toContain('connection: close')
    expect(await daemon.ended).toBe(0)
  })

  test('with a notice it serves on for so long: unready, and each answer ends its connection', async () => {
    const daemon = await start({ SVC_DRAIN_NOTICE_SECONDS: '2' })
    daemon.process.kill('SIGTERM')
    await expect.poll(() => daemon.stderr()).toContain('"draining"')
    for (const [path, status] of [
      ['/readyz', 503],
      ['/healthz', 200],
      ['/api/v1/meta/problems', 200],
    ] as const) {
      const answer = await fetch(`${daemon.address}${path}`)
      expect([path, answer.status, answer.headers.get('connection')]).toEqual([path, status, 'close'])
      await answer.arrayBuffer()
    }
    expect(daemon.process.exitCode).toBeNull()
    expect(await daemon.ended).toBe(0)
  })

  test('whoever never finishes a request is cut off, and does not hold the drain', async () => {
    const daemon = await start()
    const socket = connect(Number(new URL(daemon.address).port), '127.0.0.1')
    socket.on('error', () => {})
    await new Promise((resolve) =>
      socket.write(
        'POST /api/v1/auth/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{',
        resolve,
      ),
    )
    daemon.process.kill('SIGTERM')
    expect(await daemon.ended).toBe(0)
  })

  test('a failure that nobody caught is logged, drains, and ends it with 1', async () => {
    const failing = 'process.on("SIGUSR2", () => { Promise.reject(new Error("nobody caught this")) })'
    const daemon = await start({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(failing)}` })
    daemon.process.kill('SIGUSR2')
    expect(await daemon.ended).toBe(1)
    const lines = linesOf(daemon.stderr()).map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines).toContainEqual(
      expect.objectContaining({
        event: 'unhandledRejection',
        error: expect.objectContaining({ message: 'nobody caught this' }),
      }),
    )
    expect(lines.at(-1)).toMatchObject({ event: 'stopped' })
  })

  test('the log is one JSON object per line', async () => {
    const daemon = await start({ SVC_LOG_LEVEL: 'trace' })
    await fetch(`${daemon.address}/api/v1/accounts/me?secret=canary-query`, {
      headers: { authorization: 'Bearer canary-token', 'x-canary': 'canary-header' },
    })
    daemon.process.kill('SIGTERM')
    expect(await daemon.ended).toBe(0)
    const lines = linesOf(daemon.stderr()).map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines).toContainEqual(
      expect.objectContaining({
        event: 'request',
        operation: 'getOwnAccount',
        method: 'GET',
        status: 401,
        code: 'auth.unauthenticated',
      }),
    )
    expect(daemon.stderr()).not.toContain('canary')
  })
})

test('whoever serves is known through the database, also after its connection was lost, and no longer when it is killed', async () => {
  const daemon = await start({ SVC_SETUP_TOKEN: 'chosen by the operator' })
  expect(daemon.stdout()).not.toContain('set-up token')
  expect(await isServed(db.daemon)).toBe(true)
  const [{ pid: lost } = { pid: 0 }] = await db.sql<{ pid: number }[]>`
    select pid, pg_terminate_backend(pid) from pg_stat_activity where application_name like 'svc life of %' and datname = current_database()`
  expect(lost).toBeGreaterThan(0)
  await expect.poll(() => isServed(db.daemon), { timeout: 10_000 }).toBe(true)
  await expect.poll(async () => (await db.sql`select 1 from pg_stat_activity where pid = ${lost}`).length).toBe(0)

  daemon.process.kill('SIGKILL')
  await daemon.ended
  await expect.poll(() => isServed(db.daemon), { timeout: 10_000 }).toBe(false)
})
