/**
 * F-11, T-45, T-42; people 9: the clocks of PostgreSQL and of a daemon jump, tremble and run. No
 * workspace is purged, no proof that has expired is taken, nothing that lets people in lives longer, no slot of the
 * schedule runs twice, and what has ended stays ended.
 *
 *     SVC_FAULTS=full vitest run test/campaigns/clock.test.ts    60 s ahead, 30 s each of the others, instead of moments
 */

import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endPasswordOpening, purgeTenant } from '../../src/core/areas/tenants/jobs.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { hashToken, mintToken } from '../../src/core/kernel/values/token.ts'
import { type ClockedInstallation, clockedInstallation } from '../kit/clocked-installation.ts'
import type { SpawnedDaemon } from '../kit/daemon.ts'
import { type FakeTime, hasFakeTime } from '../kit/fake-time.ts'
import { password, type TestInstallation } from '../kit/installation.ts'
import { openWaysIn, type WayIn } from '../kit/ways-in.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const leaving = isFull ? 20 : 5
const aheadMs = isFull ? 60_000 : 3_000
const elseMs = isFull ? 30_000 : 3_000

if (!hasFakeTime) process.stderr.write('\nNot shown: libfaketime is not installed (apt-get install faketime).\n')

let clocked: ClockedInstallation
let time: FakeTime
let own: TestInstallation
let daemon: SpawnedDaemon
let sql: postgres.Sql
let admin: {
  readonly tenantId: string
  readonly accountId: string
  readonly credentialId: string
  readonly token: string
}
let tenants: readonly string[]

beforeAll(async () => {
  if (!hasFakeTime) return
  clocked = await clockedInstallation()
  ;({ time, own, sql } = clocked)
  admin = await operator()
  tenants = await Promise.all(Array.from({ length: leaving }, leave))
  daemon = await clocked.daemon()
}, 120_000)

afterAll(async () => {
  if (hasFakeTime) await clocked.close()
})

async function operator() {
  const { tenant, account_id } = await own.asRecovery(operations.setUpInstallation, {
    body: {
      set_up_token: 'not asked for',
      workspace: { slug: 'first', display_name: 'First' },
      owner: { email: 'ops@first.example', display_name: 'Olive', password },
    },
  })
  await sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenant.id}, 'api_requests_per_minute', 0)`
  const { token, hash, last4 } = mintToken('personal')
  const id = randomUUIDv7()
  await sql`
    insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes, created_at, expires_at)
    values (${tenant.id}, ${id}, ${account_id}, 'PERSONAL', ${hash}, ${last4}, 'ops', 'workspace:admin admin:tenants', now() - interval '2 days', now() + interval '10 years')`
  return { tenantId: tenant.id, accountId: account_id, credentialId: id, token }
}

/** A workspace whose deletion was asked for just now. */
async function leave(): Promise<string> {
  const { tenant } = await own.provision()
  await own.asRecovery(operations.deleteTenant, {
    tenantId: tenant.id,
    body: { confirmation: tenant.display_name },
  })
  return tenant.id
}

/** A proof as it was issued so long ago, good for five minutes. */
async function proofOf(secondsAgo: number): Promise<string> {
  const { token, hash } = mintToken('stepUp')
  await sql`
    insert into step_up (tenant_id, id, account_id, bearer_id, hash, issued_at, expires_at)
    values (${admin.tenantId}, ${randomUUIDv7()}, ${admin.accountId}, ${admin.credentialId}, ${hash},
            now() - make_interval(secs => ${secondsAgo}), now() - make_interval(secs => ${secondsAgo - 300}))`
  return token
}

/** What a call is answered that wants a proof; the workspace is none, so a proof that is taken shows as 404. */
async function answerTo(proof: string): Promise<number> {
  const response = await fetch(`${daemon.address}/api/v1/admin/tenants/${randomUUIDv7()}:open-password`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${admin.token}`,
      'content-type': 'application/json',
      'x-service-step-up': proof,
    },
    body: JSON.stringify({ hours: 1, reason: 'clock', requester: 'case 12' }),
  })
  await response.arrayBuffer()
  return response.status
}

