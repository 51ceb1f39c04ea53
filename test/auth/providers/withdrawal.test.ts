/**
 * The end of an offer as people meet it: who gets in until when, the fall-back to passwords,
 * the return, the mails, and the plan that says so beforehand. Against a real provider.
 * Spec: Offered identity provider; Admin: identity providers, rule 5; Plans before destruction.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { endDueOffers, tellWorkspaces } from '../../../src/core/areas/auth/offered-providers/jobs.ts'
import { operations } from '../../../src/core/contract/operations.ts'
import {
  identityProviderOperations as admin,
  withdrawalPlanOperations,
} from '../../../src/core/contract/providers/offered.ts'
import { settingsOperations } from '../../../src/core/contract/settings/operations.ts'
import { type Release, readRelease } from '../../../src/core/kernel/egress/guard.ts'
import { codeAt, wrongCode } from '../../kit/authenticator.ts'
import { type OidcProvider, oidcProvider } from '../../kit/oidc-provider.ts'
import { person, storedPassword, workspace } from '../../kit/people.ts'
import { finish, signInThrough, start } from '../../kit/signing-in.ts'
import { type TwoWays, twoWays } from '../../kit/two-ways.ts'

let ways: TwoWays
let real: OidcProvider
const password = 'correct horse battery staple'
let passwordHash: string

beforeAll(async () => {
  real = await oidcProvider()
  ways = await twoWays({ egress: readRelease('127.0.0.0/8') as Release })
  passwordHash = await storedPassword(password)
})
afterAll(async () => {
  await ways.close()
  await real.close()
})
beforeEach(() => decide({}))

const decide = (sign_in: object) => ways.call('recovery', settingsOperations.replaceSettings, { body: { sign_in } })
const onlyProviders = () => decide({ methods: { value: ['PROVIDER'], locked: true } })

interface Workspace {
  readonly id: string
  readonly slug: string
  /** Has a password. */
  readonly ada: string
  /** Has none. */
  readonly bob: string
}

let counter = 0
async function madeWorkspace(): Promise<Workspace> {
  counter += 1
  const slug = `end-${counter}`
  const id = await workspace(ways.daemon, slug)
  const [ada, bob] = [`ada@${slug}.example`, `bob@${slug}.example`]
  for (const [email, hash, role] of [
    [ada, passwordHash, 'OWNER'],
    [bob, null, 'MEMBER'],
  ] as const) {
    const accountId = randomUUIDv7()
    await ways.sql`
      insert into account (tenant_id, id, kind, state, email, email_fold, password_hash, password_changed_at)
      values (${id}, ${accountId}, 'PERSON', 'ACTIVE', ${email}, ${email}, ${hash}, now())`
    await ways.sql`insert into membership (tenant_id, id, account_id, role) values (${id}, ${randomUUIDv7()}, ${accountId}, ${role})`
  }
  return { id, slug, ada, bob }
}

async function offeredTo(...list: readonly Workspace[]): Promise<string> {
  const { id } = await ways.call('recovery', admin.createIdentityProvider, {
    body: {
      issuer: real.issuer,
      client_id: real.clientId,
      client_secret: real.clientSecret,
      display_name: `Acme SSO ${counter}`,
    },
  })
  for (const at of list) await switchOn(at, id)
  return id
}

async function switchOn(at: Workspace, providerId: string): Promise<void> {
  const { token } = await person(ways.daemon, at.id)
  const { status } = await ways.daemon.call('POST', `/api/v1/identity-providers/${providerId}:offer`, {
    token,
    body: { offered: true },
  })
  expect(status).toBe(200)
}

const enter = (at: Workspace, provider_id: string, email: string) => {
  real.person(email, { email, email_verified: true })
  return signInThrough(ways.daemon, real, { workspace: at.slug, provider_id })
}
const byPassword = async ({ slug }: Workspace, email: string, secret = password) => {
  const { status, json } = await ways.daemon.call('POST', '/api/v1/auth/sessions', {
    body: { workspace: slug, email, password: secret },
  })
  return status === 201 ? 'in' : json.code
}
const rules = async ({ slug }: Workspace) =>
  (await ways.daemon.call('GET', `/api/v1/auth/sign-in-rules?workspace=${slug}`)).json
const endNow = (providerId: string, confirm_count: number) =>
  ways.call('recovery', admin.withdrawIdentityProvider, {
    providerId,
    body: { withdraw_at: new Date().toISOString(), confirm_count },
  })
