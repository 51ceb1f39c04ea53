/** Hubs and collections: each rule by its name. Spec: Index, Containers; decisions 1 and 3; decisions 0100 to 0102. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { productPolicies } from '../../src/core/contract/containers/policies.ts'
import { naughtyStrings, unstorableStrings } from '../kit/naughty-strings.ts'
import { type Board, bare, openBoard } from './board.ts'

let board: Board
beforeAll(async () => {
  board = await openBoard()
})
afterAll(() => board.close())

const unknown = randomUUID()
const isStorable = (text: string) =>
  !unstorableStrings.includes(text) && text.isWellFormed() && !text.includes('\u0000')
const errorOf = ({ json }: { readonly json: { errors?: { pointer: string; code: string }[] } }) =>
  json.errors?.map(({ pointer, code }) => `${pointer} ${code}`).join()

describe('creating', () => {
  test('a hub, and collections in it, are answered whole, with Location and ETag', async () => {
    const hub = await board.ask('POST /containers', { kind: 'HUB', name: 'Marketing', description: 'Ours' })
    expect(hub.status).toBe(201)
    expect(hub.json).toEqual({
      id: expect.any(String),
      kind: 'HUB',
      parent_id: null,
      name: 'Marketing',
      description: 'Ours',
      position: expect.any(Number),
      is_private: false,
      policies: Object.fromEntries(Object.keys(productPolicies).map((name) => [name, null])),
      effective_policies: productPolicies,
      archived_at: null,
      deleted_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      version: 1,
    })
    expect(hub.headers).toMatchObject({ location: `/api/v1/containers/${hub.json.id}`, etag: '"1"' })
    const [first, second] = [await board.collection(hub.json), await board.collection(hub.json)]
    expect([first.position, second.position, first.parent_id]).toEqual([0, 1, hub.json.id])
    expect((await board.ask(`GET /containers/${first.id}`)).json).toEqual(first)
  })

  test('one stands to the left of the neighbour that is named', async () => {
    const hub = await board.hub()
    const last = await board.collection(hub, { name: 'last' })
    await board.collection(hub, { name: 'first', before_container_id: last.id })
    await board.collection(hub, { name: 'middle', before_container_id: last.id })
    await board.collection(hub, { name: 'end', before_container_id: null })
    expect(await board.order(hub)).toEqual(['first', 'middle', 'last', 'end'])
  })

  test.each([
    ['a collection without a hub', () => ({ kind: 'COLLECTION', name: 'x' }), '/parent_id member.required'],
    ['a hub in a hub', (hub: string) => ({ kind: 'HUB', name: 'x', parent_id: hub }), '/parent_id value.not_taken'],
    [
      'a hub that is unknown',
      () => ({ kind: 'COLLECTION', name: 'x', parent_id: unknown }),
      '/parent_id reference.unknown',
    ],
    [
      'a collection in a collection',
      (_: string, inside: string) => ({ kind: 'COLLECTION', name: 'x', parent_id: inside }),
      '/parent_id reference.unknown',
    ],
    [
      'a neighbour of another hub',
      (hub: string, _: string, elsewhere: string) => ({
        kind: 'COLLECTION',
        name: 'x',
        parent_id: hub,
        before_container_id: elsewhere,
      }),
      '/before_container_id reference.unknown',
    ],
    ['an empty name', (hub: string) => ({ kind: 'COLLECTION', name: '', parent_id: hub }), '/name text.too_short'],
    [
      'a name of 121 characters',
      (hub: string) => ({ kind: 'COLLECTION', name: '😀'.repeat(121), parent_id: hub }),
      '/name text.too_long',
    ],
    ['an unknown member', () => ({ kind: 'HUB', name: 'x', color: 'red' }), '/color member.unknown'],
  ])('%s is refused with its pointer, and nothing is written', async (_, bodyOf, error) => {
    const hub = await board.hub()
    const inside = await board.collection(hub)
    const elsewhere = await board.collection(await board.hub())
    const before = await board.traces()
    const answer = await board.ask('POST /containers', bodyOf(hub.id, inside.id, elsewhere.id))
    expect([answer.status, answer.json.code, errorOf(answer)]).toEqual([422, 'request.invalid', error])
    expect(await board.traces()).toBe(before)
  })

  test.each([1, 120])(
    'a name of %i characters as people count them is taken, and answered as it was sent',
    async (n) => {
      const name = '🧑'.repeat(n)
      expect((await board.hub({ name })).name).toBe(name)
    },
  )

  test('every text that can be stored comes back to the code point, as a name and as a description', async () => {
    const hub = await board.hub()
    let kept = 0
    const every = process.env['SVC_FAULTS'] === 'full' ? 1 : 4
    for (const text of naughtyStrings.filter((_, at) => at % every === 0)) {
      const body = { name: [...text].slice(0, 120).join(''), description: text }
      const { status } = await board.ask(`PATCH /containers/${hub.id}`, body)
      const fits = body.name !== '' && isStorable(text) && [...text].length <= 10_000
      expect([text, status]).toEqual([text, fits ? 200 : 422])
      if (!fits) continue
      const { json } = await board.ask(`GET /containers/${hub.id}`)
      expect([json.name, json.description]).toEqual([body.name, text])
      kept += 1
    }
    expect(kept).toBeGreaterThan(50)
  })

  test('twice under one Idempotency-Key is once', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const body = { kind: 'HUB', name: 'once' }
    const [first, second] = [
      await board.ask('POST /containers', body, { headers }),
      await board.ask('POST /containers', body, { headers }),
    ]
    expect([second.status, second.text, second.headers['idempotency-replayed']]).toEqual([201, first.text, 'true'])
    expect((await board.order(null)).filter((name) => name === 'once')).toHaveLength(1)
  })

  test('every change writes one entry of the trail and one event', async () => {
    const { sql } = board.daemon.db
    const hub = await board.hub()
    const other = await board.hub()
    const { id } = await board.collection(hub)
    const sibling = await board.collection(hub)
    await board.ask(`PATCH /containers/${id}`, { name: 'renamed' })
    await board.ask(`POST /containers/${id}:reorder`, { before_container_id: null })
    await board.ask(`POST /containers/${sibling.id}:reorder`, {})
    await board.ask(`POST /containers/${id}:move`, { parent_id: other.id })
    await board.ask(`POST /containers/${id}:archive`)
    await board.ask(`POST /containers/${id}:unarchive`)
    await board.ask(`DELETE /containers/${id}`)
    await board.ask(`POST /containers/${id}:restore`)
    const entries = await sql`select action from audit_entry where subject_id = ${id} order by at, id`
    const events = await sql<{ type: string; body: string }[]>`
      select type, body from outbox_event where position(${id} in body) > 0 and type like '%container%' order by tx, seq`
    const verbs = ['created', 'changed', 'reordered', 'moved', 'archived', 'unarchived', 'deleted', 'restored']
    expect(entries.map(({ action }) => action)).toEqual(verbs.map((verb) => `container.${verb}`))
    expect(events.map(({ type }) => type)).toEqual(verbs.map((verb) => `svc.work.container.${verb}.v1`))
    const last = JSON.parse(events.at(-1)!.body)
    expect(last.data).toEqual((await board.ask(`GET /containers/${id}`)).json)
  })
})

describe('a patch', () => {
  test('changes what it names, and null clears the description alone', async () => {
    const hub = await board.hub({ description: 'old' })
    const patched = await board.ask(`PATCH /containers/${hub.id}`, { name: 'New' })
    expect(patched.json).toMatchObject({ name: 'New', description: 'old', version: 2 })
    expect(patched.headers.etag).toBe('"2"')
    expect((await board.ask(`PATCH /containers/${hub.id}`, { description: null })).json.description).toBe(null)
    const refused = await board.ask(`PATCH /containers/${hub.id}`, { name: null })
    expect([refused.status, errorOf(refused)]).toEqual([422, '/name value.type'])
  })

  test.each(['kind', 'parent_id', 'position', 'is_private', 'archived_at', 'deleted_at', 'id', 'version'])(
    'of `%s` is refused as unknown',
    async (member) => {
      const hub = await board.hub()
      const before = await board.traces()
      const answer = await board.ask(`PATCH /containers/${hub.id}`, { [member]: null })
      expect([answer.status, errorOf(answer)]).toEqual([422, `/${member} member.unknown`])
      expect(await board.traces()).toBe(before)
    },
  )

  test('that changes nothing answers 200, keeps the version and leaves no trace', async () => {
    const hub = await board.hub({ name: 'same' })
    const before = await board.traces()
    for (const body of [{}, { name: 'same' }, { description: null }])
      expect((await board.ask(`PATCH /containers/${hub.id}`, body)).json).toEqual(hub)
    expect(await board.traces()).toBe(before)
  })

  test('in another media type is 415', async () => {
    const hub = await board.hub()
    const { status, headers } = await board.ask(`PATCH /containers/${hub.id}`, '{"name":"x"}', {
      headers: { 'content-type': 'application/json' },
    })
    expect([status, headers['accept-patch']]).toEqual([415, 'application/merge-patch+json'])
  })
})

describe('If-Match', () => {
  const writes = [
    ['PATCH', '', { name: 'other' }],
    ['POST', ':reorder', {}],
    ['POST', ':move', 'elsewhere'],
    ['PUT', '/privacy', { is_private: true }],
    ['POST', ':archive', undefined],
    ['POST', ':unarchive', undefined],
    ['POST', ':restore', undefined],
    ['DELETE', '', undefined],
  ] as const

  test.each(writes)(
    '%s %s under a stale tag is 412 with the current one, and writes nothing',
    async (method, action, body) => {
      const hub = await board.hub()
      const { id } = await board.collection(hub)
      await board.collection(hub)
      await board.ask(`PATCH /containers/${id}`, { name: 'moved on' })
      const elsewhere = await board.hub()
      const sent = body === 'elsewhere' ? { parent_id: elsewhere.id } : body
      const before = await board.traces()
      for (const tag of ['"1"', 'W/"2"', '"3", "1"']) {
        const answer = await board.ask(`${method} /containers/${id}${action}`, sent, { headers: { 'if-match': tag } })
        expect([answer.status, answer.json.params]).toEqual([412, { current_etag: '"2"' }])
      }
      expect(await board.traces()).toBe(before)
      const served = await board.ask(`${method} /containers/${id}${action}`, sent, {
        headers: { 'if-match': '"1", "2"' },
      })
      expect(served.status).toBeLessThan(300)
    },
  )

  test('of twenty writers with one tag exactly one is served', async () => {
    const hub = await board.hub()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        board.ask(`PATCH /containers/${hub.id}`, { name: `writer ${n}` }, { headers: { 'if-match': '"1"' } }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(412)])
    const { json } = answers.find(({ status }) => status === 200)!
    expect((await board.ask(`GET /containers/${hub.id}`)).json).toEqual(json)
  })

  test('a matching If-None-Match answers 304', async () => {
    const hub = await board.hub()
    const { status, text } = await board.ask(`GET /containers/${hub.id}`, undefined, {
      headers: { 'if-none-match': '"1"' },
    })
    expect([status, text]).toEqual([304, ''])
  })
})

describe('the order', () => {
  test('is changed by :reorder alone: left of a neighbour, or to the end', async () => {
    const hub = await board.hub()
    const made = new Map<string, string>()
    for (const name of ['a', 'b', 'c', 'd']) made.set(name, (await board.collection(hub, { name })).id)
    const reordered = async (name: string, neighbour?: string | null) => {
      const { json } = await board.ask(`POST /containers/${made.get(name)}:reorder`, {
        ...(neighbour === undefined ? {} : { before_container_id: neighbour && made.get(neighbour) }),
      })
      return [json.position, ...(await board.order(hub))]
    }
    expect(await reordered('d', 'b')).toEqual([1, 'a', 'd', 'b', 'c'])
    expect(await reordered('a')).toEqual([3, 'd', 'b', 'c', 'a'])
    expect(await reordered('c', 'd')).toEqual([0, 'c', 'd', 'b', 'a'])
    expect(await reordered('d', null)).toEqual([3, 'c', 'b', 'a', 'd'])
  })

  test('a reorder writes one row of positions, whatever stands beside it', async () => {
    const hub = await board.hub()
    const made = []
    for (let n = 0; n < 12; n += 1) made.push(await board.collection(hub))
    const ranks = () =>
      board.daemon.db.sql<
        { id: string; rank: string }[]
      >`select id, rank from container where parent_id = ${hub.id} order by id`
    const before = await ranks()
    await board.ask(`POST /containers/${made[9]!.id}:reorder`, { before_container_id: made[2]!.id })
    const moved = (await ranks()).filter(({ rank }, at) => rank !== before[at]!.rank)
    expect(moved.map(({ id }) => id)).toEqual([made[9]!.id])
  })

  test('to where it stands already changes nothing and leaves no trace', async () => {
    const hub = await board.hub()
    const [a, b] = [await board.collection(hub), await board.collection(hub)]
    const before = await board.traces()
    expect((await board.ask(`POST /containers/${a.id}:reorder`, { before_container_id: b.id })).json).toEqual(a)
    expect((await board.ask(`POST /containers/${b.id}:reorder`, {})).json).toEqual(b)
    expect((await board.ask(`POST /containers/${b.id}:move`, { parent_id: hub.id })).json).toEqual(b)
    expect(await board.traces()).toBe(before)
  })

  test.each(['itself', 'deleted', 'of another hub', 'unknown', 'its hub'])(
    'a neighbour that is %s is 422 at its pointer',
    async (which) => {
      const hub = await board.hub()
      const [one, gone] = [await board.collection(hub), await board.collection(hub)]
      const elsewhere = await board.collection(await board.hub())
      await board.ask(`DELETE /containers/${gone.id}`)
      const neighbour = {
        itself: one.id,
        deleted: gone.id,
        'of another hub': elsewhere.id,
        unknown,
        'its hub': hub.id,
      }[which]
      const before = await board.traces()
      const answer = await board.ask(`POST /containers/${one.id}:reorder`, { before_container_id: neighbour })
      expect([answer.status, errorOf(answer)]).toEqual([
        422,
        `/before_container_id reference.${which === 'itself' ? 'itself' : 'unknown'}`,
      ])
      expect(await board.traces()).toBe(before)
    },
  )

  test('hubs have an order of their own', async () => {
    const [one, two] = [await board.hub({ name: 'hub one' }), await board.hub({ name: 'hub two' })]
    await board.ask(`POST /containers/${two.id}:reorder`, { before_container_id: one.id })
    const names = await board.order(null)
    expect(names.indexOf('hub two')).toBe(names.indexOf('hub one') - 1)
  })
})

describe('moving', () => {
  test('takes a collection to another hub, to its end or left of a neighbour', async () => {
    const [from, to] = [await board.hub(), await board.hub()]
    const [a, b] = [await board.collection(from, { name: 'a' }), await board.collection(from, { name: 'b' })]
    const there = await board.collection(to, { name: 'there' })
    expect((await board.ask(`POST /containers/${a.id}:move`, { parent_id: to.id })).json).toMatchObject({
      parent_id: to.id,
      position: 1,
      version: 2,
    })
    await board.ask(`POST /containers/${b.id}:move`, { parent_id: to.id, before_container_id: there.id })
    expect(await board.order(to)).toEqual(['b', 'there', 'a'])
    expect(await board.order(from)).toEqual([])
  })

  test.each(['a hub', 'to nowhere', 'into a collection', 'into itself', 'beside a neighbour it leaves'])(
    '%s is refused at its pointer, and nothing is written',
    async (which) => {
      const [hub, other] = [await board.hub(), await board.hub()]
      const [one, two] = [await board.collection(hub), await board.collection(hub)]
      const cases = {
        'a hub': [hub.id, { parent_id: other.id }, '/parent_id value.not_taken'],
        'to nowhere': [one.id, { parent_id: unknown }, '/parent_id reference.unknown'],
        'into a collection': [one.id, { parent_id: two.id }, '/parent_id reference.unknown'],
        'into itself': [one.id, { parent_id: one.id }, '/parent_id reference.unknown'],
        'beside a neighbour it leaves': [
          one.id,
          { parent_id: other.id, before_container_id: two.id },
          '/before_container_id reference.unknown',
        ],
      } as const
      const [id, body, error] = cases[which as keyof typeof cases]
      const before = await board.traces()
      const answer = await board.ask(`POST /containers/${id}:move`, body)
      expect([answer.status, errorOf(answer)]).toEqual([422, error])
      expect(await board.traces()).toBe(before)
    },
  )
})

describe('archiving', () => {
  test('makes a container read only until it is unarchived; a second time changes nothing', async () => {
    const hub = await board.hub()
    const { id } = await board.collection(hub)
    const archived = await board.ask(`POST /containers/${id}:archive`)
    expect(archived.json).toMatchObject({ archived_at: expect.any(String), version: 2 })
    expect((await board.ask(`POST /containers/${id}:archive`)).json).toEqual(archived.json)
    for (const [method, action, body] of [
      ['PATCH', '', { name: 'x' }],
      ['POST', ':reorder', {}],
      ['POST', ':move', { parent_id: hub.id }],
    ] as const)
      expect((await board.ask(`${method} /containers/${id}${action}`, body)).json.code).toBe('container.archived')
    expect((await board.ask(`POST /containers/${id}:unarchive`)).json).toMatchObject({ archived_at: null, version: 3 })
    expect((await board.ask(`PATCH /containers/${id}`, { name: 'x' })).status).toBe(200)
  })

  test('a hub takes its collections along, whose own rows stay as they are', async () => {
    const hub = await board.hub()
    const { id } = await board.collection(hub)
    await board.ask(`POST /containers/${hub.id}:archive`)
    expect((await board.ask(`GET /containers/${id}`)).json.archived_at).toBe(null)
    expect((await board.ask(`PATCH /containers/${id}`, { name: 'x' })).json.code).toBe('container.archived')
    const into = { kind: 'COLLECTION', name: 'x', parent_id: hub.id }
    expect((await board.ask('POST /containers', into)).json.code).toBe('container.archived')
    const lone = await board.collection(await board.hub())
    expect((await board.ask(`POST /containers/${lone.id}:move`, { parent_id: hub.id })).json.code).toBe(
      'container.archived',
    )
    const listed = async (state: string) =>
      (await board.ask(`GET /containers?state=${state}&parent_id=${hub.id}`)).json.data.length
    expect([await listed('ARCHIVED'), await listed('ACTIVE')]).toEqual([1, 0])
    await board.ask(`POST /containers/${hub.id}:unarchive`)
    expect([await listed('ARCHIVED'), await listed('ACTIVE')]).toEqual([0, 1])
  })
})

describe('deleting', () => {
  test('a deleted container answers as an id that nobody ever gave out, everywhere', async () => {
    const hub = await board.hub()
    const { id } = await board.collection(hub)
    expect((await board.ask(`DELETE /containers/${id}`)).status).toBe(204)
    const requests = [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'x' }],
      ['DELETE', '', undefined],
      ['POST', ':reorder', {}],
      ['POST', ':move', { parent_id: hub.id }],
      ['POST', ':archive', undefined],
      ['POST', ':unarchive', undefined],
    ] as const
    for (const [method, action, body] of requests)
      expect(bare(await board.ask(`${method} /containers/${id}${action}`, body))).toBe(
        bare(await board.ask(`${method} /containers/${unknown}${action}`, body)),
      )
    expect(await board.order(hub)).toEqual([])
  })

  test('is undone by :restore, at the place where it was; twice changes nothing', async () => {
    const hub = await board.hub()
    for (const name of ['a', 'b', 'c']) await board.collection(hub, { name })
    const middle = (await board.ask(`GET /containers?parent_id=${hub.id}`)).json.data[1]
    await board.ask(`DELETE /containers/${middle.id}`)
    expect((await board.ask(`GET /containers?state=DELETED&parent_id=${hub.id}`)).json.data).toMatchObject([
      { id: middle.id, position: 1, deleted_at: expect.any(String) },
    ])
    const restored = await board.ask(`POST /containers/${middle.id}:restore`)
    expect(restored.json).toMatchObject({ deleted_at: null, position: 1, version: 3 })
    expect((await board.ask(`POST /containers/${middle.id}:restore`)).json).toEqual(restored.json)
    expect(await board.order(hub)).toEqual(['a', 'b', 'c'])
  })

  test('a hub takes its collections along and brings back exactly those', async () => {
    const hub = await board.hub()
    const [kept, gone] = [await board.collection(hub, { name: 'kept' }), await board.collection(hub)]
    await board.ask(`DELETE /containers/${gone.id}`)
    await board.ask(`DELETE /containers/${hub.id}`)
    expect((await board.ask(`GET /containers/${kept.id}`)).json.code).toBe('not_found')
    expect((await board.ask(`POST /containers/${gone.id}:restore`)).json.code).toBe('container.parent_deleted')
    await board.ask(`POST /containers/${hub.id}:restore`)
    expect(await board.order(hub)).toEqual(['kept'])
  })
})