const askToPurge = () =>
  own.installation.transaction({ kind: 'SYSTEM', job: 'test' }, {}, async (ctx) => {
    for (const tenantId of tenants) await ctx.enqueue(purgeTenant, { tenantId })
  })
const purgesTried = async () =>
  (await sql`select 1 from pgboss.job where name = 'purge_tenant' and state = 'completed'`).length

interface Seen {
  /** How often which status was answered. */
  readonly answers: Readonly<Record<number, number>>
  readonly tried: number
}

/** For so long: purges are asked for and expired proofs shown, while `tick` moves the clock. */
async function under(ms: number, expired: readonly string[], tick: (turn: number) => void): Promise<Seen> {
  const before = await purgesTried()
  const answers: Record<number, number> = {}
  const until = performance.now() + ms
  for (let turn = 0; performance.now() < until || (await purgesTried()) < before + 2 * tenants.length; turn += 1) {
    tick(turn)
    if (turn % 10 === 0) await askToPurge()
    const statuses = await Promise.all(expired.map(answerTo))
    for (const status of statuses) answers[status] = (answers[status] ?? 0) + 1
    await pause(100)
  }
  return { answers, tried: (await purgesTried()) - before }
}

const databaseSays = async () => Date.parse((await sql<{ at: string }[]>`select clock_timestamp()::text as at`)[0]!.at)

/**
 * Every proof is refused as expired; where the jump made PostgreSQL end a statement as too late, the caller hears
 * that the service is not there (503). Whether a proof was taken is the database's to say.
 */
async function expectNoProofTaken(
  phase: string,
  expired: readonly string[],
  { 401: refused = 0, 503: away = 0, ...others }: Seen['answers'],
) {
  expect(others, `${phase}: answers other than 401 and 503`).toEqual({})
  expect(refused, `${phase}: proofs that were looked at`).toBeGreaterThan(away)
  const used = await sql`select id from step_up where used_at is not null and hash in ${sql(expired.map(hashToken))}`
  expect(used, `${phase}: proofs that were taken`).toHaveLength(0)
}

async function expectNothingPurged(): Promise<void> {
  const rows = await sql`select purge_started_at from tenant where id in ${sql(tenants as string[])}`
  expect(rows.filter(({ purge_started_at }) => purge_started_at === null)).toHaveLength(tenants.length)
  expect(await sql`select 1 from journal where action in ('tenant.purge_started', 'tenant.purged')`).toHaveLength(0)
}

/** pg-boss keeps one order for each slot of a schedule, which is a minute; a job by the clock may run once for each. */
async function expectOneAttemptForEachSlot(phase: string): Promise<void> {
  const [row] = await sql<{ attempts: number; slots: number; orders: number }[]>`
    select (select coalesce(sum(retry_count + 1), 0)::int from pgboss.job where name = 'purge_due') as attempts,
           (select count(distinct singleton_on)::int from pgboss.job where name = '__pgboss__send-it' and data ->> 'name' = 'purge_due') as slots,
           (select count(*)::int from pgboss.job where name = '__pgboss__send-it' and data ->> 'name' = 'purge_due') as orders`
  process.stderr.write(`    by the clock: ${row?.attempts} attempt(s) for ${row?.slots} slot(s)\n`)
  expect(row?.orders, `${phase}: orders for each slot`).toBe(row?.slots)
  expect(row?.attempts, `${phase}: attempts for each slot`).toBeLessThanOrEqual(row?.slots ?? 0)
}

test.runIf(hasFakeTime)('proofs are taken while they live: the calls below ask what they seem to', async () => {
  expect(await answerTo(await proofOf(1))).toBe(404)
  expect(await answerTo(await proofOf(301))).toBe(401)
})

