/**
 * T-01, T-02, F-13: an id of somebody else is answered as one that nobody ever gave out, in every place
 * of every operation where an id is sent; nobody else's rows are touched or told of.
 *
 * Two kinds of somebody else: another workspace, with rows in every table there is; and a private
 * container of one's own workspace, with whatever the operations that are served put into it.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answered } from '../kit/daemon.ts'
import { type Furnished, fingerprintOf, furnished } from '../kit/leaving-workspace.ts'
import { type Person, person } from '../kit/people.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'
import { type Ids, idsOf, kindOf, nameOf, type Place, places, probe } from './probes.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'

let ways: TwoWays
let other: Furnished
let mine: Furnished
/** OWNER and ADMIN of the workspace that asks; neither is an operator. */
let owner: Person
let admin: Person
let own: Map<string, string[]>
let foreign: Ids
let hidden: Ids
let probes = 0

beforeAll(async () => {
  ways = await twoWays()
  other = await furnished(ways, 'the-other-workspace')
  mine = await furnished(ways)
  await ways.sql`update tenant_quota set ceiling = 0 where tenant_id = ${mine.id}`
  await ways.sql`insert into tenant_quota values (${mine.id}, 'api_requests_per_minute', 0)`
  owner = await person(ways.daemon, mine.id)
  admin = await person(ways.daemon, mine.id, { role: 'ADMIN' })
  await fill(mine, mine.collectionId, 'own')
  await fill(other, other.collectionId)
  foreign = await idsOf(ways.sql, other.id)
  own = await idsOf(ways.sql, mine.id)
  own.set('container', [mine.collectionId])
  own.set('account', [owner.accountId])
  await ownOfCollection()
  hidden = await fillHidden()
}, 120_000)
afterAll(() => ways.close())

const call = (path: string, body: object, token = owner.token) =>
  ways.daemon.call('POST', `/api/v1${path}`, { token, body })

/** Whatever the operations that are served put into a container; one that is not served yet answers 404 or 405. */
async function fill({ id }: Furnished, containerId: string, word = 'canary'): Promise<void> {
  const { token } = id === mine.id ? owner : await person(ways.daemon, id)
  await call(`/containers/${containerId}/buckets`, { name: 'canary bucket' }, token)
  await call(`/containers/${containerId}/labels`, { name: 'canary label', color_token: 'red' }, token)
  await call('/custom-fields', { collection_id: containerId, key: 'canary', kind: 'TEXT' }, token)
  const { json: item } = await call('/items', { container_id: containerId, title: `${word} item` }, token)
  await call(`/items/${item.id}/comments`, { body: `${word} comment` }, token)
}

/** What is in the caller's own collection, so that a path with two ids is right in the one that is not probed. */
async function ownOfCollection(): Promise<void> {
  const inside = await idsOf(ways.sql, mine.id, `and container_id = '${mine.collectionId}'`)
  for (const [kind, ids] of inside) if (kind !== 'tenant' && kind !== 'membership') own.set(kind, ids)
}

/** A private container that the ADMIN is no member of, and what is in it. */
async function fillHidden(): Promise<Ids> {
  const { json: hub } = await call('/containers', { kind: 'HUB', name: 'canary hub', is_private: true })
  const { json } = await call('/containers', { kind: 'COLLECTION', parent_id: hub.id, name: 'canary board' })
  await fill(mine, json.id)
  const { sql } = ways
  await sql`
    insert into bucket (tenant_id, id, container_id, name, name_fold, rank)
    values (${mine.id}, ${randomUUID()}, ${json.id}, 'canary', 'canary', 'a9')`
  await sql`
    insert into label (tenant_id, id, container_id, name, name_fold, color_token)
    values (${mine.id}, ${randomUUID()}, ${json.id}, 'canary', 'canary', 'red')`
  await sql`
    insert into membership (tenant_id, id, account_id, container_id, role)
    values (${mine.id}, ${randomUUID()}, ${mine.ownerId}, ${json.id}, 'VIEWER')`
  const inside = await idsOf(sql, mine.id, `and container_id = '${json.id}'`)
  const fields = await idsOf(sql, mine.id, `and collection_id = '${json.id}'`)
  const field = fields.get('field')
  const inItems = `and item_id in (select id from item where tenant_id = '${mine.id}' and container_id = '${json.id}')`
  const comment = (await idsOf(sql, mine.id, inItems)).get('comment')
  inside.delete('tenant')
  return new Map([
    ...inside,
    ['container', [json.id, hub.id]],
    ...(field ? [['field', field] as const] : []),
    ...(comment ? [['comment', comment] as const] : []),
  ])
}

/** An answer without what differs from request to request, and without the id that was sent. */
const bare = ({ status, text }: Answered, id: string) =>
  `${status} ${text.replace(/urn:uuid:[0-9a-f-]+/, '').replaceAll(id, 'the id')}`

/** What a refusal leaves behind on purpose: counted failures, after which the answer is another one. */
const forgetFailures = () => ways.sql`delete from failed_attempt where tenant_id = ${mine.id}`

