/** What the log's lines cost when nobody takes them: lines, and nothing else. Disks that fill up: test/campaigns/full-folders.test.ts. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { openLogLines } from '../../src/daemon/log-lines.ts'
import { spawnDaemonProcess, urlOf } from '../kit/daemon.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { freePorts } from '../kit/outside-server.ts'

let db: TestDatabase
let folder: string
beforeAll(async () => {
  db = await testDatabase()
  folder = mkdtempSync(join(tmpdir(), 'svc-log-'))
  createKeyring(join(folder, 'keyring.json'))
})
afterAll(async () => {
  await db.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** Takes everything that is in a pipe now. */
function readAll(pipe: number, pieces: Buffer[]): string {
  try {
    for (;;) {
      const piece = Buffer.alloc(65_536)
      pieces.push(piece.subarray(0, readSync(pipe, piece)))
    }
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('EAGAIN')
  }
  return Buffer.concat(pieces).toString('utf8')
}

test('a reader that stops costs lines beyond 1 MiB, counted, and none in the middle', async () => {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const lines = openLogLines(pipe)
  lines.onLost((lost) => lines.write(`lost ${lost}\n`))
  const written = 30_000
  for (let n = 0; n < written; n += 1) lines.write(`${n} ${'é'.repeat(100)}\n`)

  const pieces: Buffer[] = []
  await expect.poll(() => readAll(pipe, pieces).includes('lost'), { timeout: 20_000 }).toBe(true)
  lines.write('later\n')
  await lines.flush()
  const text = readAll(pipe, pieces)
  closeSync(pipe)

  const found = text.trimEnd().split('\n')
  const kept = found.length - 2
  expect(kept).toBeGreaterThan(5_000)
  expect(kept).toBeLessThan(written)
  expect(found.slice(0, kept)).toEqual(Array.from({ length: kept }, (_, n) => `${n} ${'é'.repeat(100)}`))
  expect(found.slice(kept)).toEqual([`lost ${written - kept}`, 'later'])
})

test('few lines are written soon, and the last flush writes all in their order', async () => {
  const path = join(folder, 'file')
  const file = openSync(path, 'w')
  const lines = openLogLines(file)
  lines.write('one\n')
  await expect.poll(() => readFileSync(path, 'utf8')).toBe('one\n')
  const more = Array.from({ length: 5_000 }, (_, n) => `line ${n}\n`)
  for (const line of more) lines.write(line)
  await lines.flush()
  expect(readFileSync(path, 'utf8')).toBe(`one\n${more.join('')}`)
  closeSync(file)
})

test('a daemon whose output is refused, as on a full disk, serves and ends when told', async () => {
  const full = openSync('/dev/full', 'w')
  const [port] = await freePorts(1)
  const env = {
    SVC_DATABASE_URL: urlOf(db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(db.owner),
    SVC_DATA_DIR: folder,
    SVC_KEYRING_FILE: join(folder, 'keyring.json'),
    SVC_PORT: String(port),
    SVC_LOG_LEVEL: 'trace',
  }
  const daemon = spawnDaemonProcess(env, { stdout: full, stderr: full })
  closeSync(full)
  const ended = once(daemon, 'close')
  const status = () => fetch(`http://127.0.0.1:${port}/healthz`).then((answer) => answer.status)
  try {
    await expect.poll(() => status().catch(() => 0), { timeout: 20_000 }).toBe(200)
    await pause(500) // several times as long as a line waits
    for (let n = 0; n < 100; n += 1) expect(await status()).toBe(200)
    daemon.kill('SIGTERM')
    expect(await Promise.race([ended, pause(10_000, 'it goes on')])).toEqual([0, null])
  } finally {
    daemon.kill('SIGKILL')
  }
})
