/**
 * Disabled is out: one call ends everything that let the account in, and only the right to sign in returns. It is never
 * the last owner's or operator's, and a rewind brings nobody back. People 1, I2 and I3; docs/decisions/0377.
 */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Account, accountOperations } from '../../src/core/contract/identity/accounts.ts'
import { mintToken, type TokenKind } from '../../src/core/kernel/values/token.ts'
import { linesAbout } from '../kit/ledger-lines.ts'
import { type Credential, type Person, person, plantProof, storedPassword } from '../kit/people.ts'
import { type TwoWays, twoWays, ways } from '../kit/two-ways.ts'

const password = 'correct horse battery staple'
let two: TwoWays
let passwordHash: string
let slug: string
let who: Person
beforeAll(async () => {
  two = await twoWays()
  passwordHash = await storedPassword(password)
  slug = (await two.sql<{ slug: string }[]>`select slug from tenant where id = ${two.home.tenantId}`)[0]!.slug
  await two.sql`insert into tenant_quota values (${two.home.tenantId}, 'api_requests_per_minute', 0)`
})
afterAll(() => two.close())
beforeEach(async () => {
  who = await member()
})

const member = (more: Credential = {}) =>
  person(two.daemon, two.home.tenantId, { role: 'MEMBER', passwordHash, ...more })
const call = (method: string, path: string, body?: unknown, token?: string, headers: Record<string, string> = {}) =>
  two.daemon.call(method, `/api/v1${path}`, { token, headers, ...(body === undefined ? {} : { body }) })
const signIn = ({ accountId }: Person) =>
  call('POST', '/auth/sessions', { workspace: slug, email: `${accountId}@people.example`, password })
const me = (token: string) => call('GET', '/accounts/me', undefined, token)
const act = async (what: 'disable' | 'enable', target: string, by: Person, headers: Record<string, string> = {}) =>
  call('POST', `/accounts/${target}:${what}`, undefined, by.token, {
    'x-service-step-up': await plantProof(two.daemon, by),
    ...headers,
  })
const disable = (target: Person, by: Person = two.operator, headers = {}) =>
  act('disable', target.accountId, by, headers)
const enable = (target: Person, by: Person = two.operator, headers = {}) => act('enable', target.accountId, by, headers)

async function alive({ accountId }: Person): Promise<Record<string, number>> {
  const [row] = await two.sql<Record<string, number>[]>`
    select (select count(*) from credential where account_id = ${accountId} and revoked_at is null)::int as credentials,
           (select count(*) from session where account_id = ${accountId} and revoked_at is null)::int as sessions,
           (select count(*) from step_up where account_id = ${accountId} and used_at is null)::int as proofs,
           (select count(*) from password_reset where account_id = ${accountId} and used_at is null)::int as resets,
           (select count(*) from sign_in_flow where proved_account_id = ${accountId} and used_at is null)::int as flows,
           (select count(*) from sign_in_challenge where account_id = ${accountId} and used_at is null)::int as challenges,
           (select count(*) from sign_in_link where account_id = ${accountId} and used_at is null)::int as links,
           (select count(*) from address_confirmation where account_id = ${accountId} and used_at is null)::int as confirmations,
           (select count(*) from account_address where account_id = ${accountId} and ends_at > now())::int as waiting,
           (select count(*) from invitation where account_id = ${accountId} and used_at is null)::int as invitations`
  return row!
}
const nothing = {
  ...{ credentials: 0, sessions: 0, proofs: 0, resets: 0, flows: 0, challenges: 0 },
  ...{ links: 0, confirmations: 0, waiting: 0, invitations: 0 },
}