test.runIf(hasFakeTime)(
  '31 days ahead, a day back, two seconds to and fro, sixty times as fast: nothing is purged, revived or run twice',
  async () => {
    const expired = await Promise.all([301, 3_600, 7_200].map(proofOf))
    const phases: readonly [string, number, (turn: number) => void][] = [
      ['31 days ahead', aheadMs, (turn) => turn === 0 && time.set('+31d')],
      ['a day back', elseMs, (turn) => turn === 0 && time.set('-1d')],
      ['to and fro', elseMs, (turn) => time.set(turn % 2 === 0 ? '+2' : '-2')],
      ['sixty times as fast', elseMs, (turn) => turn === 0 && time.set('+0 x60')],
      ['as it should be', 1_000, (turn) => turn === 0 && time.set('+0')],
    ]
    for (const [name, ms, tick] of phases) {
      tick(0)
      const apart = Math.round((await databaseSays()) - Date.now()) / 1000
      process.stderr.write(`  ${name}: PostgreSQL's clock is ${apart} s apart\n`)
      const { answers, tried } = await under(ms, expired, tick)
      process.stderr.write(`    answers to expired proofs: ${JSON.stringify(answers)}\n`)
      await expectNoProofTaken(name, expired, answers)
      expect(tried, `${name}: purges were tried`).toBeGreaterThanOrEqual(2 * tenants.length)
      await expectNothingPurged()
      await expectOneAttemptForEachSlot(name)
    }
    expect(daemon.process.exitCode, daemon.stderr()).toBeNull()
  },
  isFull ? 900_000 : 120_000,
)

test.runIf(hasFakeTime)(
  'a password opening that has ended is not opened again by a clock that falls back',
  async () => {
    time.set('+0')
    const { tenant } = await own.provision()
    const open = () =>
      own.asRecovery(operations.openPassword, {
        tenantId: tenant.id,
        body: { hours: 1, reason: 'clock', requester: 'case 12' },
      })
    await open()
    const opening = async () => {
      const { data } = await own.asRecovery(operations.listTenants, {})
      return data.find(({ id }) => id === tenant.id)?.password_opening
    }
    expect(await opening()).not.toBeNull()
    time.set('+2h')
    expect(await opening(), 'it ends by the clock of the database').toBeNull()
    await own.installation.transaction({ kind: 'SYSTEM', job: 'test' }, {}, (ctx) =>
      ctx.enqueue(endPasswordOpening, { tenantId: tenant.id }),
    )
    await expect
      .poll(async () => (await sql`select 1 from password_opening where tenant_id = ${tenant.id}`).length, {
        timeout: 20_000,
      })
      .toBe(0)
    time.set('-1d')
    expect(await opening()).toBeNull()
    time.set('+0')
    expect(await opening()).toBeNull()
    await open()
    expect(await opening()).not.toBeNull()
    time.set('-1d')
    expect(await opening(), 'one that begins in the future is not in force').toBeNull()
    time.set('+0')
  },
)

const openOf = async (ways: readonly WayIn[]) => {
  const found: string[] = []
  for (const { what, isOpen } of ways) {
    // What a jump of the clock interrupted is asked once more.
    const answer = await isOpen().catch(() => pause(500).then(isOpen))
    if (answer) found.push(what)
  }
  return found
}

test.runIf(hasFakeTime)(
  'nothing that lets people in lives longer: 31 days ahead, and a day back',
  { timeout: 120_000 },
  async () => {
    time.set('+0')
    const { tenantId } = admin
    const waysIn = openWaysIn({ sql, installation: own.installation, address: daemon.address, tenantId })
    const fresh = await waysIn(false)
    expect(await openOf(fresh), 'the calls tell what they seem to').toEqual(fresh.map(({ what }) => what))

    const [ahead, behind, over] = [await waysIn(false), await waysIn(false), await waysIn(true)]
    time.set('+31d')
    expect(await openOf(ahead), '31 days ahead').toEqual([])
    time.set('-1d')
    expect(await openOf(behind), 'a day back: they were issued in the future').toEqual([])
    expect(await openOf(over), 'a day back: they had ended').toEqual([])
    time.set('+0')
    expect(await openOf(over), 'and stay so').toEqual([])
  },
)
