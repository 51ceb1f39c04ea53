/**
 * Groups and a real provider: a group that follows the claim `groups`, and a group instead of a newcomer's role.
 * people 2; decision 0391.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Release, readRelease } from '../../../src/core/kernel/egress/guard.ts'
import type { Preset } from '../../../src/core/kernel/egress/oidc-presets.ts'
import { openParty, type Party } from '../../groups/party.ts'
import { type OidcProvider, oidcProvider } from '../../kit/oidc-provider.ts'
import { type Person, person } from '../../kit/people.ts'
import { signInThrough, start, whoIs } from '../../kit/signing-in.ts'

let party: Party
let real: OidcProvider
let providerId: string
beforeAll(async () => {
  real = await oidcProvider()
  party = await openParty({ egress: readRelease('127.0.0.0/8') as Release })
  providerId = await provider()
})
afterAll(async () => {
  await party.close()
  await real.close()
})

const configuration = (more: object = {}) => ({
  issuer: real.issuer,
  client_id: real.clientId,
  client_secret: real.clientSecret,
  provisioning: 'ANY',
  ...more,
})
async function provider(more: object = {}): Promise<string> {
  const made = await party.ask('POST /identity-providers', configuration(more))
  if (made.status !== 201) throw new Error(made.text)
  return made.json.id
}

let count = 0
/** Somebody who comes through the provider for the first time. */
function stranger(groups?: unknown): { readonly sub: string; readonly email: string } {
  count += 1
  const one = { sub: `sub-${count}`, email: `p${count}@acme.example` }
  says(one, groups)
  return one
}
const says = ({ sub, email }: { sub: string; email: string }, groups?: unknown) =>
  real.person(sub, { email, email_verified: true, ...(groups === undefined ? {} : { groups }) })
const enter = (through = providerId) => signInThrough(party.daemon, real, { workspace: 'home', provider_id: through })
const refusal = ({ status, json }: { status: number; json: { code?: string; params?: unknown } }) => [
  status,
  json?.code,
  json?.params,
]
const groupsOf = async (accountId: string): Promise<string[]> =>
  (await party.ask(`GET /groups?account_id=${accountId}`)).json.data.map(({ id }: { id: string }) => id)
const bound = (value: string, more: object = {}) =>
  party.group([], { binding: { provider_id: providerId, value }, ...more })

test('the groups are asked for where the provider’s metadata lists that scope', async () => {
  const { json } = await start(party.daemon, { workspace: 'home', provider_id: providerId })
  expect(new URL(json.authorization_url).searchParams.get('scope')).toBe('openid email profile groups')
})

