/** What is over is removed, what still counts is not. Spec: decisions 1, Idempotency-Key; 2, Tokens. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkSweeps } from '../../src/cli/doctor/database.ts'
import { sweepExpired } from '../../src/core/areas/auth/sign-in/jobs.ts'
import { sweeps } from '../../src/core/areas/auth/sign-in/sweeps.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { withClient } from '../../src/core/kernel/database/client.ts'
import { lockClasses } from '../../src/core/kernel/database/lock-classes.ts'
import { newId } from '../../src/core/kernel/values/id.ts'
import { openMetrics } from '../../src/daemon/metrics/metrics.ts'
import { type Callers, callers, type Person, plantToken } from '../kit/accounts.ts'
import { provisionBody, type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
let who: Callers
let owner: Person
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  owner = who.operator
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const sweep = () => sweepExpired.run(own.installation, {})
const hours = (n: number) => new Date(Date.now() + n * 3_600_000)

test('tokens go when they have ended, proofs a day later, failures a day after they happen', async () => {
  const { oracle } = own
  const keep = [
    await plantToken(own, owner, { scopes: ['workspace:read'], expiresAt: hours(1) }),
    await plantToken(own, owner, { scopes: ['workspace:read'] }),
  ]
  const gone = await plantToken(own, owner, { scopes: ['workspace:read'], expiresAt: hours(-0.01) })
  for (const at of [hours(-23), hours(-25)]) {
    await oracle`
      insert into step_up (tenant_id, id, account_id, bearer_id, hash, expires_at)
      values (${owner.tenantId}, ${newId()}, ${owner.accountId}, ${newId()}, ${randomBytes(32)}, ${at})`
    await oracle`insert into failed_attempt (tenant_id, id, account_id, purpose, at) values (${owner.tenantId}, ${newId()}, ${owner.accountId}, 'STEP_UP', ${at})`
  }
  await sweep()
  const left = (await oracle`select id from credential where name = 'planted'`).map((row) => row['id'] as string)
  for (const { id } of keep) expect(left).toContain(id)
  expect(left).not.toContain(gone.id)
  expect(await oracle`select 1 from step_up`).toHaveLength(1)
  expect(await oracle`select 1 from failed_attempt`).toHaveLength(1)
})

test('a used refresh token stays until it has expired: its second use is how a stolen one shows', async () => {
  const { refresh_token } = owner.session
  const refresh = () => who.as().call(operations.refreshSession, { body: { refresh_token } })
  const next = await refresh()
  // Past the grace of an answer that was lost.
  await own.oracle`update session set rotated_at = rotated_at - interval '2 minutes' where id = ${next.session_id}`
  await own.oracle`update credential set used_at = used_at - interval '2 minutes' where session_id = ${next.session_id} and used_at is not null`
  await sweep()
  await expect(refresh()).rejects.toMatchObject({ code: 'auth.unauthenticated' })
  await expect(who.as(next.access_token).call(operations.getOwnAccount)).rejects.toMatchObject({
    code: 'auth.unauthenticated',
  })
})

test('a session goes with the last of its tokens, a used invitation when it would have expired', async () => {
  const { oracle } = own
  const sessionsOf = async (ids: readonly string[]) =>
    (await oracle`select id from session`).map((row) => row['id'] as string).filter((id) => ids.includes(id))
  const [over, half, young] = [newId(), newId(), newId()]
  for (const [id, ...ends] of [
    [over, hours(-49), hours(-1)],
    [half, hours(-1), hours(1)],
    [young, hours(1)],
  ] as const) {
    await oracle`insert into session (tenant_id, id, account_id) values (${owner.tenantId}, ${id}, ${owner.accountId})`
    for (const end of ends)
      await oracle`
        insert into credential (tenant_id, id, account_id, session_id, kind, hash, last4, scopes, expires_at)
        values (${owner.tenantId}, ${newId()}, ${owner.accountId}, ${id}, 'SESSION', ${randomBytes(32)}, 'last', 'workspace:read', ${end})`
  }
  for (const [used, until] of [
    [hours(-1), hours(-1)],
    [hours(-1), hours(1)],
    [null, hours(-1)],
  ] as const)
    await oracle`
      insert into invitation (tenant_id, id, account_id, hash, used_at, expires_at)
      values (${owner.tenantId}, ${newId()}, ${owner.accountId}, ${randomBytes(32)}, ${used}, ${until})`
  const before = await oracle`select 1 from invitation`
  await sweep()
  expect((await sessionsOf([over, half, young, owner.session.session_id])).sort()).toEqual(
    [half, young, owner.session.session_id].sort(),
  )
  expect(await oracle`select 1 from invitation`).toHaveLength(before.length - 1)
})

test('challenges, links, confirmations and addresses that waited go a day after their end, a flow at its end', async () => {
  const { oracle } = own
  const { tenantId, accountId } = owner
  const ends = [hours(-25), hours(-23), hours(1)]
  for (const [n, end] of ends.entries()) {
    const addressId = newId()
    const email = `waits-${n}@new.example`
    await oracle`
      insert into sign_in_challenge (tenant_id, id, account_id, hash, way, expires_at)
      values (${tenantId}, ${newId()}, ${accountId}, ${randomBytes(32)}, 'PASSWORD', ${end})`
    await oracle`
      insert into sign_in_link (tenant_id, id, hash, provider_id, issuer, subject, expires_at)
      values (${tenantId}, ${newId()}, ${randomBytes(32)}, ${newId()}, 'https://sso.example', ${email}, ${end})`
    await oracle`
      insert into sign_in_flow (tenant_id, id, hash, provider_scope, provider_id, redirect_uri, expires_at)
      values (${tenantId}, ${newId()}, ${randomBytes(32)}, ${tenantId}, ${newId()}, 'https://app.example/', ${end})`
    await oracle`
      insert into account_address (tenant_id, id, account_id, email, email_fold, ends_at)
      values (${tenantId}, ${addressId}, ${accountId}, ${email}, ${email}, ${end})`
    await oracle`
      insert into address_confirmation (tenant_id, id, account_id, address_id, email_fold, makes_primary, is_asked, expires_at)
      values (${tenantId}, ${newId()}, ${accountId}, ${addressId}, ${email}, false, true, ${end})`
  }
  await sweep()
  const [left] = await oracle`
    select (select count(*) from sign_in_challenge where account_id = ${accountId})::int as challenges,
           (select count(*) from sign_in_link where issuer = 'https://sso.example')::int as links,
           (select count(*) from sign_in_flow where redirect_uri = 'https://app.example/')::int as flows,
           (select count(*) from address_confirmation where email_fold like 'waits-%')::int as confirmations,
           (select count(*) from account_address where email_fold like 'waits-%')::int as addresses`
  expect(left).toEqual({ challenges: 2, links: 2, flows: 1, confirmations: 2, addresses: 2 })
})

test('an answer kept under a key goes after 24 hours, and the sealed value with it', async () => {
  const [old, fresh] = [randomUUID(), randomUUID()]
  for (const idempotencyKey of [old, fresh])
    await own.asRecovery(operations.provisionTenant, { body: provisionBody(), idempotencyKey })
  await own.oracle`update idempotency_record set created_at = now() - interval '24 hours 1 second' where key = ${old}`
  await sweep()
  expect([...(await own.oracle`select key from idempotency_record`)]).toEqual([{ key: fresh }])
  expect(await own.oracle`select 1 from sealed_value s join idempotency_record r on r.id = s.owner_id`).toHaveLength(1)
  expect(await own.oracle`select 1 from sealed_value`).toHaveLength(1)
})

test('a record that is used anew while the sweep waits for it is kept', async () => {
  const key = randomUUID()
  await own.asRecovery(operations.provisionTenant, { body: provisionBody(), idempotencyKey: key })
  await own.oracle`update idempotency_record set created_at = now() - interval '25 hours' where key = ${key}`
  let sweeping: Promise<void> | undefined
  await own.oracle.begin(async (sql) => {
    await sql`update idempotency_record set created_at = now() where key = ${key}`
    sweeping = sweep()
    const waits = () => own.oracle`select 1 from pg_locks where not granted and locktype = 'transactionid'`
    await expect.poll(waits).toHaveLength(1)
  })
  await sweeping
  expect(await own.oracle`select 1 from idempotency_record where key = ${key}`).toHaveLength(1)
})

test('a kind that fails is told, and does not stop the others', async () => {
  await own.oracle`
    insert into failed_attempt (tenant_id, id, account_id, purpose, at)
    values (${owner.tenantId}, ${newId()}, ${owner.accountId}, 'STEP_UP', now() - interval '2 days')`
  await own.oracle`insert into blocked_slug values ('beside', now() - interval '1 second')`
  await own.oracle.unsafe(`
    create function refuse_removal() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
    create trigger refuses before delete on failed_attempt for each row execute function refuse_removal()`)
  await expect(sweep()).rejects.toThrow('what has expired was not removed from failed_attempt')
  expect(await own.oracle`select 1 from blocked_slug where slug = 'beside'`).toHaveLength(0)
  await own.oracle.unsafe('drop trigger refuses on failed_attempt')
  await sweep()
  expect(await own.oracle`select 1 from failed_attempt where at < now() - interval '1 day'`).toHaveLength(0)
})

test.each(sweeps)('an index of $table begins with $since', async ({ table, since }) => {
  const found = await own.oracle`
    select 1 from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    where i.indrelid = ${table}::regclass and a.attname = ${since}`
  expect(found).toHaveLength(1)
})

describe('what waits to be removed', () => {
  beforeAll(async () => {
    await sweep()
    await own.oracle`
      insert into blocked_slug values ('long-ago', now() - interval '5 hours'), ('just-now', now() - interval '10 seconds')`
  })
  const look = () => withClient(own.installation.address, checkSweeps)

  test('is counted in the metrics, with its age', async () => {
    const metrics = openMetrics(own.installation.pool)
    metrics.watchDatabase(own.installation)
    const text = await metrics.text()
    expect(text).toContain('svc_sweep_rows{kind="blocked_slug"} 2')
    expect(text).toContain('svc_sweep_rows{kind="credential"} 0')
    expect(text).toMatch(/^svc_sweep_late_seconds\{kind="blocked_slug"\} 180\d\d/m)
  })

  test('is a finding of the doctor once it is three hours late', async () => {
    expect(await look()).toMatchObject({
      check: 'clean-up',
      state: 'warn',
      says: 'rows that have expired: 2 in blocked_slug, the oldest 5 h late',
    })
    await sweep()
    expect(await look()).toMatchObject({ state: 'ok', remedy: null })
  })
})

test('an enrolment that was not confirmed goes after an hour, and its sealed secret with it', async () => {
  const enrolled = async (at: Date) => {
    const id = newId()
    await own.oracle`
      insert into second_factor (tenant_id, id, account_id, created_at) values (${owner.tenantId}, ${id}, ${owner.accountId}, ${at})`
    await own.oracle`
      insert into sealed_value (tenant_id, kind, owner_id, key_id, wrap, ciphertext)
      values (${owner.tenantId}, 'mfa.totp', ${id}, 'k', ${randomBytes(8)}, ${randomBytes(8)})`
    await sweep()
    return own.oracle`select 1 from sealed_value where kind = 'mfa.totp'`
  }
  expect(await enrolled(hours(-2))).toHaveLength(0)
  expect(await enrolled(hours(-0.5))).toHaveLength(1)
  await own.oracle`delete from second_factor`
  await own.oracle`delete from sealed_value where kind = 'mfa.totp'`
})

test('a blocked slug goes when its time is over', async () => {
  await own.oracle`insert into blocked_slug values ('over', now() - interval '1 second'), ('not-yet', now() + interval '1 hour')`
  await sweep()
  expect([...(await own.oracle`select slug from blocked_slug`)]).toEqual([{ slug: 'not-yet' }])
})

test('where another daemon sweeps a kind, nothing of it is left to do', async () => {
  await own.oracle`insert into blocked_slug values ('swept', now() - interval '1 second')`
  const there = () => own.oracle`select slug from blocked_slug where slug = 'swept'`
  await own.oracle.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(${lockClasses.sweep}, hashtext('blocked_slug'))`
    await sweep()
    expect(await there()).toHaveLength(1)
  })
  await sweep()
  expect(await there()).toHaveLength(0)
})

test('more than fits in one batch is removed all the same, and twice at once does no harm', async () => {
  await own.oracle`
    insert into failed_attempt (tenant_id, id, account_id, purpose, at)
    select ${owner.tenantId}, gen_random_uuid(), ${owner.accountId}, 'STEP_UP', now() - interval '2 days' from generate_series(1, 2500)`
  await Promise.all([sweep(), sweep()])
  expect(await own.oracle`select 1 from failed_attempt where at < now() - interval '1 day'`).toHaveLength(0)
})