async function plantAll({ tenantId, accountId }: Person): Promise<Record<'invitation' | 'passwordReset', string>> {
  const minted = (kind: TokenKind) => mintToken(kind)
  const [invitation, reset, flow] = [minted('invitation'), minted('passwordReset'), minted('flow')]
  const soon = new Date(Date.now() + 600_000)
  await two.sql`insert into invitation (tenant_id, id, account_id, hash, expires_at) values (${tenantId}, ${randomUUID()}, ${accountId}, ${invitation.hash}, ${soon})`
  await two.sql`insert into password_reset (tenant_id, id, account_id, hash, expires_at) values (${tenantId}, ${randomUUID()}, ${accountId}, ${reset.hash}, ${soon})`
  await two.sql`
    insert into sign_in_flow (tenant_id, id, hash, provider_scope, provider_id, redirect_uri, proved_account_id, expires_at)
    values (${tenantId}, ${randomUUID()}, ${flow.hash}, ${tenantId}, ${randomUUID()}, 'https://app.example/', ${accountId}, ${soon})`
  await two.sql`
    insert into sign_in_challenge (tenant_id, id, account_id, hash, way, expires_at)
    values (${tenantId}, ${randomUUID()}, ${accountId}, ${minted('challenge').hash}, 'PASSWORD', ${soon})`
  await two.sql`
    insert into sign_in_link (tenant_id, id, hash, provider_id, issuer, subject, account_id, expires_at)
    values (${tenantId}, ${randomUUID()}, ${minted('link').hash}, ${randomUUID()}, 'https://sso.example', 'x', ${accountId}, ${soon})`
  const [addressId, email] = [randomUUIDv7(), `${randomUUIDv7()}@new.example`]
  await two.sql`
    insert into account_address (tenant_id, id, account_id, email, email_fold, ends_at)
    values (${tenantId}, ${addressId}, ${accountId}, ${email}, ${email}, ${soon})`
  await two.sql`
    insert into address_confirmation (tenant_id, id, account_id, address_id, email_fold, makes_primary, is_asked, hash, expires_at)
    values (${tenantId}, ${randomUUIDv7()}, ${accountId}, ${addressId}, ${email}, false, true, ${minted('addressConfirmation').hash}, ${soon})`
  return { invitation: invitation.token, passwordReset: reset.token }
}

const traces = async () => {
  const [row] = await two.sql`
    select (select count(*) from audit_entry) as entries, (select count(*) from outbox_event) as events,
           (select count(*) from journal) as journal, (select sum(version) from account) as versions`
  return JSON.stringify(row)
}