describe('a bound group', () => {
  test('follows the claim at each sign-in: in, out, and in again', async () => {
    const [design, sales] = [await bound('design'), await bound('sales')]
    await party.give(design, 'ADMIN')
    const who = stranger(['design', 'other'])
    const me = await whoIs(party.daemon, await enter())
    expect([me.role, await groupsOf(me.id)]).toEqual(['ADMIN', [design.id]])
    const { json } = await party.ask(`GET /groups/${design.id}/members`)
    expect(json.data).toMatchObject([{ account_id: me.id, added_by: null, source: 'PROVIDER' }])

    says(who, ['sales'])
    expect((await whoIs(party.daemon, await enter())).role).toBe('VIEWER')
    expect(await groupsOf(me.id)).toEqual([sales.id])
    says(who, [])
    await enter()
    expect(await groupsOf(me.id)).toEqual([])
    says(who, ['design', 'sales'])
    await enter()
    expect((await groupsOf(me.id)).sort()).toEqual([design.id, sales.id].sort())
  })

  test.each([
    ['absent', undefined],
    ['cut off', Array.from({ length: 501 }, (_, n) => `g${n}`)],
    ['a text', 'sales'],
    ['a list of other things', ['sales', 7]],
  ])('keeps its members where the claim is %s', async (_, claim) => {
    const group = await bound(`kept ${count}`)
    const who = stranger([`kept ${count - 0}`])
    says(who, [group.binding!.value])
    const me = await whoIs(party.daemon, await enter())
    says(who, claim)
    expect((await enter()).status).toBe(201)
    expect(await groupsOf(me.id)).toEqual([group.id])
  })

  test('takes the last role, and with it every credential, also where the sign-in is then refused', async () => {
    const group = await bound('all')
    await party.give(group, 'MEMBER')
    const who = stranger(['all'])
    const first = await enter()
    const me = await whoIs(party.daemon, first)
    const member: Person = { ...party.people.MEMBER, accountId: me.id, token: first.json.access_token }
    await party.strip(member)
    expect(await party.me(member)).toEqual({ status: 200, role: 'MEMBER' })
    says(who, ['none'])
    expect(refusal(await enter()).slice(0, 2)).toEqual([401, 'auth.sign_in_failed'])
    expect([await party.alive(member), (await party.me(member)).status, await groupsOf(me.id)]).toEqual([0, 401, []])
    says(who, ['all'])
    expect((await enter()).status).toBe(201)
    expect((await party.me(member)).status).toBe(401)
  })

  test('takes nobody in by hand, and gives back nobody whom a provider put in', async () => {
    const group = await party.group([party.people.VIEWER])
    const binding = { provider_id: providerId, value: 'by hand' }
    expect((await party.ask(`PATCH /groups/${group.id}`, { binding })).json.binding).toEqual(binding)
    stranger(['by hand'])
    const me = await whoIs(party.daemon, await enter())
    const came: Person = { ...party.people.MEMBER, accountId: me.id }
    expect(refusal(await party.add(group, party.people.MEMBER))).toEqual([409, 'group.bound', {}])
    expect(refusal(await party.remove(group, came))).toEqual([409, 'group.bound', {}])
    expect((await party.remove(group, party.people.VIEWER)).status).toBe(204)
    expect((await party.ask(`PATCH /groups/${group.id}`, { binding: null })).json.binding).toBe(null)
    expect((await party.remove(group, came)).status).toBe(204)
  })

  test('is an OWNER’s to bind, to a provider that the workspace has and that is not everybody’s', async () => {
    const binding = { provider_id: providerId, value: 'x' }
    const as = { as: party.people.ADMIN }
    expect(refusal(await party.ask('POST /groups', { name: 'bound', binding }, as))).toEqual([
      403,
      'auth.role_required',
      { role: 'OWNER' },
    ])
    const group = await party.group()
    expect((await party.ask(`PATCH /groups/${group.id}`, { binding }, as)).status).toBe(403)
    const mine = await bound('mine')
    expect((await party.ask(`PATCH /groups/${mine.id}`, { binding: null }, as)).status).toBe(403)
    expect(
      (await party.ask(`PATCH /groups/${mine.id}`, { description: 'new', binding: mine.binding }, as)).status,
    ).toBe(200)
    const errorsOf = async (provider_id: string, more: object = {}) =>
      (await party.ask('POST /groups', { name: 'n', binding: { provider_id, value: 'x' }, ...more })).json.errors
    expect(await errorsOf(party.people.OWNER.accountId)).toMatchObject([
      { pointer: '/binding/provider_id', code: 'reference.unknown' },
    ])
    expect(await errorsOf(providerId, { member_ids: [party.people.VIEWER.accountId] })).toMatchObject([
      { pointer: '/member_ids', code: 'member.conflicts' },
    ])
    await party.daemon.db.sql`update identity_provider set issuer = 'https://gitlab.com' where id = ${providerId}`
    expect(await errorsOf(providerId)).toMatchObject([{ pointer: '/binding/provider_id', code: 'provider.public' }])
    await party.daemon.db.sql`update identity_provider set issuer = ${real.issuer} where id = ${providerId}`
  })

  test('follows a provider no more that has become everybody’s', async () => {
    const group = await bound('once ours')
    const who = stranger(['once ours'])
    const me = await whoIs(party.daemon, await enter())
    const presets = party.daemon.config.providerPresets as Preset[]
    presets.push({ ...presets[0]!, isIssuer: new RegExp(`^${real.issuer}`), isPublic: /./ })
    try {
      says(who, [])
      expect((await enter()).status).toBe(201)
      expect(await groupsOf(me.id)).toEqual([group.id])
    } finally {
      presets.pop()
    }
    await enter()
    expect(await groupsOf(me.id)).toEqual([])
  })

  test('follows nothing for an account in the operator register', async () => {
    const group = await bound('operators')
    await party.give(group, 'ADMIN')
    const who = stranger([])
    const me = await whoIs(party.daemon, await enter())
    await party.daemon.db.sql`insert into operator (account_id, workspace_id) values (${me.id}, ${party.tenantId})`
    says(who, ['operators'])
    expect((await enter()).status).toBe(201)
    expect(await groupsOf(me.id)).toEqual([])
    await party.daemon.db.sql`delete from operator where account_id = ${me.id}`
  })

  test('that is full, or one too many for the account, takes nobody in, and lets its person sign in', async () => {
    const { sql } = party.daemon.db
    const [full, open] = [await bound('full'), await bound('open')]
    await sql`update account_group set member_count = 10000 where id = ${full.id}`
    const who = stranger(['full', 'open'])
    const me = await whoIs(party.daemon, await enter())
    expect(await groupsOf(me.id)).toEqual([open.id])
    await sql`update account_group set member_count = 0 where id = ${full.id}`

    await sql`
      insert into account_group (tenant_id, id, name, name_fold)
      select ${party.tenantId}, gen_random_uuid(), 'many ' || n, 'many ' || n from generate_series(1, 99) n`
    await sql`
      insert into group_member (tenant_id, group_id, account_id)
      select tenant_id, id, ${me.id} from account_group where tenant_id = ${party.tenantId} and name like 'many %'`
    expect((await enter()).status).toBe(201)
    const inFull = async () => (await sql`select 1 from group_member where group_id = ${full.id}`).length
    expect(await inFull()).toBe(0)
    await sql`delete from group_member where account_id = ${me.id} and group_id <> ${open.id}`
    await sql`delete from account_group where name like 'many %'`
    // As many values as a claim may have.
    says(who, ['full', 'open', ...Array.from({ length: 498 }, (_, n) => `other ${n}`)])
    expect((await enter()).status).toBe(201)
    expect(await inFull()).toBe(1)
  })

  test('is no group of a provider that is removed', async () => {
    const other = await provider()
    const group = await party.group([], { binding: { provider_id: other, value: 'x' } })
    expect((await party.ask(`DELETE /identity-providers/${other}`)).status).toBe(204)
    expect((await party.ask(`GET /groups/${group.id}`)).json).toMatchObject({ binding: null, version: 2 })
  })

  test('of four sign-ins of one person at once, each is served, and the account is in it once', async () => {
    const group = await bound('race')
    stranger(['race'])
    const answers = await Promise.all(Array.from({ length: 4 }, () => enter()))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect((await party.ask(`GET /groups/${group.id}`)).json.member_count).toBe(1)
  })
})

