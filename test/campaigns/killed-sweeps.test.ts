/**
 * The sweep of what has expired is killed again and again: everything that was due is gone in the end, with what belongs to it, and
 * everything else is as it was. 3,000 rows of each kind, 6,000 kept answers and 4 kills; a million, ten million and 20 with
 * SVC_FAULTS=full. Spec: docs/decisions/0191, 0506.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweeps } from '../../src/core/areas/auth/sign-in/sweeps.ts'
import { lockClasses } from '../../src/core/kernel/database/lock-classes.ts'
import { type Backlog, backlogsOf, batchRows } from '../../src/core/kernel/transaction/sweep.ts'
import { contentOf, countRows, countTorn, makeDue, makeKept } from '../kit/expired-rows.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { bareEnvironment } from '../kit/processes.ts'
import { type Stored, wrongAmong } from '../kit/sealed.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const size = isFull ? { rows: 1_000_000, records: 10_000_000, kept: 100 } : { rows: 3_000, records: 6_000, kept: 100 }
const kills = isFull ? 20 : 4
/** Tokens that have ended, of sessions that stay. */
const halves = size.kept / 2
/** Turns of all kinds before a kill: in full the kills are spread over the work, and come well before the end of a run's time. */
const turns = isFull ? Math.floor(size.rows / batchRows / (2 * kills)) : 0
/**
 * Where a run is killed, in turn: before the commit of a batch that also removes what belongs to its rows (of tokens, the later
 * batches take sessions with them), and from outside, wherever it is.
 */
const places = [
  { table: 'second_factor', turn: 0 },
  'outside',
  { table: 'idempotency_record', turn: 0 },
  { table: 'credential', turn: 6 },
] as const

let own: TestInstallation
let before: Readonly<Record<string, readonly string[]>>
let sealed: Stored
let due: number
beforeAll(async () => {
  own = await testInstallation()
  // The log would be larger than the rows. No server is killed here, so nothing is lost with it.
  if (isFull)
    for (const table of [...sweeps.map((kind) => kind.table), 'session', 'sealed_value'])
      await own.oracle.unsafe(`alter table ${table} set unlogged`)
  sealed = await makeKept(own, size)
  before = await contentOf(own.oracle)
  due = await makeDue(own, size)
}, 3_600_000)
afterAll(() => own.close())

const runner = join(import.meta.dirname, '../kit/sweep-runner.ts')

/** In full a look counts millions of rows. */
const lookMs = isFull ? 5_000 : 5

interface Ended {
  readonly said: string
  readonly signal: NodeJS.Signals | null
}
const killed: Ended = { said: 'at work ', signal: 'SIGKILL' }
const done: Ended = { said: 'at work done', signal: null }

/**
 * Sweeps in a process of its own, which `failpoint` kills, or this process once `isTime` is true. Answers what it printed and the
 * signal that ended it, when the server has ended its transactions.
 */
async function sweep(of: TestInstallation, failpoint = '', isTime?: () => Promise<boolean>): Promise<Ended> {
  const env = { ...bareEnvironment(), ...of.env, SVC_TEST: '1', SVC_FAILPOINTS: failpoint }
  const child = spawn(process.execPath, [runner], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  let isOver = false
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_, by) => resolve(by)))
  void ended.then(() => {
    isOver = true
  })
  if (isTime) {
    while (!isOver && !(await isTime())) await pause(lookMs)
    child.kill('SIGKILL')
  }
  const signal = await ended
  // A transaction that the server has not ended yet holds the turn of its kind: the next run would leave that kind out.
  const locks = () =>
    of.oracle`
      select 1 from pg_locks l join pg_database d on d.oid = l.database
      where d.datname = current_database() and l.locktype = 'advisory' and l.classid = ${lockClasses.sweep}`
  await expect.poll(locks, { timeout: 30_000 }).toHaveLength(0)
  return { said, signal }
}

/** Sweeps until it is killed. `left` counts the rows that are due. */
async function sweepUntilKilled(kill: number, left: () => Promise<number>): Promise<Ended> {
  const place = places[kill % places.length] ?? 'outside'
  if (place === 'outside') {
    const begin = await left()
    return sweep(own, '', async () => (await left()) < begin - turns * sweeps.length * batchRows)
  }
  const hit = (turns + place.turn) * sweeps.length + sweeps.findIndex(({ table }) => table === place.table) + 1
  return sweep(own, `sweep.removed=exit@${hit}`)
}

test(`${size.rows} rows of each kind, ${size.records} kept answers, ${kills} kills`, {
  timeout: 4 * 3_600_000,
}, async () => {
  expect(due).toBe(size.rows * (sweeps.length - 1) + size.records + halves)
  const torn = Object.keys(await countTorn(own.oracle))
  const whole = Object.fromEntries(torn.map((name) => [name, 0]))
  const kept = (await countRows(own.oracle)) - due
  const left = async () => (await countRows(own.oracle)) - kept
  let waits = due
  for (let kill = 0; kill < kills; kill += 1) {
    expect(await sweepUntilKilled(kill, left), `kill ${kill}`).toEqual(killed)
    expect(await countTorn(own.oracle), `kill ${kill}`).toEqual(whole)
    const now = await left()
    // It went on where the one before it was killed, and was killed before the end.
    expect(now, `kill ${kill}`).toBeLessThan(waits)
    expect(now, `kill ${kill}`).toBeGreaterThan(0)
    waits = now
  }
  const byKilled = due - waits

  // A run has its time: ten million rows take more than one.
  let runs = 0
  for (; waits > 0; runs += 1) {
    expect(await sweep(own)).toEqual(done)
    const now = await left()
    expect(now).toBeLessThan(waits)
    waits = now
  }
  if (!isFull) expect(runs).toBe(1)
  process.stdout.write(
    `${due} rows of ${sweeps.length} kinds: ${byKilled} removed by ${kills} killed runs, ${due - byKilled} by ${runs} that ended\n`,
  )

  const backlogs = await own.oracle.unsafe<Backlog[]>(backlogsOf(sweeps))
  expect([...backlogs]).toEqual(sweeps.map(({ table }) => ({ table, rows: 0, lateSeconds: 0 })))
  expect(await contentOf(own.oracle)).toEqual(before)
  expect(await wrongAmong(own.installation, sealed)).toEqual([])
})

test('a batch reads what it removes, while a backup still sees what the batches before it removed', async () => {
  const batches = 20
  const other = await testInstallation()
  const { tenant, owner } = await other.provision()
  await other.oracle`
    insert into failed_attempt (tenant_id, id, account_id, purpose, at)
    select ${tenant.id}, gen_random_uuid(), ${owner.account_id}, 'STEP_UP', now() - interval '2 days' - n * interval '1 ms'
    from generate_series(1, ${batches * batchRows}::int) n`
  await other.oracle`analyze failed_attempt`
  const read = async () => {
    const [index] = await other.oracle<{ times: number; rows: number }[]>`
      select idx_scan::int as times, idx_tup_read::int as rows from pg_stat_user_indexes where indexrelname = 'failed_attempt_over'`
    return index!
  }
  await other.oracle.begin('isolation level repeatable read', async (sql) => {
    await sql`select 1 from tenant`
    expect(await sweep(other)).toEqual(done)
  })
  expect(await other.oracle`select 1 from failed_attempt`).toHaveLength(0)
  // PostgreSQL counts what a session did when that ends.
  await expect.poll(async () => (await read()).times, { timeout: 30_000 }).toBeGreaterThanOrEqual(batches + 1)
  expect((await read()).rows).toBeLessThan(2 * batches * batchRows)
  await other.close()
})