describe.each(ways)('disabling, by %s', (way) => {
  const end = (accountId: string) => two.call(way, accountOperations.disableAccount, { accountId }) as Promise<Account>
  const restore = (accountId: string) =>
    two.call(way, accountOperations.enableAccount, { accountId }) as Promise<Account>

  test('ends everything, keeps the roles, and answers the account; twice changes nothing', async () => {
    const session = (await signIn(who)).json
    await plantAll(who)
    await plantProof(two.daemon, who)
    const ended = await end(who.accountId)
    expect(ended).toMatchObject({ id: who.accountId, state: 'DISABLED', role: 'MEMBER', version: 2 })
    expect(ended.disabled_at).not.toBeNull()
    expect(await alive(who)).toEqual(nothing)
    for (const token of [who.token, session.access_token]) expect((await me(token)).status).toBe(401)
    expect((await call('POST', '/auth/sessions:refresh', { refresh_token: session.refresh_token })).status).toBe(401)
    expect((await signIn(who)).json.code).toBe('auth.sign_in_failed')
    const before = await traces()
    expect(await end(who.accountId)).toEqual(ended)
    expect(await traces()).toBe(before)
  })

  test('a return gives back the state and the right to sign in, and no credential', async () => {
    const session = (await signIn(who)).json
    const links = await plantAll(who)
    await end(who.accountId)
    expect(await restore(who.accountId)).toMatchObject({
      state: 'ACTIVE',
      disabled_at: null,
      role: 'MEMBER',
      version: 3,
    })
    const before = await traces()
    expect(await restore(who.accountId)).toMatchObject({ state: 'ACTIVE', version: 3 })
    expect(await traces()).toBe(before)
    expect(await alive(who)).toEqual(nothing)
    for (const token of [who.token, session.access_token]) expect((await me(token)).status).toBe(401)
    expect((await call('POST', '/auth/sessions:refresh', { refresh_token: session.refresh_token })).status).toBe(401)
    expect(
      (await call('POST', '/auth/password:reset', { token: links.passwordReset, password: `${password} 2` })).status,
    ).toBe(410)
    expect((await signIn(who)).status).toBe(201)
  })

  test('an invited account returns invited, without its invitation', async () => {
    const invited = await member({ accountState: 'INVITED' })
    const { invitation } = await plantAll(invited)
    await end(invited.accountId)
    expect(await restore(invited.accountId)).toMatchObject({ state: 'INVITED' })
    expect((await call('POST', '/auth/invitations:redeem', { token: invitation, password })).status).toBe(410)
  })

  test('a service account ends and returns alike', async () => {
    const machine = await member({ kind: 'SERVICE' })
    await end(machine.accountId)
    expect((await me(machine.token)).status).toBe(401)
    expect(await restore(machine.accountId)).toMatchObject({ kind: 'SERVICE', state: 'ACTIVE' })
    expect((await me(machine.token)).status).toBe(401)
  })

  test('an unknown account is not found', async () => {
    await expect(end(randomUUID())).rejects.toMatchObject({ code: 'not_found' })
    await expect(restore(randomUUID())).rejects.toMatchObject({ code: 'not_found' })
  })

  test('leaves its trail, its event and its line in the ledger, and at the database its entry in the journal', async () => {
    await end(who.accountId)
    await restore(who.accountId)
    const entries = await two.sql<{ action: string; actor_kind: string }[]>`
      select action, actor_kind from audit_entry where subject_id = ${who.accountId} and action in ('account.disabled', 'account.enabled') order by id`
    expect(linesAbout(two.daemon.config.ledgerFile, who.accountId).map(({ act }) => act)).toEqual([
      'account.disabled',
      'account.enabled',
    ])
    const kind = way === 'api' ? 'ACCOUNT' : 'RECOVERY'
    expect([...entries]).toEqual([
      { action: 'account.disabled', actor_kind: kind },
      { action: 'account.enabled', actor_kind: kind },
    ])
    const events = await two.sql<{ body: { type: string; data: object } }[]>`
      select body::jsonb as body from outbox_event where body like ${`%${who.accountId}%`} order by id`
    const ofAccount = events.map(({ body }) => body).filter(({ type }) => /account\.(dis|en)abled/.test(type))
    expect(ofAccount.map(({ data }) => data)).toEqual([
      { id: who.accountId, kind: 'PERSON', state: 'DISABLED' },
      { id: who.accountId, kind: 'PERSON', state: 'ACTIVE' },
    ])
    const journalled = await two.sql`select action from journal where subject_id = ${who.accountId} order by id`
    expect(journalled.map(({ action }) => action)).toEqual(way === 'api' ? [] : ['account.disabled', 'account.enabled'])
  })

  test('the last OWNER who can sign in, and the last operator that can act, stay', async () => {
    const { tenantId } = await anotherWorkspace()
    const owner = await person(two.daemon, tenantId, { role: 'OWNER', passwordHash })
    const invited = await person(two.daemon, tenantId, { role: 'OWNER', accountState: 'INVITED' })
    if (way === 'recovery') {
      await expect(end(owner.accountId)).rejects.toMatchObject({ code: 'membership.last_owner' })
      await end(invited.accountId)
    } else {
      expect((await disable(owner, owner)).json.code).toBe('membership.last_owner')
      expect((await disable(invited, owner)).status).toBe(200)
    }
    expect((await me(owner.token)).status).toBe(200)
    await two.sql`delete from operator where account_id = ${two.home.accountId}`
    try {
      await expect(end(two.operator.accountId)).rejects.toMatchObject({ code: 'admin.operator_last' })
    } finally {
      await two.sql`insert into operator (account_id, workspace_id) values (${two.home.accountId}, ${two.home.tenantId})`
    }
  })
})

async function anotherWorkspace() {
  const id = randomUUIDv7()
  await two.sql`insert into tenant (id, slug, display_name, default_locale, default_time_zone) values (${id}, ${`w${id.slice(-12)}`}, 'Other', 'en', 'UTC')`
  return { tenantId: id }
}