describe('a group instead of a role', () => {
  test('is not deleted while a provider names it', async () => {
    const group = await party.group()
    const id = await provider({ newcomer_group_id: group.id })
    expect(refusal(await party.ask(`DELETE /groups/${group.id}`))).toEqual([409, 'group.in_use', { provider_ids: id }])
    await party.ask(`DELETE /identity-providers/${id}`)
    expect((await party.ask(`DELETE /groups/${group.id}`)).status).toBe(204)
  })

  test('is named by an OWNER alone, who could grant all that it has', async () => {
    const group = await party.group()
    const body = configuration({ newcomer_group_id: group.id })
    expect(refusal(await party.ask('POST /identity-providers', body, { as: party.people.ADMIN }))).toEqual([
      403,
      'auth.role_required',
      { role: 'OWNER' },
    ])
  })

  test('admits nobody while it has no role, and makes no account; then it is all that a newcomer gets', async () => {
    const { sql } = party.daemon.db
    const group = await party.group()
    const id = await provider({ newcomer_group_id: group.id })
    const { email } = stranger()
    expect(refusal(await enter(id)).slice(0, 2)).toEqual([403, 'auth.not_admitted'])
    expect(await sql`select 1 from account where email = ${email}`).toEqual([])
    await party.give(group, 'COMMENTER')
    const me = await whoIs(party.daemon, await enter(id))
    expect([me.role, await groupsOf(me.id)]).toEqual(['COMMENTER', [group.id]])
    expect(await sql`select 1 from membership where account_id = ${me.id}`).toEqual([])
  })

  test('that follows the provider itself admits whom the claim names', async () => {
    const id = await provider()
    const group = await party.group([], { binding: { provider_id: id, value: 'staff' } })
    await party.give(group, 'MEMBER')
    await party.ask(`PUT /identity-providers/${id}`, configuration({ newcomer_group_id: group.id }))
    const who = stranger(['visitors'])
    expect(refusal(await enter(id)).slice(0, 2)).toEqual([403, 'auth.not_admitted'])
    says(who, ['staff'])
    expect((await whoIs(party.daemon, await enter(id))).role).toBe('MEMBER')
  })

  test('without a role is what the explanation of a sign-in says', async () => {
    const group = await party.group()
    const id = await provider({ newcomer_group_id: group.id })
    const operator = await person(party.daemon, party.tenantId, { operator: true })
    const because = async () => {
      const body = { workspace: 'home', email: 'new@acme.example' }
      const { json } = await party.ask('POST /audit/sign-in:explain', body, { as: operator })
      return json.ways.find(({ provider: one }: { provider: { id: string } | null }) => one?.id === id)?.because
    }
    expect(await because()).toBe('no_role')
    await party.give(group, 'VIEWER')
    expect(await because()).toBe('brought_in')
  })
})
