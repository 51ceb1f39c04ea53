/**
 * Who may call what, for every operation there is: the matrix follows from `needs`, so a
 * new operation is in it as soon as it is declared.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { type Operation, stepUpOf } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { rankOf, roles, scopes } from '../../src/core/contract/vocabulary.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { mediaTypeOf } from '../../src/daemon/refusals.ts'
import { type Answered, type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Credential, everyScope, person, setUp, workspace } from '../kit/people.ts'

const every: readonly Operation[] = Object.values(operations)
const guarded = every.filter(({ needs }) => needs.caller !== 'anyone')
const open = every.filter(({ needs }) => needs.caller === 'anyone')
const named = (list: readonly Operation[]) => list.map((operation) => [operation.id, operation] as const)

let daemon: TestDaemon
let tenantId: string
let suspendedId: string
let leavingId: string
/** Tokens by what is wrong with them, made once. */
const tokens = new Map<string, string>()

const wrongTokens: Readonly<Record<string, Credential>> = {
  expired: { expires: "now() - interval '1 second'" },
  revoked: { revoked: true },
  'of a revoked session': { kind: 'SESSION', sessionRevoked: true },
  'of a disabled account': { accountState: 'DISABLED' },
}

beforeAll(async () => {
  daemon = await testDaemon({ config: { mode: 'multi' } })
  tenantId = (await setUp(daemon)).tenantId
  suspendedId = await workspace(daemon, 'suspended', 'SUSPENDED')
  leavingId = await workspace(daemon, 'leaving', 'PENDING_DELETION')
  // Rates are another test's matter.
  await daemon.db.sql`insert into tenant_quota select id, 'api_requests_per_minute', 0 from tenant`
  const make = async (name: string, tenant: string, credential: Credential) =>
    tokens.set(name, (await person(daemon, tenant, credential)).token)
  for (const [name, credential] of Object.entries(wrongTokens))
    await make(name, tenantId, { ...credential, operator: true })
  await make('suspended', suspendedId, { operator: true })
  await make('leaving', leavingId, { operator: true })
  const restoringId = await workspace(daemon, 'restoring', 'ACTIVE')
  await daemon.db.sql`update tenant set restoring_at = now() where id = ${restoringId}`
  await make('restoring', restoringId, { scopes: everyScope.filter((scope) => scope !== 'admin:tenants') })
  await make('operator of restoring', restoringId, { operator: true })
  await make('right', tenantId, { operator: true })
  await make('outsider', tenantId, {})
  for (const scope of scopes)
    await make(`without ${scope}`, tenantId, { scopes: everyScope.filter((other) => other !== scope), operator: true })
  for (const role of roles) await make(role, tenantId, { role })
})
afterAll(() => daemon.close())

const urlOf = (operation: Operation, id: string = randomUUID()) => `/api/v1${operation.path.replace(/\{\w+\}/g, id)}`

/** Calls with an empty object where a body is taken: enough to get past the syntax, and never enough to change anything. */
const call = (operation: Operation, headers: Record<string, string> = {}) =>
  daemon.call(operation.method, urlOf(operation), {
    headers,
    ...(operation.method === 'GET'
      ? {}
      : {
          body: {},
          headers: {
            ...headers,
            'content-type': mediaTypeOf(operation),
          },
        }),
  })
const callAs = (operation: Operation, token: string | undefined) =>
  call(operation, token === undefined ? {} : { authorization: `Bearer ${token}` })

const gateCodes = new Set([
  'auth.unauthenticated',
  'tenant_suspended',
  'workspace.restoring',
  'auth.scope_required',
  'auth.role_required',
  'admin.operator_required',
])

function expectUnauthenticated({ status, json, headers }: Answered): void {
  expect([status, json?.code, headers['www-authenticate']]).toEqual([401, 'auth.unauthenticated', 'Bearer'])
}

/** Everything a call could leave behind. */
async function evidence(): Promise<unknown> {
  const [row] = await daemon.db.sql`
    select (select count(*) from journal) as journal, (select count(*) from audit_entry) as trail, (select count(*) from outbox_event) as events,
           (select count(*) from credential) as credentials, (select count(*) from operator) as operators, (select count(*) from idempotency_record) as records`
  return row
}

