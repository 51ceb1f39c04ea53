/** Signing in through a real provider, end to end over the API: who comes in, as whom, and who does not. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { identityProviderOperations as admin } from '../../../src/core/contract/providers/offered.ts'
import { oidcProvider } from '../../kit/oidc-provider.ts'
import { person } from '../../kit/people.ts'
import { start, whoIs } from '../../kit/signing-in.ts'
import { openSignIns, type SignIns } from './sign-ins.ts'

let signIns: SignIns
let ways: SignIns['ways']
let real: SignIns['real']
let marked: SignIns['marked']
let workspace: SignIns['workspace']
let offered: SignIns['offered']
let enter: SignIns['enter']
let account: SignIns['account']
let trailOf: SignIns['trailOf']
let reasonOf: SignIns['reasonOf']
let expectTurnedAway: SignIns['expectTurnedAway']
beforeAll(async () => {
  signIns = await openSignIns()
  ;({ ways, real, marked, workspace, offered, enter, account, trailOf, reasonOf, expectTurnedAway } = signIns)
})
afterAll(() => signIns.close())

describe('invitations', () => {
  test('a token joins by the provider, without a password, whatever the address there is', async () => {
    const at = await workspace()
    const providerId = await offered(at)
    real.person('olga', { email: 'private@elsewhere.example', email_verified: false, name: 'Olga\nO.' })
    const answer = await enter(at, providerId, { invitation_token: at.invitation })
    expect(answer.status).toBe(201)
    expect(await whoIs(ways.daemon, answer)).toMatchObject({
      email: at.ownerEmail,
      role: 'OWNER',
      state: 'ACTIVE',
      display_name: 'Olga O.',
    })
    expect(await ways.sql`select password_hash from account where tenant_id = ${at.id}`).toEqual([
      { password_hash: null },
    ])
    // The token was handed over, and the provider vouches for another address: nobody has shown that the own one is read.
    const { id, addresses } = await whoIs(ways.daemon, answer)
    expect(addresses).toMatchObject([{ email: at.ownerEmail, confirmed_at: null }])
    expect(
      await ways.sql`select 1 from pgboss.job where name = 'send_address_confirmation' and data ->> 'accountId' = ${id}`,
    ).toHaveLength(1)
    expect(await trailOf(at)).toEqual(
      expect.arrayContaining(['account.connected', 'account.joined', 'session.started']),
    )

    const again = await enter(at, providerId)
    expect((await whoIs(ways.daemon, again)).id).toBe((await whoIs(ways.daemon, answer)).id)
    expect(
      (await start(ways.daemon, { workspace: at.slug, provider_id: providerId, invitation_token: at.invitation })).json
        .code,
    ).toBe('auth.invitation_invalid')
  })

  test('the vouched address of an invited account joins; one that is not vouched for does not', async () => {
    const at = await workspace()
    const providerId = await offered(at)
    real.person('unsure', { email: at.ownerEmail, email_verified: false })
    await expectTurnedAway(await enter(at, providerId), at, 'address_not_vouched')
    real.person('sure', { email: at.ownerEmail.toUpperCase(), email_verified: true })
    expect((await whoIs(ways.daemon, await enter(at, providerId))).email).toBe(at.ownerEmail)
  })

  test('an invitation that has ended lets nobody in by its address', async () => {
    const at = await workspace()
    const providerId = await offered(at)
    await ways.sql`update invitation set expires_at = now() where tenant_id = ${at.id}`
    real.person('late', { email: at.ownerEmail, email_verified: true })
    await expectTurnedAway(await enter(at, providerId), at, 'invitation_ended')
  })

  test('an invitation from a clock that went ahead lets nobody in by its address, until the clock is there', async () => {
    const at = await workspace()
    const providerId = await offered(at)
    const pass = (days: number) => ways.sql`
      update invitation set created_at = created_at - make_interval(days => ${days}), expires_at = expires_at - make_interval(days => ${days})
      where tenant_id = ${at.id}`
    await pass(-1)
    real.person('early', { email: at.ownerEmail, email_verified: true })
    await expectTurnedAway(await enter(at, providerId), at, 'invitation_ended')
    await pass(1)
    expect((await whoIs(ways.daemon, await enter(at, providerId))).email).toBe(at.ownerEmail)
  })

  test("another workspace's invitation does not serve", async () => {
    const [at, other] = [await workspace(), await workspace()]
    const providerId = await offered(at)
    const answer = await start(ways.daemon, {
      workspace: at.slug,
      provider_id: providerId,
      invitation_token: other.invitation,
    })
    expect([answer.status, answer.json.code]).toEqual([410, 'auth.invitation_invalid'])
  })
})

describe('accounts', () => {
  test('an active account is connected by its vouched address, once, and found by the connection afterwards', async () => {
    const at = await workspace()
    const providerId = await offered(at)
    const accountId = await account(at, 'ann@acme.example')
    real.person('ann', { email: 'ann@acme.example', email_verified: true })
    expect((await whoIs(ways.daemon, await enter(at, providerId))).id).toBe(accountId)
    real.person('ann', { email: 'ann@new-name.example', email_verified: false })
    expect((await whoIs(ways.daemon, await enter(at, providerId))).id).toBe(accountId)
    expect((await trailOf(at)).filter((action) => action === 'account.connected')).toHaveLength(1)
  })

  test('an address that nobody confirmed connects nobody: a token was handed to somebody else', async () => {
    const at = await workspace()
    const providerId = await offered(at, { provisioning: 'ANY' })
    const accountId = await account(at, 'victim@acme.example')
    await ways.sql`
      insert into account_address (tenant_id, id, account_id, email, email_fold, is_primary)
      values (${at.id}, ${accountId}, ${accountId}, 'victim@acme.example', 'victim@acme.example', true)`
    real.person('victim', { email: 'victim@acme.example', email_verified: true })
    await expectTurnedAway(await enter(at, providerId), at, 'address_unconfirmed')
    // A further address, confirmed, finds the account.
    await ways.sql`
      insert into account_address (tenant_id, id, account_id, email, email_fold, confirmed_at)
      values (${at.id}, ${randomUUIDv7()}, ${accountId}, 'other@acme.example', 'other@acme.example', now())`
    real.person('other', { email: 'other@acme.example', email_verified: true })
    expect((await whoIs(ways.daemon, await enter(at, providerId))).id).toBe(accountId)
    // Whom the provider knows by then, it may vouch for.
    real.person('other', { email: 'victim@acme.example', email_verified: true })
    const { addresses } = await whoIs(ways.daemon, await enter(at, providerId))
    expect(addresses[0]).toMatchObject({ email: 'victim@acme.example', confirmed_at: expect.any(String) })
  })

  test("an address that waits at another account is a stranger's", async () => {
    const at = await workspace()
    const providerId = await offered(at, { provisioning: 'ANY' })
    const accountId = await account(at, 'mara@acme.example')
    await ways.sql`
      insert into account_address (tenant_id, id, account_id, email, email_fold, ends_at)
      values (${at.id}, ${randomUUIDv7()}, ${accountId}, 'nina@acme.example', 'nina@acme.example', now() + interval '1 day')`
    real.person('nina', { email: 'nina@acme.example', email_verified: true })
    const { id, addresses } = await whoIs(ways.daemon, await enter(at, providerId))
    expect(id).not.toBe(accountId)
    expect(addresses).toMatchObject([
      { email: 'nina@acme.example', is_primary: true, confirmed_at: expect.any(String) },
    ])
  })

  test("an address that only looks like somebody's is somebody else's", async () => {
    const at = await workspace()
    const providerId = await offered(at, { provisioning: 'ANY' })
    await account(at, 'jose@acme.example')
    real.person('jose', { email: 'josé@acme.example', email_verified: true })
    await expectTurnedAway(await enter(at, providerId), at, 'not_invited')
  })

  test('an account without a role stays out as if it were not there, a disabled one by its address and its connection', async () => {
    const at = await workspace()
    const providerId = await offered(at)
    const accountId = await account(at, 'dan@acme.example')
    real.person('dan', { email: 'dan@acme.example', email_verified: true })
    expect((await enter(at, providerId)).status).toBe(201)
    const [role] =
      await ways.sql`delete from membership where account_id = ${accountId} returning tenant_id, id, account_id, role`
    expect((await enter(at, providerId)).json.code).toBe('auth.sign_in_failed')
    expect(await reasonOf(at)).toBe('no_role')
    await ways.sql`insert into membership ${ways.sql(role!)}`
    expect((await enter(at, providerId)).status).toBe(201)
    await ways.sql`update account set state = 'DISABLED' where id = ${accountId}`
    await expectTurnedAway(await enter(at, providerId), at, 'account_not_active')
    real.person('dan2', { email: 'dan@acme.example', email_verified: true })
    await expectTurnedAway(await enter(at, providerId), at, 'account_not_active')
  })

  test("a provider's new issuer brings nobody's old identity", async () => {
    const other = await oidcProvider()
    try {
      const at = await workspace()
      const providerId = await offered(at)
      await account(at, 'eve@acme.example')
      real.person('same', { email: 'eve@acme.example', email_verified: true })
      expect((await enter(at, providerId)).status).toBe(201)
      await ways.call('recovery', admin.changeIdentityProvider, {
        providerId,
        body: { issuer: other.issuer, client_id: other.clientId, client_secret: other.clientSecret },
      })
      other.person('same', { email: 'mallory@elsewhere.example', email_verified: true })
      await expectTurnedAway(await enter(at, providerId, {}, other), at, 'not_invited')
    } finally {
      await other.close()
    }
  })
})

describe('newcomers', () => {
  const newcomer = (sub: string, email: string, more: object = {}, provider = real) =>
    provider.person(sub, { email, email_verified: true, name: 'New', ...more })

  test('INVITED_ONLY brings in nobody', async () => {
    const at = await workspace()
    const providerId = await offered(at, { provisioning: 'INVITED_ONLY', allowed_email_domains: ['acme.example'] })
    newcomer('n1', 'n1@acme.example')
    await expectTurnedAway(await enter(at, providerId), at, 'not_invited')
  })

  test.each([
    ['n@acme.example', true],
    ['N@ACME.EXAMPLE', true],
    ['n@sub.acme.example', false],
    ['n@notacme.example', false],
    ['n@acme.example.evil.example', false],
    ['n@evil.example', false],
  ])('DOMAINS and the address %s: %s', async (email, isIn) => {
    const at = await workspace()
    const providerId = await offered(at, { allowed_email_domains: ['Acme.example'], newcomer_role: 'MEMBER' })
    newcomer(`d-${email}`, email)
    const answer = await enter(at, providerId)
    if (!isIn) return expectTurnedAway(answer, at, 'not_invited')
    expect(await whoIs(ways.daemon, answer)).toMatchObject({ email, role: 'MEMBER', display_name: 'New' })
  })

  test('DOMAINS without a domain or a directory brings in nobody', async () => {
    const at = await workspace()
    const providerId = await offered(at)
    newcomer('n2', 'n2@acme.example')
    await expectTurnedAway(await enter(at, providerId), at, 'not_invited')
  })

  test.each([
    ['of a named directory', { tid: 'acme-directory' }, true],
    ['of another one', { tid: 'evil-directory' }, false],
    ['of none', {}, false],
  ])('directories: somebody %s', async (name, claims, isIn) => {
    const at = await workspace()
    const providerId = await offered(
      at,
      { provisioning: 'DOMAINS', allowed_directories: ['acme-directory'], allowed_email_domains: ['acme.example'] },
      marked,
    )
    newcomer(`t-${name}`, 'n@acme.example', claims, marked)
    const answer = await enter(at, providerId, {}, marked)
    if (isIn) expect(await whoIs(ways.daemon, answer)).toMatchObject({ role: 'VIEWER' })
    else await expectTurnedAway(answer, at, 'not_invited')
  })

  test('a public provider is held to INVITED_ONLY, and its mark to its issuer', async () => {
    const at = await workspace()
    await expect(offered(at, { provisioning: 'ANY' }, marked)).rejects.toMatchObject({
      code: 'request.invalid',
      errors: [{ pointer: '/provisioning', code: 'provider.public' }],
    })
    await expect(
      offered(at, { provisioning: 'DOMAINS', allowed_email_domains: ['a.example'] }, marked),
    ).rejects.toMatchObject({ code: 'request.invalid' })
    const { data } = await ways.call('recovery', admin.listIdentityProviders, {})
    const providerId = await offered(at, {}, marked)
    const made = (await ways.call('recovery', admin.listIdentityProviders, {})).data.find(({ id }) => id === providerId)
    expect(made).toMatchObject({ kind: 'PRESET_TWO', provisioning: 'INVITED_ONLY' })
    for (const [kind, provider] of [
      ['GENERIC', marked],
      ['PRESET_ONE', marked],
      ['PRESET_TWO', real],
    ] as const)
      await expect(offered(at, { kind }, provider)).rejects.toMatchObject({ code: 'identity_provider.kind_mismatch' })
    expect((await ways.call('recovery', admin.listIdentityProviders, {})).data).toHaveLength(data.length + 1)
  })

  test('ANY brings in whoever is vouched for, with the role', async () => {
    const at = await workspace()
    const providerId = await offered(at, { provisioning: 'ANY', newcomer_role: 'ADMIN' })
    real.person('anon', { email: 'anon@anywhere.example', email_verified: false })
    await expectTurnedAway(await enter(at, providerId), at, 'address_not_vouched')
    newcomer('any', 'any@anywhere.example')
    expect(await whoIs(ways.daemon, await enter(at, providerId))).toMatchObject({ role: 'ADMIN' })
  })

  test("a group instead of a role, by the workspace's own provider; account, role and group stand or fall together", async () => {
    const at = await workspace()
    const { token } = await person(ways.daemon, at.id)
    const groupId = randomUUIDv7()
    await ways.sql`insert into account_group (tenant_id, id, name, name_fold) values (${at.id}, ${groupId}, 'Guests', 'guests')`
    await ways.sql`insert into membership (tenant_id, id, group_id, role) values (${at.id}, ${groupId}, ${groupId}, 'COMMENTER')`
    const body = {
      issuer: real.issuer,
      client_id: real.clientId,
      client_secret: real.clientSecret,
      provisioning: 'ANY',
      newcomer_group_id: groupId,
    }
    const post = (more: object = {}) =>
      ways.daemon.call('POST', '/api/v1/identity-providers', { token, body: { ...body, ...more } })
    for (const [more, pointer] of [
      [{ newcomer_group_id: randomUUIDv7() }, '/newcomer_group_id'],
      [{ newcomer_role: 'MEMBER' }, '/newcomer_group_id'],
      [{ newcomer_group_id: null, newcomer_role: 'OWNER' }, '/newcomer_role'],
    ] as const)
      expect((await post(more)).json).toMatchObject({ code: 'request.invalid', errors: [{ pointer }] })
    const { json } = await post()
    newcomer('guest', 'guest@acme.example')
    const me = await whoIs(ways.daemon, await enter(at, json.id))
    expect(me.role).toBe('COMMENTER')
    expect(await ways.sql`select account_id from group_member where group_id = ${groupId}`).toEqual([
      { account_id: me.id },
    ])

    // The group's membership is refused by the database: then there is no account either.
    await ways.sql`alter table group_member add constraint closed check (account_id = ${ways.sql.unsafe(`'${me.id}'`)}) not valid`
    newcomer('guest2', 'guest2@acme.example')
    expect((await enter(at, json.id)).status).toBe(500)
    expect(
      await ways.sql`select 1 from account where tenant_id = ${at.id} and email = 'guest2@acme.example'`,
    ).toHaveLength(0)
    expect(
      await ways.sql`select 1 from connected_identity where tenant_id = ${at.id} and subject = 'guest2'`,
    ).toHaveLength(0)
    await ways.sql`alter table group_member drop constraint closed`
  })

  test('the same person in two windows at once becomes one account', async () => {
    const at = await workspace()
    const providerId = await offered(at, { provisioning: 'ANY' })
    newcomer('twice', 'twice@acme.example')
    const answers = await Promise.all(Array.from({ length: 4 }, () => enter(at, providerId)))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(
      await ways.sql`select 1 from account where tenant_id = ${at.id} and email = 'twice@acme.example'`,
    ).toHaveLength(1)
    expect(await ways.sql`select 1 from connected_identity where tenant_id = ${at.id}`).toHaveLength(1)
  })
})

describe("a workspace's own provider", () => {
  test('is its owner’s, switches off and on, and connects no operator', async () => {
    const at = await workspace()
    const owner = await person(ways.daemon, at.id)
    const call = (method: string, path: string, body?: unknown) =>
      ways.daemon.call(method, `/api/v1/identity-providers${path}`, {
        token: owner.token,
        ...(body === undefined ? {} : { body }),
      })
    const made = await call('POST', '', {
      issuer: real.issuer,
      client_id: real.clientId,
      client_secret: real.clientSecret,
    })
    expect([made.status, made.json]).toMatchObject([201, { owner: 'WORKSPACE', offered: true, has_secret: true }])
    expect(made.text).not.toContain('secret that both')
    const providerId: string = made.json.id
    const operatorId = await account(at, 'op@acme.example')
    await ways.sql`insert into operator (account_id, workspace_id) values (${operatorId}, ${at.id})`
    real.person('op', { email: 'op@acme.example', email_verified: true })
    await expectTurnedAway(await enter(at, providerId), at, 'operator')
    await ways.sql`delete from operator where account_id = ${operatorId}`
    expect((await enter(at, providerId)).status).toBe(201)

    expect((await call('POST', `/${providerId}:offer`, { offered: false })).json.offered).toBe(false)
    expect((await enter(at, providerId)).json.code).toBe('auth.sign_in_failed')
    expect((await call('POST', `/${providerId}:offer`, { offered: true })).json.offered).toBe(true)
    expect((await enter(at, providerId)).status).toBe(201)
    expect((await call('GET', '')).json.data.map(({ id }: { id: string }) => id)).toContain(providerId)
    expect((await call('DELETE', `/${providerId}`)).status).toBe(204)
    expect(await ways.sql`select 1 from connected_identity where provider_id = ${providerId}`).toHaveLength(0)
    expect(await ways.sql`select 1 from sealed_value where owner_id = ${providerId}`).toHaveLength(0)
  })

  test("the installation's are read, switched on and off, and never changed; another workspace's are not there", async () => {
    const [at, other] = [await workspace(), await workspace()]
    const [owner, stranger] = [await person(ways.daemon, at.id), await person(ways.daemon, other.id)]
    const installations = await offered(other)
    const call = (token: string, method: string, path: string, body?: unknown) =>
      ways.daemon.call(method, `/api/v1/identity-providers${path}`, { token, ...(body === undefined ? {} : { body }) })
    const body = { issuer: real.issuer, client_id: 'x' }
    const listed = (await call(owner.token, 'GET', '')).json.data.find(({ id }: { id: string }) => id === installations)
    expect(listed).toMatchObject({ owner: 'INSTALLATION', offered: false, state: 'OFFERED' })
    expect((await call(owner.token, 'PUT', `/${installations}`, body)).status).toBe(404)
    expect((await call(owner.token, 'DELETE', `/${installations}`)).status).toBe(404)
    expect((await call(owner.token, 'POST', `/${installations}:offer`, { offered: true })).json.offered).toBe(true)

    const { json } = await call(owner.token, 'POST', '', body)
    for (const [method, path, sent] of [
      ['PUT', '', body],
      ['DELETE', '', undefined],
      ['POST', ':offer', { offered: true }],
    ] as const)
      expect((await call(stranger.token, method, `/${json.id}${path}`, sent)).status).toBe(404)
    const theirs = (await call(stranger.token, 'GET', '')).json.data.map(({ id }: { id: string }) => id)
    expect(theirs).toContain(installations)
    expect(theirs).not.toContain(json.id)
    expect((await start(ways.daemon, { workspace: other.slug, provider_id: json.id })).json.code).toBe(
      'auth.sign_in_failed',
    )
  })
})
