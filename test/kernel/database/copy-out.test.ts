/** `copyOut`: rows leave through row-level security, and a connection that dies or is left half-way is never lent again. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Pool } from '../../../src/core/kernel/database/pool.ts'
import { type TestDatabase, testDatabase } from '../../kit/database.ts'

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
        await tx.copyOut(everything, (packet, _, end) => {
          expect(packet[end - 1]).toBe(0x0a)
          lines += 1
          return undefined
        })
        const [after] = await tx<{ count: number }[]>`select count(*)::int as count from thing`
        return [lines, after?.count]
      },
      { readOnly: true },
    )
    expect(rows).toEqual([25_000, 25_000])
  }
  expect(await works()).toBe(1)
})

const ignored = () => undefined

test.each([
  [
    'throws',
    () => {
      throw new Error('enough')
    },
  ],
  ['rejects', () => Promise.reject(new Error('enough'))],
])('a reader that %s half-way says why, loses the connection, and nobody else gets it', async (_, take) => {
  const { discarded } = pool.counts
  const reading = pool.transaction(as, async (tx) => {
    let rows = 0
    await tx.copyOut(everything, () => {
      rows += 1
      return rows === 100 ? take() : undefined
    })
  })
  await expect(reading).rejects.toThrow('enough')
  expect(await works()).toBe(1)
  expect(pool.counts.discarded).toBe(discarded + 1)
})

test('a reader that fails at the last row fails the copy', async () => {
  const reading = pool.transaction(as, async (tx) => {
    let rows = 0
    await tx.copyOut(everything, () => {
      rows += 1
      return rows === 25_000 ? Promise.reject(new Error('at the end')) : undefined
    })
  })
  await expect(reading).rejects.toThrow('at the end')
  expect(await works()).toBe(1)
})

test('a transaction whose copy failed is over, also for who swallows the failure', async () => {
  const swallowing = pool.transaction(as, async (tx) => {
    await tx.copyOut(everything, () => Promise.reject(new Error('enough'))).catch(() => {})
    await tx`select 1`
  })
  await expect(swallowing).rejects.toThrow('the transaction is over')
  expect(await works()).toBe(1)
})

test('begins wherever in an earlier answer the connection is', async () => {
  for (let after = 0; after < 20; after += 1) {
    const lengths = await pool.transaction(
      as,
      async (tx) => {
        const long = tx<{ long: string }[]>`select repeat('d', 5000000) as long`
        await pause(after)
        let bytes = 0
        const sent = await tx.copyOut(
          "copy (select repeat('x', n) from generate_series(1, 1000) n) to stdout",
          (_, from, end) => {
            bytes += end - from
            return undefined
          },
        )
        return [sent, bytes, (await long)[0]?.long.length]
      },
      { readOnly: true },
    )
    expect(lengths).toEqual([1000, 501_500, 5_000_000])
  }
})

test.each([
  ['at once', () => undefined],
  ['late', () => new Promise<void>((resolve) => setImmediate(resolve))],
])('takes rows that are longer than any packet, between short ones, %s', async (_, wait) => {
  const bytes: number[] = []
  const some = "select repeat('é', case when n % 3 = 0 then 1000000 else n end) from generate_series(1, 9) n"
  await pool.transaction(
    as,
    (tx) =>
      tx.copyOut(`copy (${some}) to stdout`, (packet, from, end) => {
        bytes.push(packet.toString('utf8', from, end).length)
        return wait()
      }),
    { readOnly: true },
  )
  expect(bytes).toEqual([1, 2, 1_000_000, 4, 5, 1_000_000, 7, 8, 1_000_000].map((length) => length + 1))
})

test('a reader that is behind holds the server back', async () => {
  let arrived = 0
  let taken = 0
  let most = 0
  await pool.transaction(
    as,
    (tx) =>
      tx.copyOut(everything, () => {
        arrived += 1
        if (arrived % 100 > 0) return undefined
        most = Math.max(most, arrived - taken)
        return new Promise((resolve) =>
          setImmediate(() => {
            taken = arrived
            resolve()
          }),
        )
      }),
    { readOnly: true },
  )
  // A row is 1 kB, what the driver holds at a time 64 kB.
  expect([arrived, most < 1000]).toEqual([25_000, true])
})

test('a backend that is terminated meanwhile ends the copy with DatabaseUnavailable', async () => {
  const copying = pool.transaction(as, async (tx) => {
    let terminating: Promise<void> | undefined
    await tx.copyOut(everything, () => {
      terminating ??= db.sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'copying' and datname = current_database()`.then(() => undefined)
      return terminating
    })
  })
  await expect(copying).rejects.toMatchObject({ name: 'DatabaseUnavailable' })
  expect(await works()).toBe(1)
})

test('a statement that fails says why, and the connection serves on', async () => {
  await expect(
    pool.transaction(as, (tx) => tx.copyOut('copy (select n / 0 from thing) to stdout', ignored)),
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
    await expect(pool.transaction(as, (tx) => tx.copyOut(text, ignored))).rejects.toThrow('copyOut() takes one copy')
  }
})
