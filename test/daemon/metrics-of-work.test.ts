/**
 * What /metrics of a daemon that works tells of its work: jobs, mail, deliveries, refusals, and what waits in the
 * database. Everything is planted or done before the first scrape, because the database is read at most once in 15 s.
 */
import { randomUUIDv7 } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readLadder } from '../../src/core/kernel/config/webhook-settings.ts'
import { productVersion } from '../../src/core/kernel/values/product.ts'
import { mostCounted, readWaiting } from '../../src/daemon/metrics/backlog.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { type Person, person, setUp, workspace } from '../kit/people.ts'
import { type Receiver, receiver, status } from '../kit/receiver.ts'
import { eventType, released } from '../kit/webhooks.ts'

const nobody = '00000000-0000-0000-0000-000000000000'

describe('a daemon that works', () => {
  let daemon: TestDaemon
  let good: Receiver
  let bad: Receiver
  let owner: Person
  let samples: ReadonlyMap<string, number>

  beforeAll(async () => {
    good = await receiver()
    bad = await receiver()
    bad.respond(status(500))
    daemon = await testDaemon({
      role: 'all',
      config: {
        egress: released(),
        ledgerCopy: 'report',
        backupDir: '/proc/none',
        webhookRetrySeconds: readLadder('0') ?? [],
      },
    })
    const home = await setUp(daemon)
    owner = await person(daemon, home.tenantId, { operator: true })
    await refuseSome()
    await deliver()
    await failMail()
    await leaveWaiting()
    samples = await scrape()
  }, 60_000)
  afterAll(async () => {
    await daemon.close()
    await good.close()
    await bad.close()
  })

  const scrape = async () => samplesOf((await daemon.call('GET', '/metrics')).text)
  const call = (method: string, path: string, body?: unknown, token = owner.token) =>
    daemon.call(method, `/api/v1${path}`, { token, ...(body === undefined ? {} : { body }) })

  async function refuseSome() {
    const { sql } = daemon.db
    const attempt = { workspace: 'nobody-here', email: 'eve@example.org', password: 'a wrong password' }
    for (const _ of [1, 2]) await daemon.call('POST', '/api/v1/auth/sessions', { body: attempt })
    const slow = await person(daemon, await workspace(daemon, 'slow'))
    await sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${slow.tenantId}, 'api_requests_per_minute', 1)`
    for (const _ of [1, 2, 3]) await call('GET', '/accounts/me', undefined, slow.token)
    await daemon.call('GET', '/api/v1/accounts/me')
  }

  async function deliver() {
    const { sql } = daemon.db
    const hub = await call('POST', '/containers', { kind: 'HUB', name: 'Hub' })
    const board = await call('POST', '/containers', { kind: 'COLLECTION', name: 'Board', parent_id: hub.json.id })
    for (const { url } of [good, bad]) {
      const made = await call('POST', '/integrations/webhooks', { target_url: url, event_types: [eventType] })
      expect(made.status, made.text).toBe(201)
    }
    const label = await call('POST', `/containers/${board.json.id}/labels`, { name: 'one', color_token: 'red' })
    expect(label.status, label.text).toBe(201)
    await Promise.all([good.until(1), bad.until(1)])
    await vi.waitFor(async () => expect(await sql`select from delivery where status = 'DEAD_LETTER'`).toHaveLength(1), {
      timeout: 30_000,
    })
  }

  /** A mail that the folder cannot take: it is a file. */
  async function failMail() {
    const { sql } = daemon.db
    rmSync(daemon.config.mail.folder, { recursive: true, force: true })
    writeFileSync(daemon.config.mail.folder, 'not a folder')
    const data = {
      tenantId: owner.tenantId,
      accountId: owner.accountId,
      noticeId: randomUUIDv7(),
      name: 'second_factor_off',
      at: new Date(),
    }
    await sql`insert into pgboss.job (name, data, retry_limit, retry_delay) values ('send_mail', ${sql.json(data as never)}, 3, 3600)`
    await vi.waitFor(
      async () =>
        expect(await sql`select from pgboss.job where name = 'send_mail' and state = 'retry'`).toHaveLength(1),
      { timeout: 20_000 },
    )
  }

  async function leaveWaiting() {
    const { sql } = daemon.db
    const tenantId = owner.tenantId
    await sql`insert into webhook (tenant_id, id, target_url, host, event_types, state) values (${tenantId}, ${tenantId}, 'https://example.org', 'example.org:443', '[]', 'PAUSED')`
    await sql`
      insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause, status, due_at)
      select ${tenantId}, uuidv7(), ${tenantId}, uuidv7(), 'x', 'EVENT', case when n < 3 then 'PENDING' else 'FAILED' end, now() - interval '1 hour'
      from generate_series(1, 5) n`
    await sql`insert into job (tenant_id, id, kind) select ${tenantId}, uuidv7(), 'SEARCH_REINDEX' from generate_series(1, 2)`
    await sql`
      insert into job (tenant_id, id, kind, state, finished_at)
      select ${tenantId}, uuidv7(), 'TENANT_EXPORT', 'SUCCEEDED', now() - n * interval '1 hour' from generate_series(2, 4) n`
    await sql`insert into blocked_slug values ('gone', now() - interval '5 hours')`
    // A target of the installation whose folder cannot be made.
    await sql`insert into backup_target (tenant_id, id, name, kind, config) values (${nobody}, ${randomUUIDv7()}, 'lost', 'LOCAL', '{"path":"own"}')`
    const suspended = await call('POST', `/admin/tenants/${await workspace(daemon, 'other')}:suspend`)
    expect(suspended.status, suspended.text).toBeLessThan(300)
    await sql`update installation set gated_at = now(), gate_reason = 'BEGUN'`
    expect((await call('GET', '/labels')).status).toBeGreaterThan(399)
    const plain = await person(daemon, tenantId)
    expect((await call('GET', '/items', undefined, plain.token)).status).toBe(503)
  }

  test('refusals and refused sign-ins are told by their codes', () => {
    expect(samples.get('svc_refused_sign_ins_total{code="auth.sign_in_failed"}')).toBe(2)
    expect(samples.get('svc_refusals_total{status="429",code="quota.exceeded"}')).toBe(2)
    expect(samples.get('svc_refusals_total{status="503",code="installation.recovering"}')).toBe(1)
    expect(samples.get('svc_refusals_total{status="401",code="auth.unauthenticated"}')).toBe(1)
  })

  test('attempts at webhooks are counted by their result, deliveries by their end, and the first attempt by its lag', () => {
    expect(samples.get('svc_delivery_attempts_total{result="succeeded"}')).toBe(1)
    expect(samples.get('svc_delivery_attempts_total{result="response.status"}')).toBe(bad.received.length)
    expect(samples.get('svc_deliveries_ended_total{status="SUCCEEDED"}')).toBe(1)
    expect(samples.get('svc_deliveries_ended_total{status="DEAD_LETTER"}')).toBe(1)
    expect(samples.get('svc_event_lag_seconds_count')).toBe(2)
    expect(samples.get('svc_event_lag_seconds_bucket{le="30"}')).toBe(2)
  })

  test('a mail that could not be handed over is counted, and waits in its queue', () => {
    expect(samples.get('svc_mail_failures_total{becomes="retried"}')).toBe(1)
    expect(samples.get('svc_mail_failures_total{becomes="given_up"}')).toBe(0)
    expect(samples.get('svc_job_duration_seconds_count{job="send_mail",result="failed"}')).toBe(1)
    expect(samples.get('svc_queue_jobs{queue="send_mail",state="deferred"}')).toBe(1)
    expect(samples.get('svc_queue_late_seconds{queue="send_mail"}')).toBe(0)
  })

  test('what waits in the database is told: deliveries, jobs, the gate, the last archive, what has expired', () => {
    expect(samples.get('svc_deliveries{status="PENDING"}')).toBe(2)
    expect(samples.get('svc_deliveries{status="FAILED"}')).toBe(3)
    expect(samples.get('svc_deliveries_late_seconds')).toBeLessThan(60) // those above are at a paused webhook
    expect(samples.get('svc_jobs{kind="SEARCH_REINDEX",state="QUEUED"}')).toBe(2)
    expect(samples.get('svc_gate_closed')).toBe(1)
    expect(samples.get('svc_archive_age_seconds')).toBeGreaterThanOrEqual(7200)
    expect(samples.get('svc_archive_age_seconds')).toBeLessThan(7300)
    expect(samples.get('svc_sweep_rows{kind="blocked_slug"}')).toBe(1)
    expect(samples.get('svc_sweep_late_seconds{kind="blocked_slug"}')).toBeGreaterThan(17_999)
    expect(Math.abs((samples.get('svc_backlog_read_timestamp_seconds') ?? 0) - Date.now() / 1000)).toBeLessThan(60)
  })

  test('so are its release, its clock, and the targets that lack lines of its ledger', async () => {
    const build = `svc_build_info{version="${productVersion}",node="${process.versions.node}"}`
    expect(samples.get(build)).toBe(1)
    expect(Math.abs(samples.get('svc_clock_ahead_seconds') ?? 99)).toBeLessThan(5)
    await expect.poll(async () => (await scrape()).get('svc_ledger_copies_behind'), { timeout: 20_000 }).toBe(1)
  })

  test('a delivery that is due at an active webhook and does not leave is told by its age', async () => {
    const { sql } = daemon.db
    // Behind the closed gate nothing leaves.
    await sql`update delivery set due_at = now() - interval '90 seconds' where webhook_id = ${owner.tenantId} and finished_at is null`
    await sql`update webhook set state = 'ACTIVE' where id = ${owner.tenantId}`
    const late = async () => (await scrape()).get('svc_deliveries_late_seconds')
    await expect.poll(late, { timeout: 20_000 }).toBeGreaterThanOrEqual(90)
  })

  test('no metric names a workspace, an account or a host', async () => {
    const { text } = await daemon.call('GET', '/metrics')
    for (const secret of [owner.tenantId, owner.accountId, 'example.org', '127.0.0.1'])
      expect(text).not.toContain(secret)
  })
})

describe('the reading of the queue', () => {
  let own: TestInstallation
  beforeAll(async () => {
    own = await testInstallation()
  })
  afterAll(() => own.close())

  test('counts what is ready and how late it is, what is deferred, and no further than it says', async () => {
    const { oracle } = own
    await oracle`insert into pgboss.job (name, start_after) select 'send_mail', now() - n * interval '1 minute' from generate_series(1, 3) n`
    await oracle`insert into pgboss.job (name, start_after) select 'send_mail', now() + interval '1 hour' from generate_series(1, 2)`
    await oracle`insert into pgboss.job (name, start_after) select 'tell_administrators', now() from generate_series(1, ${mostCounted + 5})`
    const { queues } = await readWaiting(own.installation)
    const mail = queues.find(({ name }) => name === 'send_mail')
    expect(mail).toMatchObject({ ready: 3, deferred: 2 })
    expect(mail?.late_seconds).toBeGreaterThanOrEqual(180)
    expect(mail?.late_seconds).toBeLessThan(240)
    expect(queues.find(({ name }) => name === 'tell_administrators')).toMatchObject({ ready: mostCounted })
  })

  test('without an archive there is no age of one', async () => {
    expect((await readWaiting(own.installation)).one.archive_seconds).toBe(null)
  })
})

/** Every sample by its name with labels, as it stands in the text. */
function samplesOf(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => /^(.+) (\S+)$/.exec(line)?.slice(1) ?? []).map(([name, value]) => [name ?? '', Number(value)]),
  )
}
