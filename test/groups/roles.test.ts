/**
 * Roles of groups: the role in a place is the highest of the account's own and its groups', wherever a role is asked for.
 * people 2; decision 0390.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Role, rankOf, roles } from '../../src/core/contract/vocabulary.ts'
import { bare } from '../containers/board.ts'
import { type Person, person } from '../kit/people.ts'
import { openParty, type Party } from './party.ts'

let party: Party
beforeAll(async () => {
  party = await openParty()
})
afterAll(() => party.close())

const somebody = (role: Role = 'VIEWER') => person(party.daemon, party.tenantId, { role })
const ofGroups = roles.filter((role) => role !== 'OWNER')
const refusal = ({ status, json }: { status: number; json: { code?: string; params?: unknown } }) => [
  status,
  json?.code,
  json?.params,
]
const readsOf = async (place: { readonly id: string }, as: Person) =>
  (await party.ask(`GET /containers/${place.id}`, undefined, { as })).status

describe('a role of a group', () => {
  test('is a membership that names the group, in its answer, the list and its events', async () => {
    const hub = await party.hub()
    const group = await party.group()
    const body = { group_id: group.id, role: 'MEMBER', container_id: hub.id }
    const granted = await party.ask('POST /memberships', body)
    expect(granted.json).toMatchObject({ account_id: null, group_id: group.id, role: 'MEMBER', version: 1 })
    expect((await party.ask('POST /memberships', body)).json).toEqual(granted.json)
    const changed = await party.ask('POST /memberships', { ...body, role: 'ADMIN' })
    expect(changed.json).toMatchObject({ id: granted.json.id, role: 'ADMIN', version: 2 })
    expect((await party.ask(`GET /memberships?group_id=${group.id}`)).json.data).toEqual([changed.json])
    expect((await party.ask(`GET /memberships?account_id=${group.id}`)).json.data).toEqual([])
    expect((await party.ask(`DELETE /memberships/${granted.json.id}`)).status).toBe(204)
    const events = await party.daemon.db.sql`
      select type, body::jsonb -> 'data' as data from outbox_event
      where type like 'svc.identity.membership.%' and body::jsonb -> 'data' ->> 'group_id' = ${group.id} order by seq`
    expect(events.map(({ type }) => type)).toEqual(
      ['granted', 'changed', 'removed'].map((what) => `svc.identity.membership.${what}.v1`),
    )
    expect(events[2]!['data']).toEqual(changed.json)
  })

  test('takes exactly one holder, is never OWNER, and names a group of the workspace', async () => {
    const group = await party.group()
    const who = await somebody()
    const errorsOf = async (body: object) =>
      (await party.ask('POST /memberships', { role: 'VIEWER', ...body })).json.errors?.map(
        ({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`,
      )
    expect(await errorsOf({ account_id: who.accountId, group_id: group.id })).toEqual(['/group_id member.conflicts'])
    expect(await errorsOf({})).toEqual(['/account_id member.required'])
    expect(await errorsOf({ group_id: group.id, role: 'OWNER' })).toEqual(['/role value.one_of'])
    expect(await errorsOf({ group_id: group.id, role: 'OWNER', container_id: (await party.hub()).id })).toEqual([
      '/role value.one_of',
    ])
    expect(await errorsOf({ group_id: randomUUIDv7() })).toEqual(['/group_id reference.unknown'])
    const { sql } = party.daemon.db
    await expect(
      sql`insert into membership (tenant_id, id, group_id, role) values (${party.tenantId}, ${randomUUIDv7()}, ${group.id}, 'OWNER')`,
    ).rejects.toMatchObject({ constraint_name: 'membership_group_role' })
  })

  test('counts at the very next request, and the highest of all counts', async () => {
    const who = await somebody('VIEWER')
    for (const own of [null, 'VIEWER', 'MEMBER', 'ADMIN'] as const)
      for (const given of ofGroups) {
        await party.strip(who)
        if (own) await party.grant(null, who, own)
        const group = await party.group([who])
        await party.give(group, given)
        await party.give(await party.group([who]), 'VIEWER')
        const highest = rankOf[own ?? 'VIEWER'] > rankOf[given] ? own : given
        expect([own, given, await party.me(who)]).toEqual([own, given, { status: 200, role: highest }])
        expect((await party.ask(`DELETE /groups/${group.id}`)).status).toBe(204)
        expect((await party.me(who)).role).toBe(own ?? 'VIEWER')
      }
  })

  test('opens a private container, a hub with its open collections, and no private one in it', async () => {
    const hub = await party.hub({ is_private: true })
    const [open, closed] = [await party.collection(hub), await party.collection(hub, { is_private: true })]
    const who = await somebody()
    const group = await party.group([who])
    expect(await Promise.all([hub, open, closed].map((one) => readsOf(one, who)))).toEqual([404, 404, 404])
    await party.give(group, 'MEMBER', hub)
    expect(await Promise.all([hub, open, closed].map((one) => readsOf(one, who)))).toEqual([200, 200, 404])
    const made = await party.ask('POST /items', { container_id: open.id, title: 'by the group' }, { as: who })
    expect(made.status).toBe(201)
    await party.give(group, 'VIEWER', closed)
    const read = await party.ask('POST /items', { container_id: closed.id, title: 'no' }, { as: who })
    expect(refusal(read)).toEqual([403, 'auth.role_required', { role: 'MEMBER' }])
    await party.remove(group, who)
    expect(await Promise.all([hub, open, closed].map((one) => readsOf(one, who)))).toEqual([404, 404, 404])
  })

  test('is counted like an own one: two workspaces of the same acts answer alike', async () => {
    // Somebody with own roles, and somebody with the same roles of groups, at the same containers.
    const hub = await party.hub({ is_private: true })
    const board = await party.collection(hub)
    for (const role of ofGroups) {
      const [own, grouped] = [await party.guest(), await party.guest()]
      await party.grant(hub, own, role)
      await party.give(await party.group([grouped]), role, hub)
      for (const [request, body] of [
        ['GET /containers', undefined],
        [`GET /containers/${board.id}/board`, undefined],
        ['GET /items', undefined],
        ['POST /search', { query: 'nothing' }],
        [`POST /containers/${board.id}/buckets`, { name: `${role} twice` }],
        ['POST /items', { container_id: board.id, title: 'x', due_at: 'no date' }],
        ['GET /webhooks', undefined],
        ['GET /audit', undefined],
        [`DELETE /containers/${randomUUIDv7()}`, undefined],
      ] as const) {
        const [one, other] = [
          await party.ask(request, body, { as: own }),
          await party.ask(request, body, { as: grouped }),
        ]
        const isTwin = request.endsWith('/buckets') && one.status === 201
        expect([role, request, isTwin ? [409, other.json.code] : bare(other)]).toEqual([
          role,
          request,
          isTwin ? [409, 'bucket.name_taken'] : bare(one),
        ])
      }
    }
  })
})

describe('who adds a member', () => {
  test('must be able to grant what the group has: an ADMIN does not join a group that opens a private board', async () => {
    const secret = await party.hub({ is_private: true })
    const group = await party.group()
    await party.give(group, 'VIEWER', secret)
    const admin = await somebody('ADMIN')
    for (const who of [admin, await somebody()])
      expect(refusal(await party.add(group, who, admin))).toEqual([403, 'auth.role_required', { role: 'OWNER' }])
    expect(await readsOf(secret, admin)).toBe(404)

    await party.grant(secret, admin, 'MEMBER')
    expect(refusal(await party.add(group, admin, admin))).toEqual([403, 'auth.role_required', { role: 'ADMIN' }])
    await party.grant(secret, admin, 'ADMIN')
    expect((await party.add(group, await somebody(), admin)).status).toBe(200)
    expect((await party.add(group, await somebody())).status).toBe(200)
  })

  test('nor one that opens a deleted private board, which can be restored', async () => {
    const secret = await party.hub({ is_private: true })
    const group = await party.group()
    await party.give(group, 'VIEWER', secret)
    await party.ask(`DELETE /containers/${secret.id}`)
    const admin = await somebody('ADMIN')
    expect(refusal(await party.add(group, admin, admin))).toEqual([403, 'auth.role_required', { role: 'OWNER' }])
  })

  test('acts on no account above, and on no operator unless one', async () => {
    const group = await party.group()
    const admin = await somebody('ADMIN')
    const operator = await person(party.daemon, party.tenantId, { role: 'MEMBER', operator: true })
    for (const act of [party.add, party.remove]) {
      expect(refusal(await act(group, party.people.OWNER, admin))).toEqual([
        403,
        'auth.role_required',
        { role: 'OWNER' },
      ])
      expect(refusal(await act(group, operator, admin)).slice(0, 2)).toEqual([403, 'admin.operator_required'])
    }
    const made = await party.ask('POST /groups', { name: 'x', member_ids: [operator.accountId] }, { as: admin })
    expect(refusal(made).slice(0, 2)).toEqual([403, 'admin.operator_required'])
    const owner = { name: 'x', member_ids: [party.people.OWNER.accountId] }
    expect(refusal(await party.ask('POST /groups', owner, { as: admin }))).toEqual([
      403,
      'auth.role_required',
      { role: 'OWNER' },
    ])
  })
})

describe('an account that loses its last role by a group', () => {
  const member = async () => party.strip(await somebody('MEMBER'))

  test.each([
    ['leaves it', (group: { id: string }, who: Person) => party.remove(group, who)],
    ['loses the group', (group: { id: string }) => party.ask(`DELETE /groups/${group.id}`)],
    [
      'loses the role of the group',
      async (_: { id: string }, __: Person, membershipId: string) => party.ask(`DELETE /memberships/${membershipId}`),
    ],
  ])('%s: its credentials end with the call, and no later grant revives one', async (_, lose) => {
    const who = await member()
    const group = await party.group([who])
    const membershipId = await party.give(group, 'MEMBER')
    expect(await party.me(who)).toEqual({ status: 200, role: 'MEMBER' })
    expect((await lose(group, who, membershipId)).status).toBe(204)
    expect([await party.alive(who), (await party.me(who)).status]).toEqual([0, 401])
    await party.grant(null, who, 'ADMIN')
    expect([await party.alive(who), (await party.me(who)).status]).toEqual([0, 401])
    const [entry] = await party.daemon.db.sql`
      select params from audit_entry where action = 'account.credentials_ended' and subject_id = ${who.accountId}`
    expect(entry!['params']).toMatchObject({ reason: 'role_lost', tokens: 1 })
  })

  test('keeps all while another group or an own role is left', async () => {
    const hub = await party.hub()
    const [byGroup, byOwn] = [await member(), await member()]
    const group = await party.group([byGroup, byOwn])
    await party.give(group, 'MEMBER')
    await party.give(await party.group([byGroup]), 'VIEWER')
    await party.grant(hub, byOwn, 'ADMIN')
    expect((await party.ask(`DELETE /groups/${group.id}`)).status).toBe(204)
    expect(await party.me(byGroup)).toEqual({ status: 200, role: 'VIEWER' })
    expect(await readsOf(hub, byOwn)).toBe(200)
    expect((await party.ask('GET /memberships', undefined, { as: byOwn })).json.data).toHaveLength(1)
  })

  test('of a thousand at once, each ends, and those with another role stay', { timeout: 60_000 }, async () => {
    const { sql } = party.daemon.db
    const group = await party.group()
    await party.give(group, 'VIEWER')
    await sql`
      insert into account (tenant_id, id, kind, state, email, email_fold)
      select ${party.tenantId}, gen_random_uuid(), 'PERSON', 'ACTIVE', 'm' || n || '@crowd.example', 'm' || n || '@crowd.example' from generate_series(1, 1200) n`
    await sql`
      insert into group_member (tenant_id, group_id, account_id)
      select tenant_id, ${group.id}, id from account where email like '%@crowd.example'`
    await sql`update account set group_ids = array[${group.id}::uuid] where email like '%@crowd.example'`
    await sql`
      insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes)
      select tenant_id, gen_random_uuid(), id, 'PERSONAL', sha256(id::text::bytea), 'xxxx', 'crowd', 'workspace:read' from account where email like '%@crowd.example'`
    await sql`
      insert into membership (tenant_id, id, account_id, role)
      select tenant_id, gen_random_uuid(), id, 'VIEWER' from account where email like 'm1__@crowd.example'`
    expect((await party.ask(`DELETE /groups/${group.id}`)).status).toBe(204)
    const [left] = await sql`
      select count(*) filter (where c.revoked_at is null)::int as alive, count(*)::int as all
      from credential c join account a on a.id = c.account_id where a.email like '%@crowd.example'`
    expect(left).toEqual({ alive: 100, all: 1200 })
  })

  test('is an operator: taken by operators alone, and never the last one that can act', async () => {
    const operator = await party.strip(
      await person(party.daemon, party.tenantId, {
        role: 'MEMBER',
        operator: true,
        scopes: ['workspace:read', 'workspace:admin', 'admin:tenants'],
      }),
    )
    const group = await party.group()
    const membershipId = await party.give(group, 'ADMIN')
    const { sql } = party.daemon.db
    await sql`insert into group_member (tenant_id, group_id, account_id) values (${party.tenantId}, ${group.id}, ${operator.accountId})`
    await sql`update account set group_ids = array[${group.id}::uuid] where id = ${operator.accountId}`
    const admin = await somebody('ADMIN')
    for (const request of [
      `DELETE /groups/${group.id}`,
      `DELETE /memberships/${membershipId}`,
      `DELETE /groups/${group.id}/members/${operator.accountId}`,
    ] as const)
      expect(refusal(await party.ask(request, undefined, { as: admin })).slice(0, 2)).toEqual([
        403,
        'admin.operator_required',
      ])
    const body = { group_id: group.id, role: 'MEMBER' }
    expect(refusal(await party.ask('POST /memberships', body, { as: admin })).slice(0, 2)).toEqual([
      403,
      'admin.operator_required',
    ])

    const others = await sql<{ account_id: string; workspace_id: string }[]>`
      delete from operator where account_id <> ${operator.accountId} returning account_id, workspace_id`
    for (const request of [`DELETE /groups/${group.id}`, `DELETE /memberships/${membershipId}`] as const)
      expect(refusal(await party.ask(request, undefined, { as: operator })).slice(0, 2)).toEqual([
        409,
        'admin.operator_last',
      ])
    expect((await party.me(operator)).role).toBe('ADMIN')
    for (const one of others)
      await sql`insert into operator (account_id, workspace_id) values (${one.account_id}, ${one.workspace_id})`
  })
})

describe('the rest follows', () => {
  test('whoever leaves the workspace leaves its groups: nothing is left of an own role’s end', async () => {
    const who = await somebody('MEMBER')
    const group = await party.group([who])
    await party.give(group, 'ADMIN')
    const [own] = (await party.ask(`GET /memberships?account_id=${who.accountId}`)).json.data
    expect((await party.ask(`DELETE /memberships/${own.id}`)).status).toBe(204)
    expect([await party.alive(who), (await party.me(who)).status]).toEqual([0, 401])
    expect((await party.ask(`GET /groups/${group.id}`)).json.member_count).toBe(0)
    const [event] = await party.daemon.db.sql`
      select body::jsonb -> 'data' as data from outbox_event where type = 'svc.identity.group.member_removed.v1' order by seq desc limit 1`
    expect(event!['data']).toMatchObject({ group_id: group.id, account_id: who.accountId })
  })

  test('the last OWNER is a person’s own row, whatever groups there are', async () => {
    const { sql } = party.daemon.db
    const group = await party.group()
    await party.give(group, 'ADMIN')
    const owners = await sql<{ id: string; account_id: string }[]>`
      select m.id, m.account_id from membership m where m.tenant_id = ${party.tenantId} and m.role = 'OWNER' and m.container_id is null`
    await sql`update account set password_hash = null where id <> all (${owners.map(({ account_id }) => account_id)})`
    const [founder] = await sql<{ id: string; account_id: string }[]>`
      select m.id, m.account_id from membership m join account a on a.id = m.account_id
      where m.tenant_id = ${party.tenantId} and m.role = 'OWNER' and m.container_id is null and a.password_hash is not null`
    await sql`insert into group_member (tenant_id, group_id, account_id) values (${party.tenantId}, ${group.id}, ${founder!.account_id})`
    await sql`update account set group_ids = array[${group.id}::uuid] where id = ${founder!.account_id}`
    const refused = await party.ask(
      'POST /memberships',
      { account_id: founder!.account_id, role: 'ADMIN' },
      { as: await person(party.daemon, party.tenantId, { role: 'OWNER', operator: true }) },
    )
    expect(refusal(refused).slice(0, 2)).toEqual([409, 'membership.last_owner'])
  })

  test('a second factor that is demanded of ADMINs is demanded of ADMINs by a group', async () => {
    const { sql } = party.daemon.db
    const who = await party.strip(
      await person(party.daemon, party.tenantId, { role: 'MEMBER', passwordHash: 'somewhat', kind: 'SESSION' }),
    )
    const group = await party.group([who])
    await party.give(group, 'MEMBER')
    await sql`insert into setting (name, value) values ('sign_in.mfa_required_for', '"ADMINS"')`
    expect((await party.ask('GET /containers', undefined, { as: who })).status).toBe(200)
    await party.give(group, 'ADMIN')
    const refused = await party.ask('GET /containers', undefined, { as: who })
    expect(refusal(refused).slice(0, 2)).toEqual([403, 'auth.second_factor_demanded'])
    await sql`delete from setting where name = 'sign_in.mfa_required_for'`
  })
})