describe('who disables', () => {
  test('the own account, with a step-up: the answer is its last', async () => {
    expect((await call('POST', `/accounts/${who.accountId}:disable`, undefined, who.token)).json.code).toBe(
      'auth.step_up_required',
    )
    expect((await disable(who, who)).json).toMatchObject({ state: 'DISABLED' })
    expect((await me(who.token)).status).toBe(401)
  })

  test('of others an ADMIN; a MEMBER is refused before the account is looked up', async () => {
    const other = await member()
    for (const target of [other.accountId, randomUUID()])
      expect((await act('disable', target, who)).json).toMatchObject({
        code: 'auth.role_required',
        params: { role: 'ADMIN' },
      })
    expect((await disable(other, await member({ role: 'ADMIN' }))).status).toBe(200)
    expect((await enable(other, await member({ role: 'ADMIN' }))).status).toBe(200)
  })

  test('a token without workspace:admin does not', async () => {
    const reader = await member({ role: 'ADMIN', scopes: ['workspace:read', 'workspace:write'] })
    expect((await disable(who, reader)).json).toMatchObject({ code: 'auth.scope_required' })
  })

  test('only while the ETag fits', async () => {
    expect((await disable(who, two.operator, { 'if-match': '"7"' })).json.code).toBe('precondition.failed')
    expect((await disable(who, two.operator, { 'if-match': '"1"' })).status).toBe(200)
    expect((await enable(who, two.operator, { 'if-match': '"1"' })).json.code).toBe('precondition.failed')
  })
})

test('of OWNERs who disable each other at once, one stays', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { tenantId } = await anotherWorkspace()
    const owners = await Promise.all([1, 2, 3].map(() => person(two.daemon, tenantId, { role: 'OWNER', passwordHash })))
    const answers = await Promise.all(owners.map((by, at) => disable(owners[(at + 1) % 3]!, by)))
    const codes = answers.map(({ status, json }) => json?.code ?? status)
    expect(codes.filter((code) => code === 200).length).toBeLessThan(3)
    for (const code of codes)
      expect([200, 'membership.last_owner', 'auth.unauthenticated', 'auth.step_up_required']).toContain(code)
    const left = await two.sql`select 1 from account where tenant_id = ${tenantId} and state = 'ACTIVE'`
    expect(left.length).toBeGreaterThan(0)
  }
})

test('webhooks that act for the account are disabled with it', async () => {
  const { tenantId } = two.home
  const id = randomUUIDv7()
  await two.sql`
    insert into webhook (tenant_id, id, target_url, host, event_types, acts_for)
    values (${tenantId}, ${id}, 'https://hooks.example/', 'hooks.example', '["work.item.created"]', ${who.accountId})`
  await disable(who)
  const [row] = await two.sql`select state, disabled_reason from webhook where id = ${id}`
  expect(row).toEqual({ state: 'DISABLED', disabled_reason: 'owner_left' })
})

test('groups, roles and assignments stay, and serve again after the return', async () => {
  const { sql, home } = two
  const { accountId } = who
  const groupId = randomUUIDv7()
  const itemId = randomUUIDv7()
  await sql`
    insert into account_group (tenant_id, id, name, name_fold, member_count) values (${home.tenantId}, ${groupId}, 'kept', 'kept', 1)`
  await sql`insert into group_member (tenant_id, group_id, account_id) values (${home.tenantId}, ${groupId}, ${accountId})`
  await sql`update account set group_ids = array[${groupId}::uuid] where id = ${accountId}`
  await sql`
    insert into membership (tenant_id, id, group_id, role) values (${home.tenantId}, ${randomUUIDv7()}, ${groupId}, 'ADMIN')`
  await sql`
    insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, created_by, assignee_id)
    select tenant_id, ${itemId}, container_id, id, 'TASK', 'his', 'b0', ${accountId}, ${accountId}
    from bucket where tenant_id = ${home.tenantId} order by rank limit 1`
  const held = async () => {
    const [row] = await sql`
      select group_ids, (select assignee_id from item where id = ${itemId}) as assignee,
             (select count(*)::int from group_member where account_id = ${accountId}) as groups,
             (select array_agg(role) from membership where account_id = ${accountId}) as roles
      from account where id = ${accountId}`
    return row
  }
  const before = await held()
  expect(before).toEqual({ group_ids: [groupId], assignee: accountId, groups: 1, roles: ['MEMBER'] })
  expect((await disable(who)).status).toBe(200)
  expect(await held()).toEqual(before)
  expect((await enable(who)).status).toBe(200)
  expect(await held()).toEqual(before)
  expect((await me((await signIn(who)).json.access_token)).json.role).toBe('ADMIN')
})
