/** What is over is removed, what still counts is not. Spec: decisions 1, Idempotency-Key; 2, Tokens. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweepExpired } from '../../src/core/areas/auth/sign-in/jobs.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { lockClasses } from '../../src/core/kernel/database/lock-classes.ts'
import { newId } from '../../src/core/kernel/values/id.ts'
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

test('tokens and proofs go a day after they end, failures a day after they happen', async () => {
  const { oracle } = own
  const keep = [
    await plantToken(own, owner, { scopes: ['workspace:read'], expiresAt: hours(-23) }),
    await plantToken(own, owner, { scopes: ['workspace:read'] }),
  ]
  const gone = await plantToken(own, owner, { scopes: ['workspace:read'], expiresAt: hours(-25) })
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
  await sweep()
  await expect(refresh()).rejects.toMatchObject({ code: 'auth.unauthenticated' })
  await expect(who.as(next.access_token).call(operations.getOwnAccount)).rejects.toMatchObject({
    code: 'auth.unauthenticated',
  })
})

test('a session goes with its last token, a used invitation when it would have expired', async () => {
  const { oracle } = own
  const sessionsOf = async (ids: readonly string[]) =>
    (await oracle`select id from session`).map((row) => row['id'] as string).filter((id) => ids.includes(id))
  const [empty, young] = [newId(), newId()]
  for (const [id, at] of [
    [empty, hours(-25)],
    [young, hours(-23)],
  ] as const)
    await oracle`insert into session (tenant_id, id, account_id, created_at) values (${owner.tenantId}, ${id}, ${owner.accountId}, ${at})`
  await oracle`update session set created_at = ${hours(-99)} where id = ${owner.session.session_id}`
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
  expect((await sessionsOf([empty, young, owner.session.session_id])).sort()).toEqual(
    [young, owner.session.session_id].sort(),
  )
  expect(await oracle`select 1 from invitation`).toHaveLength(before.length - 1)
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

test('a blocked slug goes when its time is over', async () => {
  await own.oracle`insert into blocked_slug values ('over', now() - interval '1 second'), ('not-yet', now() + interval '1 hour')`
  await sweep()
  expect([...(await own.oracle`select slug from blocked_slug`)]).toEqual([{ slug: 'not-yet' }])
})

test('where another daemon sweeps, nothing is left to do', async () => {
  await own.oracle`insert into blocked_slug values ('swept', now() - interval '1 second')`
  const there = () => own.oracle`select slug from blocked_slug where slug = 'swept'`
  await own.oracle.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(${lockClasses.sweep}, 0)`
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