describe.each(named(guarded))('%s', (_, operation) => {
  test('refuses whoever has no valid token, and leaves no trace', async () => {
    const before = await evidence()
    const { token } = mintToken('personal')
    const flipped = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
    const headers = [
      {},
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: `Bearer ${token}, Bearer ${token}` },
      { authorization: `Basic ${Buffer.from(`x:${tokens.get('right')}`).toString('base64')}` },
      { authorization: `Token ${tokens.get('right')}` },
      { authorization: `${tokens.get('right')}` },
      { authorization: 'Bearer garbage' },
      { authorization: `Bearer ${flipped}` },
      { authorization: `Bearer ${token}` },
      { authorization: `Bearer ${mintToken('refresh').token}` },
      { authorization: `Bearer ${mintToken('stepUp').token}` },
      { cookie: `token=${tokens.get('right')}` },
    ]
    for (const sent of headers) expectUnauthenticated(await call(operation, sent))
    for (const name of Object.keys(wrongTokens)) expectUnauthenticated(await callAs(operation, tokens.get(name)))
    expect(await evidence()).toEqual(before)
  })

  test('refuses the people of a workspace that is not active', async () => {
    for (const name of ['suspended', 'leaving']) {
      const { status, json } = await callAs(operation, tokens.get(name))
      expect([status, json?.code]).toEqual([403, 'tenant_suspended'])
    }
  })

  test('refuses the people of a workspace that is being restored, and says when to come back', async () => {
    const { status, json, headers } = await callAs(operation, tokens.get('restoring'))
    expect([status, json?.code, headers['retry-after']]).toEqual([503, 'workspace.restoring', '5'])
    // An operator sees the installation, wherever the account belongs.
    if (operation.method === 'GET')
      expect((await callAs(operation, tokens.get('operator of restoring'))).json?.code).not.toBe('workspace.restoring')
  })

  test('admits whoever has all that it needs', async () => {
    const { json } = await callAs(operation, tokens.get('right'))
    expect(gateCodes).not.toContain(json?.code)
  })
})

const changing = guarded.filter(({ needs }) => needs.caller === 'account' && needs.changes === 'ways in')

test.each(named(changing))('%s takes a session, or a token with workspace:admin', async (_, operation) => {
  const { status, json } = await callAs(operation, tokens.get('without workspace:admin'))
  expect([status, json]).toMatchObject([403, { code: 'auth.scope_required', params: { scope: 'workspace:admin' } }])
  const session = await person(daemon, tenantId, { kind: 'SESSION', scopes: ['workspace:read'] })
  for (const token of [session.token, tokens.get('without admin:tenants'), tokens.get('without workspace:read')])
    expect((await callAs(operation, token)).json?.code).not.toBe('auth.scope_required')
})

/** The account's own affairs that change none of its ways in: reading, agreeing to terms, preferences, what it is told, proving who is there. */
test('what any token of an account may do is named here', () => {
  const served = guarded.filter(
    ({ needs }) => needs.caller === 'account' && needs.changes !== 'ways in' && needs.credential === undefined,
  )
  expect(served.map(({ id }) => id).sort()).toEqual([
    'agreeToTerms',
    'changePreferences',
    'changePrivacyRequest',
    'getAiObjection',
    'getOwnAccount',
    'getPrivacyPackage',
    'getPrivacyRequest',
    'giveConsent',
    'listConsents',
    'listEmergencyNotices',
    'listNotificationPreferences',
    'listNotifications',
    'listPresets',
    'listPrivacyRequests',
    'listSessions',
    'listTokens',
    'markNotifications',
    'noteAiNotice',
    'openPrivacyRequest',
    'setNotificationPreference',
    'stepUp',
    'stepUpByProvider',
    'withdrawConsent',
  ])
})

test.each([
  'getAiObjection',
  'getOwnAccount',
  'listConsents',
  'listEmergencyNotices',
  'listNotifications',
  'listPresets',
  'listSessions',
  'listTokens',
] as const)('%s is served to every token', async (id) => {
  const { token } = await person(daemon, tenantId, { scopes: ['workspace:read'], role: 'VIEWER' })
  expect((await callAs(operations[id], token)).status).toBe(200)
})

const scoped = guarded.filter(({ needs }) => needs.caller === 'workspace' || needs.caller === 'operator')
const scopeOf = ({ needs }: Operation) => (needs.caller === 'workspace' ? needs.scope : 'admin:tenants')

test.each(named(scoped))('%s refuses a token without its scope, and no other', async (_, operation) => {
  const scope = scopeOf(operation)
  const { status, json } = await callAs(operation, tokens.get(`without ${scope}`))
  expect([status, json]).toMatchObject([403, { code: 'auth.scope_required', params: { scope } }])
  for (const other of scopes.filter((candidate) => candidate !== scope)) {
    expect((await callAs(operation, tokens.get(`without ${other}`))).json?.code).not.toBe('auth.scope_required')
  }
})

