/** Memberships: nobody grants more than he has, an OWNER stays, and a change holds from the very next request. Decisions 2; decision 0101. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Container } from '../../src/core/contract/containers/operations.ts'
import { type Role, rankOf, roles } from '../../src/core/contract/vocabulary.ts'
import { type Board, bare, openBoard } from '../containers/board.ts'
import { type Person, person } from '../kit/people.ts'

let board: Board
let hub: Container
beforeAll(async () => {
  board = await openBoard()
})
afterAll(() => board.close())
beforeEach(async () => {
  hub = await board.hub()
})

const unknown = randomUUID()
const grant = (who: Person, role: Role, container: { readonly id: string } | null = null, as?: Person) =>
  board.ask(
    'POST /memberships',
    { account_id: who.accountId, role, container_id: container?.id ?? null },
    as ? { as } : {},
  )
const memberships = async (
  who: Person,
  as?: Person,
): Promise<{ id: string; role: Role; container_id: string | null }[]> =>
  (await board.ask(`GET /memberships?account_id=${who.accountId}`, undefined, as ? { as } : {})).json.data
const remove = (id: string, as?: Person) => board.ask(`DELETE /memberships/${id}`, undefined, as ? { as } : {})
const newcomer = (role: Role = 'MEMBER') => person(board.daemon, board.tenantId, { role })

describe('granting', () => {
  test('a role in a container is answered whole, with Location and ETag, and listed', async () => {
    const who = await newcomer('VIEWER')
    const answer = await grant(who, 'ADMIN', hub)
    expect(answer.status).toBe(201)
    expect(answer.headers).toMatchObject({ location: `/api/v1/memberships/${answer.json.id}`, etag: '"1"' })
    expect(answer.json).toEqual({
      id: expect.any(String),
      account_id: who.accountId,
      group_id: null,
      container_id: hub.id,
      role: 'ADMIN',
      created_at: expect.any(String),
      updated_at: expect.any(String),
      version: 1,
    })
    expect(await memberships(who)).toMatchObject([{ container_id: null, role: 'VIEWER' }, answer.json])
  })

  test('another role in the same place changes the membership; the same one leaves no trace', async () => {
    const who = await newcomer()
    const first = await grant(who, 'VIEWER', hub)
    const second = await grant(who, 'MEMBER', hub)
    expect(second.json).toMatchObject({ id: first.json.id, role: 'MEMBER', version: 2 })
    const before = await board.traces()
    expect((await grant(who, 'MEMBER', hub)).json).toEqual(second.json)
    expect(await board.traces()).toBe(before)
  })

  test('nobody grants more than he has in that place', async () => {
    const who = await newcomer('VIEWER')
    for (const mine of ['ADMIN', 'OWNER'] as const)
      for (const role of roles)
        for (const place of [null, hub]) {
          const by = await newcomer(place ? 'VIEWER' : mine)
          if (place) await board.grant(place, by, mine)
          const before = await board.traces()
          const { status, json } = await grant(who, role, place, by)
          if (rankOf[role] <= rankOf[mine]) expect([mine, role, status]).toEqual([mine, role, 201])
          else {
            expect([mine, role, status, json.params]).toEqual([mine, role, 403, { role }])
            expect(await board.traces()).toBe(before)
          }
          if (place) await board.grant(place, who, 'VIEWER')
          else await board.grant(null, who, 'VIEWER')
        }
  })

  test('nobody below ADMIN in that place grants anything', async () => {
    const who = await newcomer()
    for (const mine of ['VIEWER', 'COMMENTER', 'MEMBER'] as const) {
      expect((await grant(who, 'VIEWER', null, board.people[mine])).json.code).toBe('auth.role_required')
      const elsewhere = await newcomer('VIEWER')
      await board.grant(hub, elsewhere, mine)
      await board.grant(await board.hub(), elsewhere, 'OWNER')
      expect((await grant(who, 'VIEWER', hub, elsewhere)).json).toMatchObject({
        code: 'auth.role_required',
        params: { role: 'ADMIN' },
      })
      expect((await grant(who, 'VIEWER', null, elsewhere)).json.code).toBe('auth.role_required')
    }
  })

  test('nobody touches a role above his own', async () => {
    const above = await newcomer('OWNER')
    const by = await newcomer('ADMIN')
    expect((await grant(above, 'VIEWER', null, by)).json).toMatchObject({
      code: 'auth.role_required',
      params: { role: 'OWNER' },
    })
    const [membership] = await memberships(above)
    expect((await remove(membership!.id, by)).json).toMatchObject({
      code: 'auth.role_required',
      params: { role: 'OWNER' },
    })
    expect((await memberships(above))[0]!.role).toBe('OWNER')
  })

  test('an unknown account, another workspace’s, an unseen container and an unknown one are 422 at their pointers', async () => {
    const { sql } = board.daemon.db
    const foreign = randomUUID()
    await sql`insert into tenant (id, slug, display_name, default_locale, default_time_zone) values (${foreign}, ${`f${foreign.slice(0, 8)}`}, 'F', 'en', 'UTC')`
    const stranger = await person(board.daemon, foreign)
    const hidden = await board.hub({ is_private: true })
    const before = await board.traces()
    const answers = async (bodies: object[]) =>
      (
        await Promise.all(
          bodies.map((body) => board.ask('POST /memberships', { role: 'VIEWER', ...body }, { as: board.people.ADMIN })),
        )
      ).map(bare)
    const [ofStranger, ofNobody] = await answers([{ account_id: stranger.accountId }, { account_id: unknown }])
    expect(ofStranger).toBe(ofNobody)
    expect(ofStranger).toContain('"pointer":"/account_id","code":"reference.unknown"')
    const account_id = board.people.VIEWER.accountId
    const [ofHidden, ofNone] = await answers([
      { account_id, container_id: hidden.id },
      { account_id, container_id: unknown },
    ])
    expect(ofHidden).toBe(ofNone)
    expect(ofHidden).toContain('"pointer":"/container_id","code":"reference.unknown"')
    expect(await board.traces()).toBe(before)
  })

  test('every change writes its entry of the trail and its event', async () => {
    const who = await newcomer()
    const { json } = await grant(who, 'VIEWER', hub)
    await grant(who, 'ADMIN', hub)
    await remove(json.id)
    const { sql } = board.daemon.db
    expect(
      await sql`select action, params from audit_entry where subject_id = ${json.id} order by at, id`,
    ).toMatchObject([
      { action: 'membership.granted', params: { account_id: who.accountId, container_id: hub.id, role: 'VIEWER' } },
      { action: 'membership.changed', params: { role: 'ADMIN', from: 'VIEWER' } },
      { action: 'membership.removed', params: { role: 'ADMIN' } },
    ])
    const events = await sql<{ type: string }[]>`
      select type from outbox_event where position(${json.id} in body) > 0 order by tx, seq`
    expect(events.map(({ type }) => type)).toEqual(
      ['granted', 'changed', 'removed'].map((verb) => `svc.identity.membership.${verb}.v1`),
    )
  })
})

describe('a change holds from the very next request', () => {
  test('granted, raised, lowered and taken away', async () => {
    const who = await board.guest()
    const patch = () => board.ask(`PATCH /containers/${hub.id}`, {}, { as: who })
    expect((await patch()).json.code).toBe('auth.unauthenticated')
    const { json } = await grant(who, 'VIEWER', hub)
    expect((await patch()).json).toMatchObject({ code: 'auth.role_required', params: { role: 'MEMBER' } })
    await grant(who, 'MEMBER', hub)
    expect((await patch()).status).toBe(200)
    await grant(who, 'COMMENTER', hub)
    expect((await patch()).json.code).toBe('auth.role_required')
    expect((await remove(json.id)).status).toBe(204)
    expect((await patch()).json.code).toBe('auth.unauthenticated')
  })

  test('on another daemon as well, which remembers nothing', async () => {
    const twin = await board.daemon.twin()
    try {
      const who = await newcomer('MEMBER')
      const read = () => twin.call('GET', `/api/v1/containers/${hub.id}`, { token: who.token })
      expect((await read()).status).toBe(200)
      const [membership] = await memberships(who)
      await remove(membership!.id)
      expect((await read()).status).toBe(401)
    } finally {
      await twin.close()
    }
  })
})

describe('removing', () => {
  test('whoever leaves the workspace leaves its containers too', async () => {
    const who = await newcomer('MEMBER')
    const own = await board.hub({ is_private: true }, who)
    const [onWorkspace] = (await memberships(who)).filter(({ container_id }) => container_id === null)
    expect((await remove(onWorkspace!.id)).status).toBe(204)
    expect(await memberships(who)).toEqual([])
    expect((await board.ask(`GET /containers/${own.id}`, undefined, { as: who })).json.code).toBe(
      'auth.unauthenticated',
    )
    expect((await board.ask(`GET /containers/${own.id}`)).status).toBe(200)
  })

  test('the last role of an operator is taken by operators alone, and with it the operator is nobody anywhere', async () => {
    const who = await person(board.daemon, board.tenantId, { role: 'MEMBER', operator: true })
    const [membership] = await memberships(who)
    expect((await remove(membership!.id)).json.code).toBe('admin.operator_required')
    const colleague = await person(board.daemon, board.tenantId, { operator: true })
    expect((await remove(membership!.id, colleague)).status).toBe(204)
    for (const request of ['GET /admin/overview', `GET /containers/${hub.id}`, 'GET /audit'] as const)
      expect((await board.ask(request, undefined, { as: who })).json.code).toBe('auth.unauthenticated')
  })

  test('the last operator who can act keeps a role: the installation would be locked out', async () => {
    const { sql } = board.daemon.db
    const who = await person(board.daemon, board.tenantId, { role: 'MEMBER', operator: true })
    await board.grant(hub, who, 'ADMIN')
    const others = await sql`delete from operator where account_id <> ${who.accountId} returning *`
    try {
      const [onWorkspace, inHub] = await memberships(who)
      expect((await remove(inHub!.id, board.people.OWNER)).json.code).toBe('admin.operator_required')
      expect((await remove(inHub!.id, who)).status).toBe(204)
      await sql`update membership set role = 'ADMIN' where account_id = ${who.accountId}`
      expect((await remove(onWorkspace!.id, who)).json.code).toBe('admin.operator_last')
      expect(await memberships(who)).toHaveLength(1)
    } finally {
      for (const row of others) await sql`insert into operator ${sql(row)}`
    }
  })

  test('a stale tag is 412 and removes nothing', async () => {
    const who = await newcomer()
    const { json } = await grant(who, 'VIEWER', hub)
    await grant(who, 'MEMBER', hub)
    const stale = await board.ask(`DELETE /memberships/${json.id}`, undefined, { headers: { 'if-match': '"1"' } })
    expect([stale.status, stale.json.params]).toEqual([412, { current_etag: '"2"' }])
    expect(await memberships(who)).toHaveLength(2)
  })

  test('one of an unseen container answers as one that nobody has', async () => {
    const hidden = await board.hub({ is_private: true })
    const who = await newcomer()
    const { json } = await grant(who, 'VIEWER', hidden)
    expect(bare(await remove(json.id, board.people.ADMIN))).toBe(bare(await remove(unknown, board.people.ADMIN)))
    expect((await memberships(who, board.people.ADMIN)).map(({ id }) => id)).not.toContain(json.id)
    expect(await memberships(who)).toHaveLength(2)
  })

  test('a guest lists those of his containers alone, and touches none of the workspace’s', async () => {
    const guest = await board.guest()
    await board.grant(hub, guest, 'OWNER')
    const { json } = await board.ask('GET /memberships?size=200', undefined, { as: guest })
    expect(json.data).toMatchObject([{ account_id: guest.accountId, container_id: hub.id }])
    const [ofOwner] = await memberships(board.people.OWNER)
    expect((await remove(ofOwner!.id, guest)).json.code).toBe('not_found')
  })
})

describe('the last OWNER of the workspace', () => {
  /** A workspace of its own, whose OWNERs are these alone. */
  const owners = async (count: number) => {
    const { sql } = board.daemon.db
    const tenantId = randomUUID()
    await sql`insert into tenant (id, slug, display_name, default_locale, default_time_zone) values (${tenantId}, ${`o${tenantId.slice(0, 8)}`}, 'O', 'en', 'UTC')`
    await sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
    return Promise.all(Array.from({ length: count }, () => person(board.daemon, tenantId, signsIn)))
  }
  /** A password that nobody has to know: it is there. */
  const signsIn = { passwordHash: 'a hash' }
  const membershipOf = async (who: Person) => (await memberships(who, who))[0]!.id

  test('cannot be removed, nor given another role, by anybody', async () => {
    const [only] = await owners(1)
    const before = await membershipOf(only!)
    expect((await remove(before, only)).json.code).toBe('membership.last_owner')
    expect((await grant(only!, 'ADMIN', null, only)).json.code).toBe('membership.last_owner')
    expect((await memberships(only!, only))[0]).toMatchObject({ id: before, role: 'OWNER', version: 1 })
  })

  test('is not somebody who cannot sign in', async () => {
    const [one, two] = await owners(2)
    await board.daemon.db.sql`update account set state = 'DISABLED' where id = ${two!.accountId}`
    expect((await remove(await membershipOf(one!), one)).json.code).toBe('membership.last_owner')
    await board.daemon.db.sql`update account set state = 'ACTIVE' where id = ${two!.accountId}`
    expect((await remove(await membershipOf(one!), one)).status).toBe(204)
  })

  test('is a person: neither a service account nor somebody invited, nor one without a way in, stands for it', async () => {
    const [only] = await owners(1)
    const { tenantId } = only!
    const others = [
      await person(board.daemon, tenantId, { kind: 'SERVICE' }),
      await person(board.daemon, tenantId, { ...signsIn, accountState: 'INVITED' }),
      await person(board.daemon, tenantId),
    ]
    const own = await membershipOf(only!)
    for (const by of [others[0]!, others[2]!, only!])
      expect((await remove(own, by)).json.code).toBe('membership.last_owner')
    expect((await grant(only!, 'ADMIN', null, others[0])).json.code).toBe('membership.last_owner')
    expect((await remove(await membershipOf(others[0]!), only)).status).toBe(204)
  })

  test('may sign in through a provider that the workspace has on, and no longer when it has it off', async () => {
    const { sql } = board.daemon.db
    const [one] = await owners(1)
    const { tenantId } = one!
    const other = await person(board.daemon, tenantId)
    const providerId = randomUUID()
    await sql`
      insert into identity_provider (tenant_id, id, issuer, client_id, kind, provisioning, position, allowed_email_domains, allowed_directories)
      values (${tenantId}, ${providerId}, 'https://id.example', 'svc', 'GENERIC', 'INVITED_ONLY', 0, '[]', '[]')`
    await sql`
      insert into connected_identity (tenant_id, id, provider_id, account_id, issuer, subject)
      values (${tenantId}, ${randomUUID()}, ${providerId}, ${other.accountId}, 'https://id.example', 'other')`
    const own = await membershipOf(one!)
    expect((await remove(own, one)).json.code).toBe('membership.last_owner')
    await sql`insert into provider_switch (tenant_id, provider_scope, provider_id) values (${tenantId}, ${tenantId}, ${providerId})`
    expect((await remove(own, one)).status).toBe(204)
  })

  test('of OWNERs who all remove the next one at once, one stays', async () => {
    for (let round = 0; round < 10; round += 1) {
      const all = await owners(4)
      const ids = await Promise.all(all.map(membershipOf))
      const answers = await Promise.all(all.map((who, at) => remove(ids[(at + 1) % 4]!, who)))
      const left = await board.daemon.db.sql`
        select id from membership where tenant_id = ${all[0]!.tenantId} and role = 'OWNER'`
      expect(left.length).toBeGreaterThanOrEqual(1)
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(4 - left.length)
      expect(answers.every(({ status }) => [204, 401, 409].includes(status))).toBe(true)
    }
  })

  test('twenty grants of one role to one account are one membership', async () => {
    const who = await newcomer()
    const answers = await Promise.all(Array.from({ length: 20 }, () => grant(who, 'MEMBER', hub)))
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.id}`)).size).toBe(1)
    expect(await memberships(who)).toHaveLength(2)
  })
})
