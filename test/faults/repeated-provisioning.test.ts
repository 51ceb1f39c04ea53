/** One Idempotency-Key is one workspace, whoever repeats it how often. Decisions 1; threats T-09. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, plantAccount, plantToken } from '../kit/accounts.ts'
import { request } from '../kit/callers.ts'
import { dump, occurrences } from '../kit/dump.ts'
import { freshSlug, password, provisionBody, type TestInstallation, testInstallation } from '../kit/installation.ts'

const { provisionTenant } = operations
const keys = 50
const crowd = 20

let own: TestInstallation
let who: Callers
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const send = (body: object, idempotencyKey: string, token = who.token) =>
  request(who.daemon.url, provisionTenant, { body, idempotencyKey }, token)
type Provisioned = { redemption_token: string; tenant: { id: string; slug: string } }

/** The same members in another order: the same request. */
const reordered = (body: object) => Object.fromEntries(Object.entries(body).reverse())

test(`${keys} keys, ${crowd} requests at once under each, a quarter of them with another body: ${keys} workspaces`, async () => {
  const before = (await own.oracle`select 1 from tenant`).length
  const secrets = new Set<string>()
  for (let n = 0; n < keys; n += 1) {
    const key = randomUUID()
    const body = provisionBody()
    const other = { ...body, slug: freshSlug('other') }
    const answers = await Promise.all(
      Array.from({ length: crowd }, (_, i) => send(i % 4 === 3 ? other : i % 2 === 0 ? body : reordered(body), key)),
    )
    const served = answers.filter(({ status }) => status === 201)
    const refused = answers.filter(({ status }) => status === 422)
    expect(served.length + refused.length).toBe(crowd)
    expect([crowd / 4, (crowd * 3) / 4]).toContain(refused.length)
    expect(served.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
    for (const { body: problem } of refused) expect(problem).toMatchObject({ code: 'idempotency.key_reused' })
    const tokens = new Set(served.map(({ body: made }) => (made as Provisioned).redemption_token))
    expect(tokens.size).toBe(1)
    const locations = new Set(served.map(({ headers }) => headers.get('location')))
    expect([...locations]).toEqual([expect.stringMatching(/^\/api\/v1\/admin\/tenants\/[0-9a-f-]{36}$/)])
    for (const token of tokens) secrets.add(token)
  }
  expect((await own.oracle`select 1 from tenant`).length - before).toBe(keys)
  expect(secrets.size).toBe(keys)

  const contents = await dump(own.oracle)
  expect(occurrences(contents, who.operator.email)).toContain('public.account') // the search finds what is there
  for (const secret of [
    ...secrets,
    who.token,
    password,
    who.operator.session.access_token,
    who.operator.session.refresh_token,
  ])
    expect(occurrences(contents, secret)).toEqual([])
}, 120_000)

test('a key is the account’s own and the operation’s own: nobody is answered what another one asked', async () => {
  const colleague = await plantAccount(own, who.operator.tenantId, 'OWNER')
  await own.oracle`insert into operator (account_id, workspace_id) values (${colleague.accountId}, ${who.operator.tenantId})`
  const { token } = await plantToken(own, colleague, { scopes: ['admin:tenants'] })
  const key = randomUUID()
  const mine = await send(provisionBody(), key)
  const theirs = await send(provisionBody(), key, token)
  const atDatabase = await own.asRecovery(provisionTenant, { body: provisionBody(), idempotencyKey: key })
  expect([mine.status, theirs.status]).toEqual([201, 201])
  const tokens = [mine.body, theirs.body, atDatabase].map((made) => (made as Provisioned).redemption_token)
  expect(new Set(tokens).size).toBe(3)
})

test('after 24 hours the key is new', async () => {
  const key = randomUUID()
  const first = await send(provisionBody(), key)
  await own.oracle`update idempotency_record set created_at = created_at - interval '23 hours 59 minutes' where key = ${key}`
  expect((await send(provisionBody(), key)).status).toBe(422)
  await own.oracle`update idempotency_record set created_at = created_at - interval '2 minutes' where key = ${key}`
  const second = await send(provisionBody(), key)
  expect(second.status).toBe(201)
  expect((second.body as Provisioned).tenant.id).not.toBe((first.body as Provisioned).tenant.id)
  const orphans = own.oracle`
    select from sealed_value s where kind = 'idempotency.answer' and not exists (select from idempotency_record r where r.id = s.owner_id)`
  expect(await orphans).toHaveLength(0)
})

test('what the schema refuses leaves the key free', async () => {
  const key = randomUUID()
  expect((await send({ ...provisionBody(), slug: 'NO' }, key)).status).toBe(422)
  expect((await send(provisionBody(), key)).status).toBe(201)
})

test('a twin waits for the first one, and is answered the same', async () => {
  const key = randomUUID()
  const body = provisionBody()
  const held = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holding = own.oracle.begin(async (sql) => {
    await sql`lock table container in share mode` // the first one stops in the middle of its work
    locked.resolve()
    await held.promise
  })
  await locked.promise
  const first = send(body, key)
  const waits = () => own.oracle`select 1 from pg_locks where not granted and relation = 'container'::regclass`
  while ((await waits()).length === 0) await pause(5)
  const twin = send(body, key)
  const twinWaits = () => own.oracle`select 1 from pg_locks where not granted and locktype = 'transactionid'`
  while ((await twinWaits()).length === 0) await pause(5)
  held.resolve()
  await holding
  const [one, two] = await Promise.all([first, twin])
  expect([one.status, two.status]).toEqual([201, 201])
  expect(two.headers.get('idempotency-replayed')).toBe('true')
  expect(two.body).toEqual(one.body)
})

test('a record that somebody holds for longer than a lock may last: 409 and when to ask again', async () => {
  const key = randomUUID()
  const body = provisionBody()
  await send(body, key)
  const held = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holding = own.oracle.begin(async (sql) => {
    // A running first request holds its new record; a deleted one, not yet committed, makes the twin wait alike.
    await sql`delete from idempotency_record where key = ${key}`
    locked.resolve()
    await held.promise
  })
  await locked.promise
  const answer = await send(body, key)
  held.resolve()
  await holding
  expect(answer.status).toBe(409)
  expect(answer.body).toMatchObject({ code: 'idempotency.in_progress' })
  expect(answer.headers.get('retry-after')).toBe('1')
})