const ofOperators = guarded.filter(({ needs }) => needs.caller === 'operator')

test.each(named(ofOperators))('%s refuses whoever is not in the register', async (_, operation) => {
  const { status, json } = await callAs(operation, tokens.get('outsider'))
  expect([status, json?.code]).toEqual([403, 'admin.operator_required'])
})

const ofWorkspaces = guarded.flatMap((operation) =>
  operation.needs.caller === 'workspace' ? [[operation.id, operation, operation.needs.role] as const] : [],
)

test.each(ofWorkspaces)('%s refuses every lower role, and no other', async (_, operation, needed) => {
  for (const role of roles) {
    const { status, json } = await callAs(operation, tokens.get(role))
    if (rankOf[role] < rankOf[needed])
      expect([status, json]).toMatchObject([403, { code: 'auth.role_required', params: { role: needed } }])
    else expect(json?.code).not.toBe('auth.role_required')
  }
})

test.each(named(open))('%s asks nobody who they are', async (_, operation) => {
  const { json } = await callAs(operation, undefined)
  expect(['request.invalid', undefined]).toContain(json?.code)
})

const ofBoth = guarded.flatMap((operation) =>
  operation.needs.caller === 'workspace or operator' ? [[operation.id, operation, operation.needs] as const] : [],
)

describe.each(ofBoth)('%s serves workspaces and the installation', (_, operation, { scope, role: needed }) => {
  const withScopes = async (scopes: Credential['scopes'], more: Credential = {}) => {
    const { token } = await person(daemon, tenantId, { ...(scopes ? { scopes } : {}), ...more })
    return (await callAs(operation, token)).json
  }

  test('with admin:tenants alone, whoever is in the register', async () => {
    expect(gateCodes).not.toContain((await withScopes(['admin:tenants'], { operator: true, role: 'VIEWER' }))?.code)
    expect((await withScopes(['admin:tenants']))?.code).toBe('admin.operator_required')
    expect((await withScopes(everyScope, { role: 'OWNER' }))?.code).toBe('admin.operator_required')
  })

  test('without admin:tenants, by scope and role alone', async () => {
    const others = scopes.filter((one) => one !== 'admin:tenants')
    expect(
      await withScopes(
        others.filter((one) => one !== scope),
        { operator: true },
      ),
    ).toMatchObject({ code: 'auth.scope_required', params: { scope } })
    for (const role of roles) {
      const code = (await withScopes(others, { role }))?.code
      if (rankOf[role] < rankOf[needed]) expect(code).toBe('auth.role_required')
      else expect(gateCodes).not.toContain(code)
    }
  })
})

test('a path id that is no UUID is told before anybody is asked who they are', async () => {
  const areIds = ({ shape }: z.ZodObject) =>
    Object.values(shape as Record<string, z.ZodType>).every((one) => one.meta()?.format === 'uuid')
  for (const operation of guarded.filter(({ params }) => params && areIds(params))) {
    for (const id of ['1', 'x'.repeat(101), '00000000-0000-0000-0000-00000000000G', 'urn']) {
      const { status, json } = await daemon.call(operation.method, urlOf(operation, id), {})
      expect([operation.id, status, json?.code]).toEqual([operation.id, 400, 'request.malformed'])
    }
  }
})

describe('the register', () => {
  test('while it is empty, the scope alone lets in to POST /admin/operators, and to nothing else', async () => {
    const kept = await daemon.db.sql`delete from operator returning *`
    try {
      for (const operation of ofOperators) {
        const { status, json } = await callAs(operation, tokens.get('outsider'))
        if (operation.id === 'addOperator') expect(status).toBe(422)
        else expect([operation.id, status, json?.code]).toEqual([operation.id, 403, 'admin.operator_required'])
        expect((await callAs(operation, tokens.get('without admin:tenants'))).json?.code).toBe('auth.scope_required')
      }
    } finally {
      for (const row of kept) await daemon.db.sql`insert into operator ${daemon.db.sql(row)}`
    }
  })

  test('removal from it holds from the next request', async () => {
    const operator = await person(daemon, tenantId, { operator: true })
    expect((await daemon.call('GET', '/api/v1/admin/overview', { token: operator.token })).status).toBe(200)
    await daemon.db.sql`delete from operator where account_id = ${operator.accountId}`
    expect((await daemon.call('GET', '/api/v1/admin/overview', { token: operator.token })).json.code).toBe(
      'admin.operator_required',
    )
  })
})