const cancel = (providerId: string) => ways.call('recovery', admin.cancelIdentityProviderWithdrawal, { providerId })
const planOf = (providerId: string) => ways.call('recovery', withdrawalPlanOperations.getWithdrawalPlan, { providerId })

describe('the end of an offer', () => {
  test('until the announced date everybody signs in; from it nobody does, and connections stay', async () => {
    const at = await madeWorkspace()
    const providerId = await offeredTo(at)
    expect((await enter(at, providerId, at.bob)).status).toBe(201)
    await ways.call('recovery', admin.withdrawIdentityProvider, { providerId, body: {} })
    expect((await enter(at, providerId, at.bob)).status).toBe(201)
    const under_way = await start(ways.daemon, { workspace: at.slug, provider_id: providerId })
    const brought = await real.browse(under_way.json.authorization_url)

    await ways.sql`update identity_provider set withdraw_at = now() - interval '1 second' where id = ${providerId}`
    expect((await enter(at, providerId, at.bob)).json.code).toBe('auth.sign_in_failed')
    const late = await finish(ways.daemon, { flow_token: under_way.json.flow_token, ...brought })
    expect([late.status, late.json.code], 'who was under way when it ended').toEqual([401, 'auth.sign_in_failed'])
    expect((await rules(at)).providers).toEqual([])
    expect(await ways.sql`select 1 from connected_identity where provider_id = ${providerId}`).toHaveLength(1)

    await cancel(providerId)
    expect((await enter(at, providerId, at.bob)).status, 'taken back').toBe(201)
  })

  test('once the job has noted it, a clock that falls back offers nothing again', async () => {
    const at = await madeWorkspace()
    const providerId = await offeredTo(at)
    await ways.call('recovery', admin.withdrawIdentityProvider, { providerId, body: {} })
    await ways.sql`update identity_provider set withdraw_at = now() - interval '1 second' where id = ${providerId}`
    await endDueOffers.run(ways.installation, undefined)
    await endDueOffers.run(ways.installation, undefined)
    await ways.sql`update identity_provider set withdraw_at = now() + interval '1 hour' where id = ${providerId}`
    expect((await enter(at, providerId, at.bob)).json.code).toBe('auth.sign_in_failed')
    const journal = await ways.sql<
      { action: string }[]
    >`select action from journal where subject_id = ${providerId} order by id`
    expect(journal.map(({ action }) => action)).toEqual([
      'identity_provider.created',
      'identity_provider.withdrawn',
      'identity_provider.ended',
    ])
  })

  test('where no way in is left, accounts that hold a password fall back to it, until the offer is back', async () => {
    const [at, other] = [await madeWorkspace(), await madeWorkspace()]
    const providerId = await offeredTo(at)
    await onlyProviders()
    expect(await byPassword(at, at.ada)).toBe('auth.password_disabled')
    expect((await rules(at)).password.allowed).toBe(false)
    expect((await enter(at, providerId, at.ada)).status).toBe(201)

    await endNow(providerId, 1)
    expect(await byPassword(at, at.ada)).toBe('in')
    expect(await byPassword(at, at.ada, 'wrong horse battery staple')).toBe('auth.sign_in_failed')
    expect(await byPassword(at, at.bob, '')).not.toBe('in')
    expect((await rules(at)).password.allowed).toBe(true)
    expect(await byPassword(other, other.ada), 'one that never had a provider').toBe('auth.password_disabled')

    await cancel(providerId)
    expect(await byPassword(at, at.ada)).toBe('auth.password_disabled')
    expect((await enter(at, providerId, at.ada)).status).toBe(201)
  })

  test('where another provider is left, nobody falls back', async () => {
    const at = await madeWorkspace()
    const [first, second] = [await offeredTo(at), await offeredTo(at)]
    await onlyProviders()
    await endNow(first, 1)
    expect(await byPassword(at, at.ada)).toBe('auth.password_disabled')
    expect((await enter(at, second, at.ada)).status).toBe(201)
    await endNow(second, 1)
    expect(await byPassword(at, at.ada)).toBe('in')
  })

  test('an installation of passwords alone lets nobody in through a provider', async () => {
    const at = await madeWorkspace()
    const providerId = await offeredTo(at)
    await decide({ methods: { value: ['PASSWORD'] } })
    expect((await enter(at, providerId, at.ada)).json.code).toBe('auth.sign_in_failed')
    expect((await rules(at)).providers).toEqual([])
  })
})

