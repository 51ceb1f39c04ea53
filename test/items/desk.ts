/** A collection with three buckets and labels, and short words for what the tests of items do in it. */
import { randomUUIDv7 } from 'node:crypto'
import { expect } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { Config } from '../../src/core/kernel/config/config.ts'
import { caseFold } from '../../src/core/kernel/values/case-fold.ts'
import { type Board, openBoard } from '../containers/board.ts'
import type { Answered, Sending } from '../kit/daemon.ts'
import type { Person } from '../kit/people.ts'

export interface Desk extends Board {
  readonly collectionId: string
  /** From the left; the last one is the done bucket. */
  readonly buckets: readonly string[]
  readonly labels: readonly string[]
  /** A collection with as many buckets as named, none of which has items. */
  shelf(buckets: number, options?: { readonly doneAt?: number }): Promise<Shelf>
  label(containerId: string, name: string): Promise<string>
  field(members: FieldRow): Promise<string>
  item(members?: object, as?: Person): Promise<Item>
  /** Does something to an item and answers it; throws for a refusal. */
  act(item: { readonly id: string }, action: string, body?: object): Promise<Item>
  read(item: { readonly id: string }, as?: Person): Promise<Item>
  /** The data of the item's last event, without what it was before. */
  told(item: { readonly id: string }): Promise<Item>
  /** What its last event says that the change moved, as it was. */
  moved(item: { readonly id: string }): Promise<Partial<Item> | undefined>
  patch(item: { readonly id: string }, body: unknown, more?: Sending & { readonly as?: Person }): Promise<Answered>
  /** The titles of a bucket's items, in its order. */
  titles(bucketId: string): Promise<string[]>
  /** Waits until so many statements wait for a lock. */
  untilWaiting(count: number): Promise<void>
  /** How many entries, events and versions there are: what a call that changes nothing leaves alone. */
  marks(): Promise<string>
}

export interface Shelf {
  readonly collectionId: string
  readonly buckets: readonly string[]
}

export interface FieldRow {
  readonly key: string
  readonly kind: string
  readonly collectionId?: string | null
  readonly options?: readonly string[]
  readonly isRequired?: boolean
  readonly appliesTo?: readonly string[]
}

export async function openDesk(config: Partial<Config> = {}): Promise<Desk> {
  const board = await openBoard(config)
  const { ask, tenantId, daemon } = board
  const { sql } = daemon.db
  const hub = await board.hub()

  const shelf: Desk['shelf'] = async (count, { doneAt } = {}) => {
    const { id: collectionId } = await board.collection(hub)
    const buckets: string[] = []
    for (let at = 0; at < count; at += 1) {
      const id = randomUUIDv7()
      await sql`
        insert into bucket (tenant_id, id, container_id, name, name_fold, rank, is_done_bucket)
        values (${tenantId}, ${id}, ${collectionId}, ${`b${at}`}, ${`b${at}`}, ${`a${at}`}, ${at === doneAt})`
      buckets.push(id)
    }
    return { collectionId, buckets }
  }
  const label: Desk['label'] = async (containerId, name) => {
    const id = randomUUIDv7()
    await sql`
      insert into label (tenant_id, id, container_id, name, name_fold, color_token)
      values (${tenantId}, ${id}, ${containerId}, ${name}, ${caseFold(name)}, 'red')`
    return id
  }
  const { collectionId, buckets } = await shelf(3, { doneAt: 2 })
  const labels = [await label(collectionId, 'one'), await label(collectionId, 'two')]
  const answered = (expected: number, { status, json, text }: Answered) => {
    if (status !== expected) throw new Error(`${status} ${text}`)
    return json as Item
  }

  const untilWaiting: Desk['untilWaiting'] = async (count) => {
    const look = async () => {
      const rows = await sql`
        select 1 from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`
      return rows.length
    }
    await expect.poll(look, { timeout: 1_500, interval: 10 }).toBe(count)
  }

  return {
    ...board,
    untilWaiting,
    collectionId,
    buckets,
    labels,
    shelf,
    label,
    async field({ key, kind, collectionId: of = null, options, isRequired = false, appliesTo = ['TASK'] }) {
      const id = randomUUIDv7()
      await sql`
        insert into custom_field (tenant_id, id, collection_id, key, kind, options, is_required, applies_to)
        values (${tenantId}, ${id}, ${of}, ${key}, ${kind}, ${options ? sql.json([...options]) : null}, ${isRequired}, ${sql.json([...appliesTo])})`
      return id
    },
    item: async (members, as) =>
      answered(
        201,
        await ask('POST /items', { container_id: collectionId, title: 'An item', ...members }, as ? { as } : {}),
      ),
    act: async ({ id }, action, body) => answered(200, await ask(`POST /items/${id}:${action}`, body)),
    read: async ({ id }, as) => answered(200, await ask(`GET /items/${id}`, undefined, as ? { as } : {})),
    async told({ id }) {
      const rows = await sql`
        select body from outbox_event where tenant_id = ${tenantId} and body::jsonb -> 'data' ->> 'id' = ${id} order by id desc limit 1`
      const { previous: _, ...data } = JSON.parse(rows[0]?.['body']).data
      return data
    },
    async moved({ id }) {
      const rows = await sql`
        select body from outbox_event where tenant_id = ${tenantId} and body::jsonb -> 'data' ->> 'id' = ${id} order by id desc limit 1`
      return JSON.parse(rows[0]?.['body']).data.previous
    },
    patch: ({ id }, body, more) => ask(`PATCH /items/${id}`, body, more),
    async titles(bucketId) {
      const { json } = await ask(`GET /items?size=200&bucket_id=${bucketId}`)
      const items = json.data as Item[]
      const sorted = [...items].sort((a, b) => (a.position < b.position ? -1 : 1))
      if (sorted.some(({ id }, at) => id !== items[at]?.id))
        throw new Error('positions are not in the order of the list')
      return items.map(({ title }) => title)
    },
    async marks() {
      const [row] = await sql`
        select (select count(*) from item where tenant_id = ${tenantId}) as items,
               (select coalesce(sum(version), 0) from item where tenant_id = ${tenantId}) as versions,
               (select count(*) from item_label where tenant_id = ${tenantId}) as labels,
               (select count(*) from item_field_value where tenant_id = ${tenantId}) as field_values,
               (select items from item_tally where tenant_id = ${tenantId}) as tally,
               (select count(*) from audit_entry where tenant_id = ${tenantId}) as entries,
               (select count(*) from outbox_event where tenant_id = ${tenantId}) as events`
      return JSON.stringify(row)
    },
  }
}

/** The members that a refusal names, and the rule that each breaks. */
export const pointers = ({ json }: { readonly json: { errors?: { pointer: string; code: string }[] } }) =>
  json.errors?.map(({ pointer, code }) => [pointer, code])

/** The item that a change answered is what a read finds, and what its event says. */
export async function isRead(desk: Desk, item: Item): Promise<void> {
  expect(item).toEqual(await desk.read(item))
  expect(await desk.told(item)).toEqual(item)
}

/** A call that has to change nothing at all. */
export async function expectUntouched<T>(desk: Desk, call: () => Promise<T>): Promise<T> {
  const before = await desk.marks()
  const answer = await call()
  expect(await desk.marks()).toBe(before)
  return answer
}
