/** What is no URI is refused by the schema, so that no step-up is spent on it. Spec: decisions 1, "Checks come in this order". */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { uri } from '../../src/core/contract/vocabulary.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp } from '../kit/people.ts'

let daemon: TestDaemon
let operator: Person
let owner: Person
beforeAll(async () => {
  daemon = await testDaemon()
  const { tenantId } = await setUp(daemon)
  operator = await person(daemon, tenantId, { operator: true })
  owner = await person(daemon, tenantId, { scopes: ['workspace:read', 'workspace:write', 'workspace:admin'] })
})
afterAll(() => daemon.close())

const none = [
  'nobody',
  'sso.example.org',
  '/path',
  '//sso.example.org/',
  'https://',
  'https:// sso.example.org',
  'https://sso.example.org/a b',
  'https://sso.example.org/"x"',
  'https://sso.example.org\\x',
  'https://sso.example.org/%zz',
  'https://sso.example.org:99999',
  'https://[::1',
  'https://b\u00fccher.example',
  ' https://sso.example.org',
  'https://sso.example.org\n',
  'urn:isbn:1',
  'mailto:ada@example.org',
]

const model = { display_name: 'M', processor: 'P', kind: 'NOOP', jurisdiction: 'SELF_HOSTED' }
const s3 = { region: 'eu', bucket: 'backups', access_key_id: 'A', secret_access_key: 's' }

/** Where a URI is sent: by whom, whither, and the body around it. */
const places: readonly [string, () => Person, string, string, (value: string) => unknown, pointer: string][] = [
  [
    'an issuer of the installation',
    () => operator,
    'POST',
    '/admin/identity-providers',
    (issuer) => ({ issuer, client_id: 'c' }),
    '/issuer',
  ],
  [
    'an issuer of a workspace',
    () => owner,
    'POST',
    '/identity-providers',
    (issuer) => ({ issuer, client_id: 'c' }),
    '/issuer',
  ],
  ['a base URL', () => operator, 'POST', '/admin/ai-providers', (base_url) => ({ ...model, base_url }), '/base_url'],
  [
    'an endpoint',
    () => operator,
    'POST',
    '/backup-targets',
    (endpoint) => ({ name: 't', kind: 'S3', config: { ...s3, endpoint } }),
    '/config/endpoint',
  ],
  [
    'a target',
    () => owner,
    'POST',
    '/integrations/webhooks',
    (target_url) => ({ target_url, event_types: ['svc.work.item.created.v1'] }),
    '/target_url',
  ],
  ['a link', () => operator, 'PUT', '/admin/settings', (terms_url) => ({ legal: { terms_url } }), '/legal/terms_url'],
]

test.each(places)('%s that is none is refused at its pointer', async (_, who, method, path, bodyWith, pointer) => {
  for (const value of none) {
    const { status, json } = await daemon.call(method, `/api/v1${path}`, { token: who().token, body: bodyWith(value) })
    expect([value, status, json.code, json.errors]).toEqual([
      value,
      422,
      'request.invalid',
      [{ pointer, code: 'value.format', params: { format: 'uri' } }],
    ])
  }
})

test('the document says so of each of them', async () => {
  const { json } = await daemon.call('GET', '/api/v1/openapi.json')
  const text = JSON.stringify(json.components.schemas)
  expect(text.match(/"format":"uri"/g)?.length).toBeGreaterThanOrEqual(places.length)
})

describe('a step-up', () => {
  const proof = async () => {
    const { token, hash } = mintToken('stepUp')
    await daemon.db.sql`
      insert into step_up (tenant_id, id, account_id, bearer_id, hash, expires_at)
      values (${operator.tenantId}, ${randomUUIDv7()}, ${operator.accountId}, ${operator.credentialId}, ${hash}, now() + interval '5 minutes')`
    return {
      token,
      isSpent: async () =>
        (await daemon.db.sql`select used_at from step_up where hash = ${hash}`)[0]?.['used_at'] !== null,
    }
  }
  const create = async (body: object) => {
    const { token, isSpent } = await proof()
    const { status, json } = await daemon.call('POST', '/api/v1/admin/identity-providers', {
      token: operator.token,
      body: { client_id: 'c', ...body },
      headers: { 'x-service-step-up': token },
    })
    return [status, json.errors?.[0]?.params ?? json.code, await isSpent()]
  }

  test('is not spent on an issuer that is none, nor on a domain that is none', async () => {
    for (const issuer of none) expect(await create({ issuer })).toEqual([422, { format: 'uri' }, false])
    expect(await create({ issuer: 'ftp://sso.example.org' })).toEqual([422, { format: 'issuer' }, false])
    expect(await create({ issuer: 'https://sso.example.org/?a' })).toEqual([422, { format: 'issuer' }, false])
    expect(await create({ issuer: 'https://sso.example.org', allowed_email_domains: ['no domain'] })).toEqual([
      422,
      { format: 'domain' },
      false,
    ])
  })

  test('is spent on what only the guard refuses', async () => {
    expect(await create({ issuer: 'https://127.0.0.1' })).toEqual([422, 'egress.forbidden', true])
  })
})

test.each([
  'https://sso.example.org',
  'HTTPS://sso.example.org:8443/a;b=c/%20?d=[e]#f',
  'http://[::1]:80/',
  'http://127.1',
  'x-y+z.1://h',
])('%s is a URI', (value) => expect(uri(100).safeParse(value).success).toBe(true))