describe('the plan', () => {
  test('names the accounts of each workspace that would be left with no way in', async () => {
    const [one, two] = [await madeWorkspace(), await madeWorkspace()]
    const providerId = await offeredTo(one, two)
    const second = await offeredTo(two)
    for (const at of [one, two]) expect((await enter(at, providerId, at.bob)).status).toBe(201)
    expect((await enter(two, second, two.bob)).status).toBe(201)
    // The OWNER that switched it on has neither a password nor a connection: whoever signs in by tokens alone is left out.
    await ways.sql`update account set state = 'DISABLED' where display_name = 'Somebody' and tenant_id in (${one.id}, ${two.id})`
    await onlyProviders()

    const plan = await planOf(providerId)
    expect(plan).toMatchObject({ workspaces_on: 2, stranded_count: 2 })
    const [ofOne, ofTwo] = [one, two].map(({ slug }) => plan.workspaces.find((row) => row.slug === slug))
    expect(ofOne).toMatchObject({ connected_count: 1, falls_back_to_password: true, stranded_count: 1 })
    expect(ofOne?.stranded.map(({ email }) => email)).toEqual([one.bob])
    expect(ofTwo).toMatchObject({ connected_count: 1, falls_back_to_password: false, stranded_count: 1 })
    expect(
      ofTwo?.stranded.map(({ email }) => email),
      'not connected with the second one',
    ).toEqual([two.ada])
    expect((await planOf(providerId)).hash).toBe(plan.hash)

    await endNow(providerId, 2)
    expect(await byPassword(one, one.ada), 'as planned').toBe('in')
    expect(await byPassword(two, two.ada), 'as planned').toBe('auth.password_disabled')
    expect((await enter(two, second, two.bob)).status, 'as planned').toBe(201)
  })

  test('changes its hash with what it says, and knows no stranger', async () => {
    const at = await madeWorkspace()
    const providerId = await offeredTo(at)
    const before = await planOf(providerId)
    await onlyProviders()
    expect((await planOf(providerId)).hash).not.toBe(before.hash)
    await expect(planOf(randomUUIDv7())).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the administrators', () => {
  test('of each workspace that has it on are told: announced, ended, taken back; trail and mail say the same', async () => {
    const [at, other] = [await madeWorkspace(), await madeWorkspace()]
    const providerId = await offeredTo(at)
    await offeredTo(other)
    await ways.call('recovery', admin.withdrawIdentityProvider, { providerId, body: {} })
    await cancel(providerId)
    await endNow(providerId, 1)
    const queued = await ways.sql<{ data: never }[]>`
      select data from pgboss.job where name = 'tell_workspaces' and data ->> 'providerId' = ${providerId} order by created_on`
    for (const { data } of queued) await tellWorkspaces.run(ways.installation, data)

    const trail = await ways.sql<{ id: string; action: string; params: { provider: string } }[]>`
      select id, action, params from audit_entry where tenant_id = ${at.id} and action in
      ('identity_provider.withdrawn', 'identity_provider.restored', 'identity_provider.ended') order by id`
    expect(trail.map(({ action }) => action)).toEqual([
      'identity_provider.withdrawn',
      'identity_provider.restored',
      'identity_provider.ended',
    ])
    expect(trail[0]?.params.provider).toMatch(/^Acme SSO/)
    const told = await ways.sql<{ name: string; notice: string }[]>`
      select data ->> 'name' as name, data ->> 'noticeId' as notice from pgboss.job
      where name = 'tell_administrators' and data ->> 'tenantId' = ${at.id} order by created_on`
    expect(told.map(({ name }) => name)).toEqual(['provider_withdrawn', 'provider_restored', 'provider_ended'])
    expect(told.map(({ notice }) => notice)).toEqual(trail.map(({ id }) => id))
    expect(
      await ways.sql`select 1 from pgboss.job where name = 'tell_administrators' and data ->> 'tenantId' = ${other.id}`,
    ).toHaveLength(0)
  })
})

test('people without a provider are listed for their administrators', async () => {
  const at = await madeWorkspace()
  const providerId = await offeredTo(at)
  expect((await enter(at, providerId, at.bob)).status).toBe(201)
  const { token } = await person(ways.daemon, at.id, { role: 'ADMIN' })
  const list = async () =>
    (await ways.daemon.call('GET', '/api/v1/tenant/accounts-without-provider', { token })).json.data.map(
      ({ email }: { email: string }) => email,
    )
  expect(await list()).toContain(at.ada)
  expect(await list()).not.toContain(at.bob)
  await endNow(providerId, 1)
  expect(await list()).toContain(at.bob)
})

test('svc signin explain says what signing in then does, provider by provider', async () => {
  const at = await madeWorkspace()
  const providerId = await offeredTo(at)
  const reasons = async (email: string) => {
    const { ways: found } = await ways.call('recovery', operations.explainSignIn, {
      body: { workspace: at.slug, email },
    })
    return found.map(({ way, because, is_open }) => [way, because, is_open])
  }
  await onlyProviders()
  expect(await reasons(at.ada)).toEqual([
    ['PASSWORD', 'switched_off', false],
    ['PROVIDER', 'address_vouched', true],
  ])
  expect((await enter(at, providerId, at.ada)).status).toBe(201)
  expect((await reasons(at.ada))[1]).toEqual(['PROVIDER', 'connected', true])
  const stranger = 'stranger@elsewhere.example'
  expect((await reasons(stranger))[1]).toEqual(['PROVIDER', 'not_invited', false])
  expect((await enter(at, providerId, stranger)).json.code).toBe('auth.not_admitted')

  await endNow(providerId, 1)
  expect(await reasons(at.ada)).toEqual([
    ['PASSWORD', 'provider_ended', true],
    ['PROVIDER', 'offer_ended', false],
  ])
  expect(await byPassword(at, at.ada)).toBe('in')
  expect((await enter(at, providerId, at.ada)).json.code).toBe('auth.sign_in_failed')
  await decide({ methods: { value: ['PASSWORD'] } })
  await cancel(providerId)
  expect((await reasons(at.ada))[1]).toEqual(['PROVIDER', 'switched_off', false])
})

test("an account's own second factor is asked for behind a provider as well, and the provider once", async () => {
  const at = await madeWorkspace()
  const providerId = await offeredTo(at)
  const post = (path: string, token: string | undefined, body?: object, headers = {}) =>
    ways.daemon.call('POST', `/api/v1${path}`, { token, ...(body ? { body } : {}), headers })
  const { json: session } = await post('/auth/sessions', undefined, { workspace: at.slug, email: at.ada, password })
  const { json: proof } = await post('/auth/step-up', session.access_token, { password, operation: 'enrollTotp' })
  const { json: enrolled } = await post('/auth/mfa/totp:enroll', session.access_token, undefined, {
    'x-service-step-up': proof.step_up_token,
  })
  const { json: confirmed } = await post('/auth/mfa/totp:confirm', session.access_token, {
    code: codeAt(enrolled.secret),
  })
  expect(confirmed.recovery_codes).toHaveLength(10)

  real.person('ada', { email: at.ada, email_verified: true })
  const started = await start(ways.daemon, { workspace: at.slug, provider_id: providerId })
  const brought = await real.browse(started.json.authorization_url)
  const call = (more: object = {}) => finish(ways.daemon, { flow_token: started.json.flow_token, ...brought, ...more })
  const sessions = () => ways.sql`select 1 from session where tenant_id = ${at.id}`
  const before = (await sessions()).length
  expect((await call()).json.code).toBe('auth.second_factor_required')
  const asked = real.requests.length
  expect((await call({ totp: wrongCode(enrolled.secret) })).json.code).toBe('auth.second_factor_failed')
  expect((await call({ state: 'another', totp: wrongCode(enrolled.secret) })).json.code).toBe('auth.sign_in_failed')
  expect(await sessions()).toHaveLength(before)
  expect((await call({ recovery_code: confirmed.recovery_codes[0] })).json.code, 'a foreign state has spent it').toBe(
    'auth.sign_in_failed',
  )

  const again = await start(ways.daemon, { workspace: at.slug, provider_id: providerId })
  const flow = { flow_token: again.json.flow_token, ...(await real.browse(again.json.authorization_url)) }
  expect((await finish(ways.daemon, flow)).json.code).toBe('auth.second_factor_required')
  expect((await finish(ways.daemon, { ...flow, recovery_code: confirmed.recovery_codes[0] })).status).toBe(201)
  expect((await finish(ways.daemon, { ...flow, recovery_code: confirmed.recovery_codes[1] })).status, 'once').toBe(401)
  expect(real.requests.slice(asked).filter((request) => request === 'POST /token')).toHaveLength(1)
})
