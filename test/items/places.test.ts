/** A place in the leftmost bucket, while the buckets are being reordered. Decisions 0105 and 0176. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { ReservedSql } from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lockClasses } from '../../src/core/kernel/database/lock-classes.ts'
import { type Desk, openDesk } from './desk.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

const sessions: ReservedSql[] = []
async function session(): Promise<ReservedSql> {
  const reserved = await desk.daemon.db.sql.reserve()
  sessions.push(reserved)
  return reserved
}

/** Holds the places of a bucket; answers what lets them go. */
async function holding(collectionId: string, bucketId: string): Promise<() => Promise<unknown>> {
  const sql = await session()
  const key = desk.tenantId + collectionId + bucketId
  await sql`select pg_advisory_lock(${lockClasses.places}, hashtext(${key}))`
  return () => sql`select pg_advisory_unlock(${lockClasses.places}, hashtext(${key}))`
}

test('the places that are held are those of the bucket whose items were looked at', async () => {
  const { collectionId, buckets } = await desk.shelf(2)
  const [first, second] = buckets as [string, string]
  const y = await desk.item({ container_id: collectionId, title: 'y', bucket_id: first })
  const letGoFirst = await holding(collectionId, first)
  const letGoSecond = await holding(collectionId, second)
  const mover = await session()
  try {
    // The first bucket's row is locked, and the second one is moved before it.
    await mover`begin`
    await mover`select 1 from bucket where id = ${first} for no key update`
    await mover`update bucket set rank = 'Zz' where id = ${second}`
    let answered: number | undefined
    const made = desk
      .ask('POST /items', { container_id: collectionId, title: 'x', before_item_id: y.id })
      .then(({ status }) => {
        answered = status
      })
    await desk.untilWaiting(1)
    await mover`commit`
    // The call has the first bucket's row, and waits for the places of the second, which moves back.
    await pause(50)
    await desk.untilWaiting(1)
    await mover`update bucket set rank = 'z1' where id = ${second}`
    await letGoSecond()
    await pause(300)
    expect(answered, 'it waits for the places of the first bucket').toBeUndefined()
    await letGoFirst()
    await made
    expect(answered).toBe(201)
    expect(await desk.titles(first)).toEqual(['x', 'y'])
  } finally {
    for (const one of sessions.splice(0)) {
      await one`select pg_advisory_unlock_all()`
      one.release()
    }
  }
})

test('items that are put at the end at once have places of their own, and nobody waits for the places', async () => {
  const { collectionId, buckets } = await desk.shelf(1)
  const [bucketId] = buckets as [string]
  const letGo = await holding(collectionId, bucketId)
  try {
    const titles = Array.from({ length: 30 }, (_, at) => `t${at}`)
    const made = await Promise.all(
      titles.map((title) => desk.ask('POST /items', { container_id: collectionId, title })),
    )
    expect(made.map(({ status }) => status)).toEqual(titles.map(() => 201))
    expect((await desk.titles(bucketId)).toSorted()).toEqual(titles.toSorted())
    const behind = await desk.item({ container_id: collectionId, title: 'behind' })
    expect((await desk.titles(bucketId)).at(-1)).toBe('behind')
    expect((await desk.act(behind, 'move', { bucket_id: bucketId })).version, 'it is there already').toBe(1)
  } finally {
    await letGo()
    for (const one of sessions.splice(0)) one.release()
  }
})

test('of two that got the same place, one runs again, and does nothing twice', async () => {
  const { sql } = desk.daemon.db
  const unique =
    await sql`select 1 from pg_indexes where indexname = 'item_in_order' and indexdef like 'CREATE UNIQUE INDEX%'`
  expect(unique, 'the index whose name a transaction runs again for').toHaveLength(1)
  const { collectionId, buckets } = await desk.shelf(1)
  await sql.unsafe(`
    create sequence collided;
    grant usage on sequence collided to public;
    create function collide() returns trigger language plpgsql as $$ begin
      if nextval('collided') = 1 then raise exception 'taken' using errcode = '23505', constraint = 'item_in_order'; end if;
      return new;
    end $$;
    create trigger collide before insert on item for each row execute function collide()`)
  try {
    const key = randomUUID()
    const create = () =>
      desk.ask('POST /items', { container_id: collectionId, title: 'once' }, { headers: { 'idempotency-key': key } })
    const [made, again] = [await create(), await create()]
    expect([made.status, again.json.id]).toEqual([201, made.json.id])
    expect(await desk.titles(buckets[0] as string)).toEqual(['once'])
    const [{ last_value }] = (await sql`select last_value::int from collided`) as unknown as [{ last_value: number }]
    expect(last_value, 'attempts').toBe(2)
    const events = await sql`select 1 from outbox_event where body::jsonb -> 'data' ->> 'id' = ${made.json.id}`
    expect(events).toHaveLength(1)
    const [tally] = await sql`select items from bucket_tally where bucket_id = ${buckets[0] as string}`
    expect(Number(tally?.['items'])).toBe(1)
  } finally {
    await sql.unsafe('drop trigger collide on item; drop function collide(); drop sequence collided')
  }
})
