/** The worker: what a rule has queued is done, and what fails is done again. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { openLedgerCopies } from '../../src/core/areas/recovery/ledger/ledger-copies.ts'
import { isServed } from '../../src/core/kernel/database/serving.ts'
import { readKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { openInstallation } from '../../src/core/kernel/transaction/installation.ts'
import { defineJob, type RunnableJob } from '../../src/core/kernel/transaction/runnable-job.ts'
import { silentLog } from '../../src/daemon/log.ts'
import { startWorker, type WorkerOptions } from '../../src/daemon/worker.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { person, setUp } from '../kit/people.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await testDaemon({ role: 'all' })
})
afterAll(() => daemon.close())

test('a worker serves its health and nothing else, and does not say that it serves', async () => {
  const worker = await testDaemon({ role: 'worker' })
  try {
    const statuses = await Promise.all(
      ['/healthz', '/readyz', '/metrics', '/api/v1/meta/problems', '/api/v1/openapi.json', '/docs/'].map(
        async (path) => (await worker.call('GET', path)).status,
      ),
    )
    expect(statuses).toEqual([200, 200, 200, 404, 404, 404])
    expect(await isServed(worker.db.daemon)).toBe(false)
    expect(await isServed(daemon.db.daemon)).toBe(true)
  } finally {
    await worker.close()
  }
})

test('an invitation that nobody redeems is ended by its job', async () => {
  const { tenantId } = await setUp(daemon)
  const operator = await person(daemon, tenantId, { operator: true })
  const made = await daemon.call('POST', '/api/v1/admin/tenants', {
    token: operator.token,
    body: { slug: 'invited', display_name: 'Invited', owner_email: 'ina@invited.example' },
  })
  expect(made.status).toBe(201)
  const { sql } = daemon.db
  const waiting =
    await sql`select name, data from pgboss.job where name <> '__pgboss__send-it' and state = 'created' and data->>'tenantId' = ${made.json.tenant.id}`
  expect(waiting).toHaveLength(1)
  await sql`update invitation set expires_at = now() - interval '1 second' where tenant_id = ${made.json.tenant.id}`
  await sql`update pgboss.job set start_after = now() where data->>'tenantId' = ${made.json.tenant.id}`
  const events = async () =>
    (await sql<{ type: string }[]>`select type from outbox_event where tenant_id = ${made.json.tenant.id}`).map(
      ({ type }) => type,
    )
  await expect.poll(events, { timeout: 20_000 }).toContain('svc.identity.invitation.expired.v1')
})

test('a job that fails is done again, one whose payload is not its own never runs, and the rest of the batch is not held up', async () => {
  const runs: string[] = []
  const flaky = defineJob({
    name: 'flaky',
    payload: z.object({ name: z.string() }),
    retryLimit: 1,
    async run(_, { name }) {
      runs.push(name)
      if (name === 'fails once' && runs.filter((run) => run === name).length === 1) throw new Error('once')
    },
  })
  const { boss, close } = await workerOf(flaky)
  try {
    await boss.insert('flaky', [
      { data: { name: 'fails once' }, retryLimit: 1, retryDelay: 0 },
      { data: { name: 'works' } },
      { data: { title: 'not its own' }, retryLimit: 0 },
    ])
    await expect.poll(() => [...runs].sort(), { timeout: 20_000 }).toEqual(['fails once', 'fails once', 'works'])
    await expect
      .poll(
        async () =>
          (await daemon.db.sql<{ state: string }[]>`select state from pgboss.job where name = 'flaky'`)
            .map(({ state }) => state)
            .sort(),
        { timeout: 20_000 },
      )
      .toEqual(['completed', 'completed', 'failed'])
  } finally {
    await close()
  }
})

test("a clock that is set back by an hour during a job does not stop the job's queue for an hour", async () => {
  let runs = 0
  const slow = defineJob({
    name: 'slow',
    payload: z.object({}),
    retryLimit: 0,
    async run() {
      runs += 1
      const before = Date.now()
      if (runs === 1) vi.spyOn(Date, 'now').mockImplementation(() => before - 3_600_000)
    },
  })
  const { boss, close } = await workerOf(slow)
  try {
    await boss.send('slow', {})
    await expect.poll(() => runs, { timeout: 20_000 }).toBe(1)
    await boss.send('slow', {})
    await expect.poll(() => runs, { timeout: 20_000 }).toBe(2)
  } finally {
    vi.restoreAllMocks()
    await close()
  }
})

test('one look wakes the workers of all queues: a daemon without work commits a few times a second', async () => {
  const idle = await testDaemon({ role: 'all' })
  const { sql } = idle.db
  const committed = async () => {
    const [row] = await sql<{ count: string }[]>`
      select xact_commit as count from pg_stat_database where datname = current_database()`
    return Number(row?.count)
  }
  try {
    const committedInTwoSeconds = async () => {
      const before = await committed()
      await pause(2_000)
      return (await committed()) - before
    }
    // Not the first window: every worker looks once as it begins, and what is scheduled begins with the minute.
    await expect.poll(committedInTwoSeconds, { timeout: 25_000 }).toBeLessThan(2 * 25)
  } finally {
    await idle.close()
  }
}, 40_000)

test('a look that fails is not the last one', async () => {
  let runs = 0
  const plain = defineJob({
    name: 'plain',
    payload: z.object({}),
    retryLimit: 0,
    async run() {
      runs += 1
    },
  })
  const { boss, close } = await workerOf(plain)
  const { sql } = daemon.db
  try {
    await pause(500) // behind the first look of the worker
    await sql`revoke select on pgboss.job_common from svc_queue`
    await pause(2_500)
    await sql`grant select on pgboss.job_common to svc_queue`
    await boss.send('plain', {})
    await expect.poll(() => runs, { timeout: 10_000 }).toBe(1)
  } finally {
    await close()
  }
}, 30_000)

test('what this process queues begins at its commit, without a look', async () => {
  const runs: string[] = []
  const prompt = defineJob({
    name: 'prompt',
    payload: z.object({ name: z.string() }),
    retryLimit: 0,
    async run(_, { name }) {
      runs.push(name)
    },
  })
  const { installation, close } = await workerOf(prompt, { lookEachMs: 3_600_000 })
  const queue = (name: string) =>
    installation.transaction({ kind: 'SYSTEM', job: 'prompt' }, {}, async (ctx) => {
      await ctx.enqueue(prompt, { name })
      if (name === 'undone') throw new Error('undone')
    })
  try {
    await pause(500) // behind the first look of the worker
    await expect(queue('undone')).rejects.toThrow('undone')
    await queue('first')
    await expect.poll(() => runs, { timeout: 10_000 }).toEqual(['first'])
    await queue('second')
    await expect.poll(() => runs, { timeout: 10_000 }).toEqual(['first', 'second'])
  } finally {
    await close()
  }
}, 30_000)

test('jobs that take long begin beside one another within two seconds', async () => {
  const under = { way: 0, most: 0 }
  const long = defineJob({
    name: 'long',
    payload: z.object({}),
    retryLimit: 0,
    atOnce: 3,
    takesLong: true,
    async run() {
      under.way += 1
      under.most = Math.max(under.most, under.way)
      await pause(3_000)
      under.way -= 1
    },
  })
  const { boss, close } = await workerOf(long)
  try {
    await pause(500) // behind the first look of each worker
    await boss.insert('long', [{ data: {} }, { data: {} }, { data: {} }])
    await expect.poll(() => under.most, { timeout: 3_000 }).toBe(3)
  } finally {
    await close()
  }
}, 30_000)

/** An installation of its own that runs this job. */
async function workerOf(job: RunnableJob, options: WorkerOptions = {}) {
  const address = daemon.config.database?.daemon
  if (!address) throw new Error('a test daemon has a database of its own')
  const installation = openInstallation(daemon.config, address, readKeyring(daemon.config.keyringFile), {
    works: true,
    applicationName: 'svc test',
    copies: openLedgerCopies,
  })
  const boss = await installation.queue.boss()
  await boss.createQueue(job.name, { policy: 'standard' })
  const worker = await startWorker(installation, [job], silentLog, options)
  return {
    boss,
    installation,
    async close() {
      await worker.close()
      await installation.close()
    },
  }
}
