/** Groups: made, listed, changed, deleted; who is in them. people 2, N8 to N12, I6 to I8. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bare } from '../containers/board.ts'
import { person } from '../kit/people.ts'
import { openParty, type Party } from './party.ts'

let party: Party
beforeAll(async () => {
  party = await openParty()
})
afterAll(() => party.close())

const somebody = (role: 'ADMIN' | 'MEMBER' | 'VIEWER' = 'MEMBER') => person(party.daemon, party.tenantId, { role })
const codeOf = ({ status, json }: { status: number; json: { code?: string; params?: unknown } }) => [
  status,
  json?.code,
  json?.params,
]

describe('a group', () => {
  test('is answered whole, listed by name, found by a part of it, and read', async () => {
    const { ask } = party
    const who = await somebody()
    const made = await ask('POST /groups', {
      name: 'Zoë’s Night Shift',
      description: 'Nights',
      external_id: 'dir-7',
      member_ids: [who.accountId],
    })
    expect(made.status).toBe(201)
    expect(made.headers).toMatchObject({ location: `/api/v1/groups/${made.json.id}`, etag: '"1"' })
    expect(made.json).toEqual({
      id: expect.any(String),
      name: 'Zoë’s Night Shift',
      description: 'Nights',
      external_id: 'dir-7',
      binding: null,
      member_count: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      version: 1,
    })
    await party.group([], { name: 'a first' })
    const names = (await ask('GET /groups?size=200')).json.data.map(({ name }: { name: string }) => name)
    expect(names.indexOf('a first')).toBeLessThan(names.indexOf('Zoë’s Night Shift'))
    for (const q of ['ZOE', 'night%20sh', 'shift'])
      expect((await ask(`GET /groups?q=${q}`)).json.data).toEqual([made.json])
    for (const q of ['%25', '_', 'nobody']) expect((await ask(`GET /groups?q=${q}`)).json.data).toEqual([])
    expect((await ask(`GET /groups?account_id=${who.accountId}`)).json.data).toEqual([made.json])
    expect((await ask(`GET /groups/${made.json.id}`)).json).toEqual(made.json)
    expect((await ask(`GET /groups/${randomUUIDv7()}`)).status).toBe(404)
  })

  test('has a name of its own, without regard to case and accents', async () => {
    await party.group([], { name: 'Équipe' })
    expect(codeOf(await party.ask('POST /groups', { name: 'EQUIPE' }))).toEqual([409, 'group.name_taken', {}])
    const other = await party.group()
    const renamed = await party.ask(`PATCH /groups/${other.id}`, { name: 'équipe' })
    expect(codeOf(renamed)).toEqual([409, 'group.name_taken', {}])
  })

  test('is paged by name without a gap or a double', async () => {
    const made = await Promise.all(Array.from({ length: 7 }, (_, at) => party.group([], { name: `Paged ${at}` })))
    const seen: string[] = []
    for (let cursor = '', more = true; more; ) {
      const { json } = await party.ask(`GET /groups?q=paged&size=3${cursor}`)
      seen.push(...json.data.map(({ id }: { id: string }) => id))
      cursor = `&cursor=${json.next_cursor}`
      more = json.next_cursor !== null
    }
    expect(seen).toEqual(made.map(({ id }) => id))
  })

  test('is changed by a patch, which keeps the version where it changes nothing', async () => {
    const group = await party.group([], { description: 'one' })
    const patch = (body: object, tag = '"1"') =>
      party.ask(`PATCH /groups/${group.id}`, body, { headers: { 'if-match': tag } })
    const before = await party.traces()
    expect((await patch({ name: group.name, description: 'one' })).json).toEqual(group)
    expect(await party.traces()).toBe(before)
    const changed = (await patch({ description: null, external_id: 'x' })).json
    expect(changed).toMatchObject({ description: null, external_id: 'x', name: group.name, version: 2 })
    expect((await patch({ name: 'late' })).status).toBe(412)
    const [event] = await party.daemon.db.sql`
      select body::jsonb -> 'data' as data from outbox_event where type = 'svc.identity.group.changed.v1' order by seq desc limit 1`
    expect(event!['data']).toEqual(changed)
  })

  test('takes the role ADMIN to make and to change, and VIEWER to read', async () => {
    const group = await party.group()
    const { MEMBER, VIEWER, ADMIN } = party.people
    expect((await party.ask('GET /groups', undefined, { as: VIEWER })).status).toBe(200)
    expect((await party.ask(`GET /groups/${group.id}/members`, undefined, { as: VIEWER })).status).toBe(200)
    for (const request of [
      ['POST /groups', { name: 'no' }],
      [`DELETE /groups/${group.id}`, undefined],
      [`PUT /groups/${group.id}/members/${MEMBER.accountId}`, undefined],
      [`DELETE /groups/${group.id}/members/${MEMBER.accountId}`, undefined],
    ] as const)
      expect(codeOf(await party.ask(request[0], request[1], { as: MEMBER }))).toEqual([
        403,
        'auth.role_required',
        { role: 'ADMIN' },
      ])
    expect((await party.ask(`DELETE /groups/${group.id}`, undefined, { as: ADMIN })).status).toBe(204)
  })

  test('has at most 10,000 members, a workspace 1,000 groups, an account 100', async () => {
    const { sql } = party.daemon.db
    const group = await party.group()
    const who = await somebody()
    await sql`update account_group set member_count = 10000 where id = ${group.id}`
    expect(codeOf(await party.add(group, who))).toEqual([409, 'structure.full', { limit: 10_000 }])
    await sql`update account_group set member_count = 0 where id = ${group.id}`

    const fill = sql`
      insert into account_group (tenant_id, id, name, name_fold)
      select ${party.tenantId}, gen_random_uuid(), 'fill ' || n, 'fill ' || n
      from generate_series(1, 1000 - (select count(*)::int from account_group where tenant_id = ${party.tenantId})) n returning id`
    const filled = await fill
    expect(codeOf(await party.ask('POST /groups', { name: 'one more' }))).toEqual([
      409,
      'structure.full',
      { limit: 1000 },
    ])
    await sql`
      insert into group_member (tenant_id, group_id, account_id)
      select ${party.tenantId}, id, ${who.accountId} from account_group where tenant_id = ${party.tenantId} and name like 'fill %' limit 100`
    expect(codeOf(await party.add(group, who))).toEqual([409, 'structure.full', { limit: 100 }])
    await sql`delete from group_member where account_id = ${who.accountId}`
    await sql`delete from account_group where name like 'fill %'`
    expect(filled.length).toBeGreaterThan(900)
    expect((await party.add(group, who)).status).toBe(200)
  })
})

describe('members', () => {
  test('are put in and taken out one by one, and a repeated call changes nothing', async () => {
    const group = await party.group()
    const who = await somebody()
    const added = await party.add(group, who, party.people.ADMIN)
    expect(added.json).toEqual({
      account_id: who.accountId,
      added_at: expect.any(String),
      added_by: party.people.ADMIN.accountId,
      source: 'DIRECT',
    })
    const before = await party.traces()
    expect((await party.add(group, who)).json).toEqual(added.json)
    expect(await party.traces()).toBe(before)
    expect((await party.ask(`GET /groups/${group.id}/members`)).json.data).toEqual([added.json])
    expect((await party.ask(`GET /groups/${group.id}`)).json).toEqual({ ...group, member_count: 1 })

    expect((await party.remove(group, who)).status).toBe(204)
    const after = await party.traces()
    expect((await party.remove(group, who)).status).toBe(204)
    expect(await party.traces()).toBe(after)
    expect((await party.ask(`GET /groups/${group.id}`)).json).toEqual(group)
    const events = await party.daemon.db.sql`
      select type, body::jsonb -> 'data' as data from outbox_event where type like 'svc.identity.group.member_%' order by seq desc limit 2`
    expect(events.map(({ type, data }) => [type, data])).toEqual(
      ['removed', 'added'].map((what) => [
        `svc.identity.group.member_${what}.v1`,
        { group_id: group.id, account_id: who.accountId, source: 'DIRECT' },
      ]),
    )
  })

  test('are answered in pages, the oldest account first; an empty group has an empty page, and no group none', async () => {
    const all = await Promise.all(Array.from({ length: 3 }, () => somebody()))
    const group = await party.group(all)
    const page = async (query: string) => (await party.ask(`GET /groups/${group.id}/members?size=2${query}`)).json
    const idsOf = ({ data }: { data: { account_id: string }[] }) => data.map(({ account_id }) => account_id)
    const ids = all.map(({ accountId }) => accountId).sort()
    const first = await page('')
    expect(idsOf(first)).toEqual(ids.slice(0, 2))
    // Those behind the cursor leave before it is used.
    const cursor = `&cursor=${first.next_cursor}`
    expect(idsOf(await page(cursor))).toEqual(ids.slice(2))
    for (const who of all) await party.remove(group, who)
    expect(await page(cursor)).toEqual({ data: [], next_cursor: null })
    expect(await page('')).toEqual({ data: [], next_cursor: null })
    expect((await party.ask(`GET /groups/${randomUUIDv7()}/members`)).status).toBe(404)
  })

  test('are not put in by halves: a statement that fails undoes the others, and ends no daemon', async () => {
    const { sql } = party.daemon.db
    const group = await party.group()
    const who = await somebody()
    await sql.unsafe(`
      create function refuse_member() returns trigger language plpgsql as $$ begin raise exception 'no room on the disk'; end $$;
      create trigger refuse_member before insert on group_member for each row execute function refuse_member()`)
    const before = await party.traces()
    // A failure that nobody waits for ends this run, as it would end a daemon.
    expect((await party.add(group, who)).status).toBe(500)
    await sql.unsafe('drop trigger refuse_member on group_member; drop function refuse_member')
    expect(await party.traces()).toBe(before)
    expect((await party.ask(`GET /groups/${group.id}`)).json).toEqual(group)
    expect((await party.add(group, who)).status).toBe(200)
  })

  test('are accounts that the list finds by their group, in pages and with its other filters', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => somebody()))
    const [group, other] = [await party.group(all.slice(0, 4)), await party.group(all.slice(4))]
    await party.daemon.db.sql`update account set state = 'DISABLED' where id = ${all[1]!.accountId}`
    const found = async (query: string) =>
      (await party.ask(`GET /accounts?${query}`)).json.data.map(({ id }: { id: string }) => id)
    const ids = all
      .slice(0, 4)
      .map(({ accountId }) => accountId)
      .sort()
    expect(await found(`group_id=${group.id}`)).toEqual(ids)
    const { json: first } = await party.ask(`GET /accounts?group_id=${group.id}&size=3`)
    expect(await found(`group_id=${group.id}&size=3&cursor=${first.next_cursor}`)).toEqual(ids.slice(3))
    expect(await found(`group_id=${group.id}&state=DISABLED`)).toEqual([all[1]!.accountId])
    expect(await found(`group_id=${other.id}&email=${all[4]!.accountId}%40people.example`)).toEqual([all[4]!.accountId])
    expect(await found(`group_id=${group.id}&email=${all[4]!.accountId}%40people.example`)).toEqual([])
    expect(await found(`group_id=${randomUUIDv7()}`)).toEqual([])
    const named = await party.ask(`PATCH /accounts/${all[0]!.accountId}/preferences`, { display_name: 'Gertrud' })
    expect(named.status).toBe(200)
    await party.ask(`PATCH /accounts/${all[4]!.accountId}/preferences`, { display_name: 'Gerlinde' })
    expect(await found(`group_id=${group.id}&q=ger`)).toEqual([all[0]!.accountId])
  })

  test('of an unknown group, and unknown accounts, are unknown', async () => {
    const group = await party.group()
    const who = await somebody()
    for (const [groupId, accountId] of [
      [randomUUIDv7(), who.accountId],
      [group.id, randomUUIDv7()],
    ])
      for (const method of ['PUT', 'DELETE'])
        expect((await party.ask(`${method} /groups/${groupId}/members/${accountId}`)).status).toBe(404)
    const made = await party.ask('POST /groups', { name: 'x', member_ids: [who.accountId, randomUUIDv7()] })
    expect(made.json.errors).toMatchObject([{ pointer: '/member_ids/1', code: 'reference.unknown' }])
    const doubled = await party.ask('POST /groups', { name: 'x', member_ids: [who.accountId, who.accountId] })
    expect(doubled.json.errors).toMatchObject([{ pointer: '/member_ids', code: 'list.unique' }])
  })

  test('of 20 at once, each is in it once, and the count is exact', async () => {
    const group = await party.group()
    const all = await Promise.all(Array.from({ length: 10 }, () => somebody()))
    const answers = await Promise.all([...all, ...all].map((who) => party.add(group, who)))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect((await party.ask(`GET /groups/${group.id}`)).json.member_count).toBe(10)
    await Promise.all([...all.slice(5), ...all.slice(5)].map((who) => party.remove(group, who)))
    expect((await party.ask(`GET /groups/${group.id}`)).json.member_count).toBe(5)
  })
})

describe('a guest', () => {
  test('sees the groups with a role in its containers, and nothing of the others', async () => {
    const [mine, theirs] = [await party.hub(), await party.hub()]
    const guest = await party.guest()
    await party.grant(mine, guest, 'VIEWER')
    const [inMine, inTheirs] = [await party.group(), await party.group()]
    await party.give(inMine, 'VIEWER', mine)
    await party.give(inTheirs, 'VIEWER', theirs)
    const as = { as: guest }
    expect((await party.ask('GET /groups', undefined, as)).json.data).toEqual([inMine])
    expect((await party.ask(`GET /groups/${inMine.id}`, undefined, as)).status).toBe(200)
    expect((await party.ask(`GET /groups/${inMine.id}/members`, undefined, as)).status).toBe(200)
    const [inside, outside] = [await somebody(), await somebody()]
    await party.add(inMine, inside)
    await party.add(inTheirs, outside)
    const listed = async ({ id }: { id: string }) =>
      (await party.ask(`GET /accounts?group_id=${id}`, undefined, as)).json.data.map(
        ({ id: one }: { id: string }) => one,
      )
    expect([await listed(inMine), await listed(inTheirs)]).toEqual([[inside.accountId], []])
    const unknown = bare(await party.ask(`GET /groups/${randomUUIDv7()}`, undefined, as))
    for (const path of [`/groups/${inTheirs.id}`, `/groups/${inTheirs.id}/members`] as const)
      expect(bare(await party.ask(`GET ${path}`, undefined, as))).toBe(unknown)
  })
})
