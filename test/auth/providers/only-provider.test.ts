/** The workspace's only own provider, as clients of before know it. People 4, N22 and N23. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Answered } from '../../kit/daemon.ts'
import { meeting } from '../../kit/meeting.ts'
import { type Person, person, workspace } from '../../kit/people.ts'
import { type ProvingHouse, provingHouse } from '../../kit/proving-house.ts'

let house: ProvingHouse
let tenantId: string
let owner: Person
let counter = 0
beforeAll(async () => {
  house = await provingHouse()
})
afterAll(() => house.close())
beforeEach(async () => {
  counter += 1
  tenantId = await workspace(house.ways.daemon, `only-${counter}`)
  owner = await person(house.ways.daemon, tenantId)
})

const path = '/api/v1/identity-provider'
const configuration = (more: object = {}) => ({ issuer: house.real.issuer, client_id: 'svc', ...more })
const call = (method: string, body?: object, headers: Record<string, string> = {}, url = path, who = owner) =>
  house.ways.daemon.call(method, url, { token: who.token, headers, ...(body ? { body } : {}) })
const get = (who = owner) => call('GET', undefined, {}, path, who)
const put = (more: object = {}, headers: Record<string, string> = {}) => call('PUT', configuration(more), headers)
const codeOf = ({ status, json }: Answered) => [status, json?.code]
const trail = async () =>
  (
    await house.ways.sql<{ action: string }[]>`
      select action from audit_entry where tenant_id = ${tenantId} and action like 'identity_provider.%' order by id`
  ).map(({ action }) => action)

test('is not there at first; PUT adds it, switched on, and then changes it', async () => {
  expect(codeOf(await get())).toEqual([404, 'not_found'])
  const made = await put({ client_secret: 'shared', display_name: 'Acme' })
  expect([made.status, made.json]).toMatchObject([
    200,
    { owner: 'WORKSPACE', offered: true, has_secret: true, version: 1 },
  ])
  const found = await get()
  expect([found.json, found.headers['etag']]).toEqual([made.json, '"1"'])
  const changed = await put({ display_name: 'Acme SSO' }, { 'if-match': '"1"' })
  expect(changed.json).toMatchObject({ id: made.json.id, display_name: 'Acme SSO', has_secret: true, version: 2 })
  expect(codeOf(await put({}, { 'if-match': '"1"' }))).toEqual([412, 'precondition.failed'])
  expect(await trail()).toEqual(['identity_provider.created', 'identity_provider.changed'])
})

test('a tag names nothing where there is none, and `*` names what there is', async () => {
  for (const tag of ['"1"', '"0"', '*'])
    expect(codeOf(await put({}, { 'if-match': tag })), tag).toEqual([412, 'precondition.failed'])
  expect(await trail()).toEqual([])
  await put()
  expect((await put({ display_name: 'Acme SSO' }, { 'if-match': '*' })).json).toMatchObject({ version: 2 })
})

test('with several there is no only one', async () => {
  await put()
  await call('POST', configuration(), {}, '/api/v1/identity-providers')
  for (const answer of [await get(), await put()])
    expect([...codeOf(answer), answer.json.params]).toEqual([409, 'identity_provider.many', { count: 2 }])
})

test('refuses what the list refuses', async () => {
  expect(codeOf(await put({ enabled: false }))).toEqual([409, 'identity_provider.withdraw_instead'])
  expect(codeOf(await put({ kind: 'PRESET_ONE' }))).toEqual([422, 'identity_provider.kind_mismatch'])
  expect(codeOf(await put({ issuer: 'http://10.0.0.1/x' }))).toEqual([422, 'egress.forbidden'])
  const nobody = await put({ issuer: 'http://127.0.0.1:9/' })
  expect(codeOf(nobody)).toEqual([422, 'identity_provider.discovery_failed'])
  expect(await trail()).toEqual([])
})

test('is read by administrators and set by owners', async () => {
  await put()
  const admin = await person(house.ways.daemon, tenantId, { role: 'ADMIN' })
  expect((await get(admin)).status).toBe(200)
  expect(codeOf(await call('PUT', configuration(), {}, path, admin))).toEqual([403, 'auth.role_required'])
})

test('each answer, also a refusal, says what takes its place', async () => {
  const answers = [await get(), await put(), await get(), await call('PUT', { nothing: true })]
  answers.push(await house.ways.daemon.call('GET', path))
  for (const { headers } of answers)
    expect([headers['deprecation'], headers['link']]).toEqual([
      `@${Date.parse('2026-11-25') / 1000}`,
      '</api/v1/identity-providers>; rel="successor-version"',
    ])
  const list = await call('GET', undefined, {}, '/api/v1/identity-providers')
  expect([list.headers['deprecation'], list.headers['link']]).toEqual([undefined, undefined])
})

test('of two at once that find none, one adds it and the other changes it', async () => {
  const outcomes = await meeting(
    house.ways.sql,
    (sql) => sql`select pg_advisory_xact_lock(7380, hashtext(${tenantId}))`,
    2,
    () => Promise.all([put({ display_name: 'One' }), put({ display_name: 'Other' })]),
  )
  expect(outcomes.map(({ status }) => status)).toEqual([200, 200])
  expect(await trail()).toEqual(['identity_provider.created', 'identity_provider.changed'])
})
