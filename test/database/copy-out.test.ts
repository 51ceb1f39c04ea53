/** `copyOut`: rows leave through row-level security, and a connection that dies or is left half-way is never lent again. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Pool } from '../../src/core/database/pool.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'

let db: TestDatabase
let pool: Pool

beforeAll(async () => {
  db = await testDatabase()
  await db.sql`create table thing (n integer, body text)`
  await db.sql`grant select on thing to svc_tenant`
  await db.sql`alter table thing enable row level security`
  await db.sql`create policy even on thing to svc_tenant using (n % 2 = 0)`
  await db.sql`insert into thing select n, repeat('x', 1000) from generate_series(1, 50000) n`
  pool = openPool(db.daemon, { size: 1, applicationName: 'copying' })
})
afterAll(async () => {
  await pool.close()
  await db.drop()
})

const everything = 'copy (select n, body from thing) to stdout'
const as = 'set local role svc_tenant'

/** A transaction on the pool's only connection, which shows that it works and whose it is. */
const works = () =>
  pool.transaction(as, async (tx) => (await tx<{ one: number }[]>`select 1 as one`)[0]?.one, { readOnly: true })

test('answers every row that the role may see, and the connection serves on', async () => {
  for (let round = 0; round < 3; round += 1) {
    const rows = await pool.transaction(
      as,
      async (tx) => {
        let lines = 0
        for await (const chunk of tx.copyOut(everything)) for (const byte of chunk) if (byte === 0x0a) lines += 1
        const [after] = await tx<{ count: number }[]>`select count(*)::int as count from thing`
        return [lines, after?.count]
      },
      { readOnly: true },
    )
    expect(rows).toEqual([25_000, 25_000])
  }
  expect(await works()).toBe(1)
})

test('a reader that stops half-way loses the connection, and nobody else gets it', async () => {
  const { discarded } = pool.counts
  await expect(
    pool.transaction(as, async (tx) => {
      for await (const _ of tx.copyOut(everything)) break
      await tx`select 1`
    }),
  ).rejects.toThrow()
  expect(await works()).toBe(1)
  expect(pool.counts.discarded).toBe(discarded + 1)
})

test('a backend that is terminated meanwhile ends the copy with DatabaseUnavailable', async () => {
  const copying = pool.transaction(as, async (tx) => {
    let isFirst = true
    for await (const _ of tx.copyOut(everything)) {
      if (isFirst)
        await db.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'copying'`
      isFirst = false
    }
  })
  await expect(copying).rejects.toMatchObject({ name: 'DatabaseUnavailable' })
  expect(await works()).toBe(1)
})

test('a statement that fails says why, and the connection serves on', async () => {
  await expect(
    pool.transaction(as, async (tx) => {
      for await (const _ of tx.copyOut('copy (select n / 0 from thing) to stdout'));
    }),
  ).rejects.toMatchObject({ code: '22012' })
  expect(await works()).toBe(1)
})

test('takes nothing but one copy of a select', async () => {
  for (const text of [
    'select 1',
    'copy thing to stdout',
    'copy (select 1) to stdout; drop table thing',
    "copy (select 1) to program 'id'",
    'copy (delete from thing) to stdout',
    'copy (select 1; select 2) to stdout',
  ]) {
    await expect(
      pool.transaction(as, async (tx) => {
        for await (const _ of tx.copyOut(text));
      }),
    ).rejects.toThrow('copyOut() takes one copy')
  }
})