async function answersAlike(place: Place, id: string, who: Person): Promise<void> {
  probes += 1
  const random = randomUUID()
  if (place.operation.area === 'auth') await forgetFailures()
  const unknown = await probe(ways.daemon, place, random, who, own)
  if (place.operation.area === 'auth') await forgetFailures()
  const asked = await probe(ways.daemon, place, id, who, own)
  const where = `${nameOf(place)} = ${id}`
  const why = 'what the caller does not see answers as an unknown id: ask areas/access/access.ts'
  expect([where, bare(asked, id)], why).toEqual([where, bare(unknown, random)])
  expect([where, asked.status < 500, asked.text.includes('canary')]).toEqual([where, true, false])
  expect([where, asked.text.includes(other.slug)]).toEqual([where, false])
}

/** The ids to send: those of the kind that the place is about, or of every kind where all are tried. */
function idsFor(place: Place, ids: Ids, all: boolean): readonly string[] {
  const fitting = ids.get(kindOf(place))
  return all ? [...ids.values()].flat() : (fitting ?? [...ids.values()].flat().slice(0, 2))
}

/** Whose lists tell of everything in the workspace on purpose: docs/decisions/0103. */
const tellsOfHidden = new Set(['listAuditEntries query subject_id'])
/** Accounts of one's own workspace are no secret, so none of these is somebody else's. */
const named = places.map((place) => [nameOf(place), place] as const)

test('there are places enough, in paths, queries and bodies', () => {
  expect(places.filter(({ where }) => where === 'path').length).toBeGreaterThan(30)
  expect(places.filter(({ where }) => where === 'body').length).toBeGreaterThan(5)
  expect(foreign.size).toBeGreaterThan(20)
  expect([...hidden.keys()]).toEqual(expect.arrayContaining(['container', 'bucket', 'label', 'membership', 'comment']))
})

describe('another workspace', () => {
  let before: string
  beforeAll(async () => {
    before = await fingerprintOf(ways.sql, other.id)
  })

  test.each(named)('%s', async (_, place) => {
    for (const id of idsFor(place, foreign, isFull)) await answersAlike(place, id, owner)
    // The same as somebody who may do less: what comes first must not tell either.
    if (isFull) for (const id of idsFor(place, foreign, false)) await answersAlike(place, id, admin)
  })

  test('has every row that it had, and no further one', async () => {
    expect(await fingerprintOf(ways.sql, other.id)).toBe(before)
    const [told] = await ways.sql`
      select count(*)::int as count from journal where workspace_id = ${other.id} and actor_account_id in ${ways.sql([owner.accountId, admin.accountId])}`
    expect(told).toEqual({ count: 0 })
  })

  test('no row hangs on a row of another workspace', async () => {
    const references = await ways.sql<{ child: string; parent: string; columns: string[]; keys: string[] }[]>`
      select f.conrelid::regclass::text as child, f.confrelid::regclass::text as parent,
             (select array_agg(a.attname::text order by k.n) from unnest(f.conkey) with ordinality k (num, n) join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.num) as columns,
             (select array_agg(a.attname::text order by k.n) from unnest(f.confkey) with ordinality k (num, n) join pg_attribute a on a.attrelid = f.confrelid and a.attnum = k.num) as keys
      from pg_constraint f where f.contype = 'f' and f.connamespace = 'public'::regnamespace and f.confrelid <> 'tenant'::regclass`
    expect(references.length).toBeGreaterThan(15)
    for (const { child, parent, columns, keys } of references) {
      const pairs = columns
        .map((column, at) => [column, keys[at]] as const)
        .filter(([column]) => column !== 'tenant_id')
      const joined = pairs.map(([column, key]) => `c."${column}" = p."${key}"`).join(' and ')
      const [row] = await ways.sql.unsafe(
        `select count(*)::int as count from ${child} c join ${parent} p on ${joined} where c.tenant_id <> p.tenant_id`,
      )
      expect([child, parent, row]).toEqual([child, parent, { count: 0 }])
    }
  })
})

describe('a private container of one’s own workspace', () => {
  const ofContainers = named.filter(([name]) => !tellsOfHidden.has(name))

  test.each(ofContainers)('%s', async (_, place) => {
    const kinds = isFull ? [...hidden.keys()] : [kindOf(place)]
    for (const id of kinds.flatMap((kind) => hidden.get(kind) ?? [])) await answersAlike(place, id, admin)
  })

  test('is as it was', async () => {
    const [row] = await ways.sql`
      select count(*)::int as count from audit_entry where tenant_id = ${mine.id} and actor_account_id = ${admin.accountId}
      and subject_id in ${ways.sql([...hidden.values()].flat())}`
    expect(row).toEqual({ count: 0 })
  })
})

describe('an id that is none', () => {
  test.each(named)('%s', async (_, place) => {
    const [id = randomUUID()] = idsFor(place, foreign, false)
    for (const spelt of [`urn:uuid:${id}`, `{${id}}`, id.replaceAll('-', '')]) {
      probes += 1
      const { status, json } = await probe(ways.daemon, place, encodeURI(spelt), owner, own)
      // Whoever is not let in is told that before his body is read; what cannot stand in a path is no path of ours.
      const refused = { body: [401, 403, 422], query: [400, 403], path: [400, 404, 405] }[place.where]
      expect([nameOf(place), spelt, status]).toEqual([nameOf(place), spelt, expect.toBeOneOf(refused)])
      expect(json.code).not.toBe('internal')
    }
    await answersAlike(place, '00000000-0000-0000-0000-000000000000', owner)
    await answersAlike(place, id.toUpperCase(), owner)
  })
})

test('F-13: so many probes were sent', () => {
  expect(probes).toBeGreaterThan(isFull ? 2000 : 300)
})
