/** Who sees which container, with which role, and who may say so. Decisions 1 and 2; decision 0101. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Container, containerOperations } from '../../src/core/contract/containers/operations.ts'
import { type Role, rankOf, roles } from '../../src/core/contract/vocabulary.ts'
import type { Person } from '../kit/people.ts'
import { type Board, bare, openBoard } from './board.ts'

let board: Board
beforeAll(async () => {
  board = await openBoard()
})
afterAll(() => board.close())

const unknown = randomUUID()
const sees = async (who: Person, { id }: { readonly id: string }) =>
  (await board.ask(`GET /containers/${id}`, undefined, { as: who })).status === 200
const listed = async (who: Person) =>
  (await board.ask('GET /containers?size=200', undefined, { as: who })).json.data.map(({ id }: Container) => id)

/** The requests of every operation that names a container in its path, with a body that its schema takes. */
const requestsFor = (id: string, hub: string): [`${string} /${string}`, object | undefined][] => [
  [`GET /containers/${id}`, undefined],
  [`PATCH /containers/${id}`, { name: 'x' }],
  [`PUT /containers/${id}/privacy`, { is_private: true }],
  [`PUT /containers/${id}/policies`, { trash_days: 7 }],
  [`DELETE /containers/${id}`, undefined],
  [`POST /containers/${id}:move`, { parent_id: hub }],
  [`POST /containers/${id}:reorder`, {}],
  [`POST /containers/${id}:archive`, undefined],
  [`POST /containers/${id}:unarchive`, undefined],
  [`POST /containers/${id}:restore`, undefined],
]

describe('who sees what', () => {
  test('the requests of this file are those of every operation with a container in its path', () => {
    const served = Object.values(containerOperations).filter(({ path }) => path.includes('{containerId}'))
    const asked = requestsFor('{containerId}', '').map(([request]) => request)
    expect(asked.sort(), 'add the request of the missing operation to requestsFor').toEqual(
      served.map(({ method, path }) => `${method} ${path}`).sort(),
    )
  })

  test('everybody with a role on the workspace sees an open container, a guest none', async () => {
    const hub = await board.hub()
    const inside = await board.collection(hub)
    for (const role of roles)
      expect([role, await sees(board.people[role], hub), await sees(board.people[role], inside)]).toEqual([
        role,
        true,
        true,
      ])
    const guest = await board.guest()
    expect((await board.ask('GET /containers', undefined, { as: guest })).json.code).toBe('auth.unauthenticated')
  })

  test('a private container is seen by its members and by the OWNERs of the workspace alone', async () => {
    const hub = await board.hub({ is_private: true }, board.people.MEMBER)
    const inside = await board.collection(hub, {}, board.people.MEMBER)
    for (const role of roles) {
      const isSeen = role === 'OWNER' || role === 'MEMBER'
      expect([role, await sees(board.people[role], hub), await sees(board.people[role], inside)]).toEqual([
        role,
        isSeen,
        isSeen,
      ])
      expect((await listed(board.people[role])).includes(inside.id)).toBe(isSeen)
    }
    await board.grant(hub, board.people.VIEWER, 'VIEWER')
    expect([await sees(board.people.VIEWER, hub), await sees(board.people.VIEWER, inside)]).toEqual([true, true])
  })

  test('a private collection is not opened by a membership of its hub', async () => {
    const hub = await board.hub()
    const secret = await board.collection(hub, { is_private: true }, board.people.MEMBER)
    await board.grant(hub, board.people.COMMENTER, 'ADMIN')
    expect(await sees(board.people.COMMENTER, secret)).toBe(false)
    await board.grant(secret, board.people.COMMENTER, 'VIEWER')
    expect(await sees(board.people.COMMENTER, secret)).toBe(true)
  })

  test('a guest sees what he is a member of, and what a hub of his holds openly', async () => {
    const [hub, other] = [await board.hub(), await board.hub({ is_private: true })]
    const [open, secret] = [await board.collection(hub), await board.collection(hub, { is_private: true })]
    const lone = await board.collection(other)
    const guest = await board.guest()
    await board.grant(hub, guest, 'VIEWER')
    await board.grant(lone, guest, 'VIEWER')
    expect((await listed(guest)).sort()).toEqual([hub.id, open.id, lone.id].sort())
    expect([await sees(guest, secret), await sees(guest, other)]).toEqual([false, false])
  })

  test('a container that is not seen answers byte for byte as an unknown id, and stays as it is', async () => {
    const hub = await board.hub({ is_private: true })
    const { id } = await board.collection(hub)
    const own = await board.hub({}, board.people.ADMIN)
    for (const target of [hub.id, id]) {
      const before = await board.traces()
      const hidden = await Promise.all(
        requestsFor(target, own.id).map(([request, body]) => board.ask(request, body, { as: board.people.ADMIN })),
      )
      const none = await Promise.all(
        requestsFor(unknown, own.id).map(([request, body]) => board.ask(request, body, { as: board.people.ADMIN })),
      )
      expect(hidden.map(bare)).toEqual(none.map(bare))
      expect(hidden.every(({ status }) => status === 404)).toBe(true)
      expect(await board.traces()).toBe(before)
    }
  })

  test('positions are 0..n-1 among the siblings that are seen, and a hidden one keeps its place', async () => {
    const hub = await board.hub()
    for (const [name, is_private] of [
      ['a', false],
      ['hidden', true],
      ['b', false],
      ['c', false],
    ] as const)
      await board.collection(hub, { name, is_private })
    expect(await board.order(hub)).toEqual(['a', 'hidden', 'b', 'c'])
    expect(await board.order(hub, board.people.MEMBER)).toEqual(['a', 'b', 'c'])
    const data: Container[] = (await board.ask(`GET /containers?parent_id=${hub.id}`)).json.data
    const [, hidden, b, c] = data
    const one = await board.ask(`GET /containers/${c!.id}`, undefined, { as: board.people.MEMBER })
    expect(one.json.position).toBe(2)
    await board.ask(`POST /containers/${c!.id}:reorder`, { before_container_id: b!.id }, { as: board.people.MEMBER })
    expect(await board.order(hub)).toEqual(['a', 'hidden', 'c', 'b'])
    const beside = await board.ask(
      `POST /containers/${c!.id}:reorder`,
      { before_container_id: hidden!.id },
      { as: board.people.MEMBER },
    )
    expect([beside.status, beside.json.errors[0].code]).toEqual([422, 'reference.unknown'])
  })
})

