/** A place in the leftmost bucket, while the buckets are being reordered. Decisions 0105 and 0176. */
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

const waiting = async (count: number) => {
  const look = async () => {
    const rows = await desk.daemon.db.sql`
      select 1 from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`
    return rows.length
  }
  await expect.poll(look, { timeout: 1_500, interval: 10 }).toBe(count)
}

test('the places that are held are those of the bucket whose items were looked at', async () => {
  const { collectionId, buckets } = await desk.shelf(2)
  const [first, second] = buckets as [string, string]
  const letGoFirst = await holding(collectionId, first)
  const letGoSecond = await holding(collectionId, second)
  const mover = await session()
  try {
    // The first bucket's row is locked, and the second one is moved before it.
    await mover`begin`
    await mover`select 1 from bucket where id = ${first} for no key update`
    await mover`update bucket set rank = 'Zz' where id = ${second}`
    let answered: number | undefined
    const made = desk.ask('POST /items', { container_id: collectionId, title: 'x' }).then(({ status }) => {
      answered = status
    })
    await waiting(1)
    await mover`commit`
    // The call has the first bucket's row, and waits for the places of the second, which moves back.
    await pause(50)
    await waiting(1)
    await mover`update bucket set rank = 'z1' where id = ${second}`
    await letGoSecond()
    await pause(300)
    expect(answered, 'it waits for the places of the first bucket').toBeUndefined()
    await letGoFirst()
    await made
    expect(answered).toBe(201)
    expect(await desk.titles(first)).toEqual(['x'])
  } finally {
    for (const one of sessions.splice(0)) {
      await one`select pg_advisory_unlock_all()`
      one.release()
    }
  }
})