test("another workspace's id is answered as one that nobody has", async () => {
  const owner = await person(daemon, tenantId)
  const otherId = await workspace(daemon, 'other')
  const { sql } = daemon.db
  const [hub, board] = [randomUUID(), randomUUID()]
  await sql`insert into container (tenant_id, id, kind, name, rank) values (${otherId}, ${hub}, 'HUB', 'canary', 'a')`
  await sql`insert into container (tenant_id, id, kind, parent_id, name, rank) values (${otherId}, ${board}, 'COLLECTION', ${hub}, 'canary', 'a')`
  const body = ({ text }: Answered) => text.replace(/urn:uuid:[0-9a-f-]+/, '')
  for (const operation of guarded.filter(({ needs, params }) => needs.caller === 'workspace' && params)) {
    for (const id of [hub, board]) {
      const foreign = await daemon.call(operation.method, urlOf(operation, id), { token: owner.token })
      const unknown = await daemon.call(operation.method, urlOf(operation), { token: owner.token })
      // An empty body, and a missing proof, are refused before anything is looked for, where one is asked for.
      const isRefusedFirst = operation.body !== undefined || stepUpOf(operation.needs) !== undefined
      expect([foreign.status, body(foreign)]).toEqual([isRefusedFirst ? unknown.status : 404, body(unknown)])
      expect(foreign.text).not.toContain('canary')
    }
  }
})

describe('on a base domain', () => {
  let hosted: TestDaemon
  beforeAll(async () => {
    hosted = await testDaemon({ config: { baseDomain: 'svc.example' } })
  })
  afterAll(() => hosted.close())

  test("a workspace's subdomain serves its own tokens, and signs in without naming it", async () => {
    const { tenantId: homeId, email, password } = await setUp(hosted, 'acme')
    const { token } = await person(hosted, homeId)
    const at = (host: string) => hosted.call('GET', '/api/v1/accounts/me', { token, headers: { host } })
    for (const host of ['acme.svc.example', 'ACME.svc.example:8080', 'svc.example', '127.0.0.1', 'elsewhere.example'])
      expect((await at(host)).status).toBe(200)
    for (const host of ['other.svc.example', 'other.svc.example:443', 'x.acme.svc.example'])
      expectUnauthenticated(await at(host))

    const signIn = (host: string) =>
      hosted.call('POST', '/api/v1/auth/sessions', { body: { email, password }, headers: { host } })
    expect((await signIn('acme.svc.example')).status).toBe(201)
    expect((await signIn('other.svc.example')).json.code).toBe('auth.sign_in_failed')

    const renewed = await hosted.call('POST', '/api/v1/auth/sessions:set-password', {
      body: { email, password, new_password: 'another correct horse' },
      headers: { host: 'acme.svc.example' },
    })
    expect(renewed.status).toBe(201)
  })

  test('every operation whose schema says that the host names the workspace lets it', () => {
    const said = every.flatMap((operation) =>
      (['query', 'body'] as const)
        .filter((place) => {
          const { shape } = (operation[place] ?? {}) as Partial<z.ZodObject>
          return shape?.['workspace']?.description === "absent: the host's subdomain"
        })
        .map((place) => [operation.id, place]),
    )
    expect(said.length).toBeGreaterThan(4)
    expect(said).toEqual(every.flatMap(({ id, workspaceIn }) => (workspaceIn ? [[id, workspaceIn]] : [])))
  })
})

test('a credential notes its use once a minute, behind the answer', async () => {
  // On one connection notes and calls take turns, so a later call's note shows that an earlier one's was made, or never will be.
  const single = await testDaemon({ config: { poolSize: 1 } })
  try {
    const home = await setUp(single)
    const { token, credentialId } = await person(single, home.tenantId)
    const later = await person(single, home.tenantId)
    const seen = async (id: string) =>
      (await single.db.sql<{ at: Date | null }[]>`select last_used_at as at from credential where id = ${id}`)[0]?.at

    await single.call('GET', '/api/v1/accounts/me', { token })
    await expect.poll(() => seen(credentialId)).toBeInstanceOf(Date)
    const first = await seen(credentialId)
    await single.call('GET', '/api/v1/accounts/me', { token })
    await single.call('GET', '/api/v1/accounts/me', { token: later.token })
    await expect.poll(() => seen(later.credentialId)).toBeInstanceOf(Date)
    expect(await seen(credentialId)).toEqual(first)

    await single.db.sql`update credential set last_used_at = now() - interval '61 seconds' where id = ${credentialId}`
    await single.call('GET', '/api/v1/accounts/me', { token })
    await expect.poll(async () => (await seen(credentialId))!.getTime()).toBeGreaterThan(first!.getTime())
  } finally {
    await single.close()
  }
})