test('a write that waited while the collection went into a private hub finds it where it is now', async () => {
  const { sql } = board.daemon.db
  const [hub, secret] = [await board.hub(), await board.hub({ is_private: true })]
  const { id } = await board.collection(hub)
  const waiting = async () =>
    (await sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).length
  let answer: ReturnType<Board['ask']> | undefined
  await sql.begin(async (tx) => {
    await tx`update container set parent_id = ${secret.id} where id = ${id}`
    answer = board.ask(`POST /containers/${id}/buckets`, { name: 'late' }, { as: board.people.ADMIN })
    await expect.poll(waiting).toBeGreaterThan(0)
  })
  expect((await answer)?.status).toBe(404)
  expect((await board.ask(`GET /containers/${id}/buckets`)).json).toEqual({ data: [] })
})

describe('roles in a container', () => {
  const needed: readonly [request: (id: string) => [`${string} /${string}`, object | undefined], role: Role][] = [
    [(id) => [`GET /containers/${id}`, undefined], 'VIEWER'],
    [(id) => [`PATCH /containers/${id}`, {}], 'MEMBER'],
    [(id) => [`POST /containers/${id}:reorder`, {}], 'MEMBER'],
    [(id) => [`PUT /containers/${id}/privacy`, { is_private: false }], 'ADMIN'],
    [(id) => [`POST /containers/${id}:archive`, undefined], 'ADMIN'],
    [(id) => [`POST /containers/${id}:unarchive`, undefined], 'ADMIN'],
    [(id) => [`POST /containers/${id}:restore`, undefined], 'ADMIN'],
    [(id) => [`DELETE /containers/${id}`, undefined], 'ADMIN'],
  ]

  test.each(['the container', 'its hub'])(
    'a membership of %s counts above a lower role on the workspace',
    async (place) => {
      for (const [requestFor, least] of needed)
        for (const role of roles) {
          const hub = await board.hub()
          const { id } = await board.collection(hub)
          await board.grant(place === 'its hub' ? hub : { id }, board.people.VIEWER, role)
          const [request, body] = requestFor(id)
          const { status, json } = await board.ask(request, body, { as: board.people.VIEWER })
          if (rankOf[role] >= rankOf[least]) expect([request, role, status < 300]).toEqual([request, role, true])
          else expect([request, role, status, json.params]).toEqual([request, role, 403, { role: least }])
        }
    },
  )

  test('one container’s role is none in another', async () => {
    const [mine, other] = [await board.hub(), await board.hub()]
    const guest = await board.guest()
    await board.grant(mine, guest, 'OWNER')
    await board.grant(other, guest, 'VIEWER')
    expect((await board.ask(`DELETE /containers/${other.id}`, undefined, { as: guest })).json).toMatchObject({
      code: 'auth.role_required',
      params: { role: 'ADMIN' },
    })
    const hub = await board.ask('POST /containers', { kind: 'HUB', name: 'x' }, { as: guest })
    expect([hub.status, hub.json.code]).toEqual([403, 'auth.role_required'])
    expect(
      (await board.ask('POST /containers', { kind: 'COLLECTION', name: 'x', parent_id: other.id }, { as: guest })).json
        .code,
    ).toBe('auth.role_required')
    expect(
      (await board.ask('POST /containers', { kind: 'COLLECTION', name: 'x', parent_id: mine.id }, { as: guest }))
        .status,
    ).toBe(201)
  })

  test('a guest is served nothing that is the workspace’s', async () => {
    const guest = await board.guest()
    await board.grant(await board.hub(), guest, 'OWNER')
    for (const request of ['GET /audit', 'GET /identity-providers', 'GET /ai/models'] as const) {
      const { status } = await board.ask(request, undefined, { as: guest })
      expect([request, status]).toEqual([request, 403])
    }
    expect((await board.ask('GET /accounts/me', undefined, { as: guest })).json).toMatchObject({ role: null })
  })

  test('whoever creates one without being its ADMIN, or a private one, becomes its OWNER', async () => {
    const membersOf = async ({ id }: Container) =>
      (await board.ask(`GET /memberships?container_id=${id}`)).json.data.map(
        ({ account_id, role }: { account_id: string; role: Role }) => [account_id, role],
      )
    const { MEMBER, ADMIN } = board.people
    expect(await membersOf(await board.hub({}, MEMBER))).toEqual([[MEMBER.accountId, 'OWNER']])
    expect(await membersOf(await board.hub({}, ADMIN))).toEqual([])
    expect(await membersOf(await board.hub({ is_private: true }, ADMIN))).toEqual([[ADMIN.accountId, 'OWNER']])
  })

  test('hiding one holds from the next request, keeps whoever hid it, and opening it lets everybody back in', async () => {
    const { ADMIN, MEMBER } = board.people
    const { id } = await board.hub({}, ADMIN)
    const put = (is_private: boolean) => board.ask(`PUT /containers/${id}/privacy`, { is_private }, { as: ADMIN })
    const hidden = await put(true)
    expect(hidden.json).toMatchObject({ is_private: true, version: 2 })
    expect([await sees(ADMIN, { id }), await sees(MEMBER, { id })]).toEqual([true, false])
    const before = await board.traces()
    expect((await put(true)).json).toEqual(hidden.json)
    expect(await board.traces()).toBe(before)
    expect((await put(false)).json).toMatchObject({ is_private: false, version: 3 })
    expect(await sees(MEMBER, { id })).toBe(true)
  })

  test('private hubs of MEMBERs are the installation’s to switch off; an ADMIN may still make one', async () => {
    await board.daemon.db.sql`insert into setting (name, value) values ('sign_in.private_hubs', 'false')`
    try {
      const own = await board.hub({}, board.people.MEMBER)
      const hide = await board.ask(
        `PUT /containers/${own.id}/privacy`,
        { is_private: true },
        { as: board.people.MEMBER },
      )
      expect(hide.json).toMatchObject({ code: 'auth.role_required', params: { role: 'ADMIN' } })
      const create = (as: Person) => board.ask('POST /containers', { kind: 'HUB', name: 'x', is_private: true }, { as })
      expect((await create(board.people.MEMBER)).json).toMatchObject({
        code: 'auth.role_required',
        params: { role: 'ADMIN' },
      })
      expect((await create(board.people.ADMIN)).status).toBe(201)
      expect(
        (await board.ask('POST /containers', { kind: 'HUB', name: 'x' }, { as: board.people.MEMBER })).status,
      ).toBe(201)
    } finally {
      await board.daemon.db.sql`delete from setting where name = 'sign_in.private_hubs'`
    }
  })
})
