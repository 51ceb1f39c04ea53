/** Rows as JSON Lines: what PostgreSQL's own JSON says of them, whatever they hold, however long, however slowly they are taken. */
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyRows, LineWriter, type SpareBuffers } from '../../src/core/areas/backup/copied-lines.ts'
import type { Entity } from '../../src/core/areas/backup/entities.ts'
import { openPool, type Pool } from '../../src/core/kernel/database/pool.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { naughtyStrings } from '../kit/naughty-strings.ts'

let db: TestDatabase
let pool: Pool
const owner = crypto.randomUUID()
const types = {
  id: 'uuid',
  words: 'text',
  facts: 'jsonb',
  at: 'timestamp with time zone',
  day: 'date',
  small: 'smallint',
  whole: 'integer',
  large: 'bigint',
  flag: 'boolean',
} as const
const entity: Entity = {
  name: 'things',
  table: 'thing',
  owner: 'tenant_id',
  columns: Object.entries(types).map(([name, type]) => ({ name, type })),
}

beforeAll(async () => {
  db = await testDatabase()
  const columns = Object.entries(types).map(([name, type]) => `${name} ${type}`)
  await db.sql.unsafe(`create table thing (tenant_id uuid, ${columns.join(', ')})`)
  await db.sql`grant select on thing to svc_tenant`
  pool = openPool(db.daemon, { size: 1, applicationName: 'copying' })
})
afterAll(async () => {
  await pool.close()
  await db.drop()
})

/** The lines as they are written, and what was handed on; `take` may be slow. */
async function written(spare: SpareBuffers, pause: () => Promise<unknown> = async () => {}) {
  const chunks: string[] = []
  let rows = 0
  await pool.transaction(
    'set local role svc_tenant',
    async (tx) => {
      const lines = new LineWriter(entity.columns, spare, async (chunk, some) => {
        rows += some
        await pause() // what is in the buffer must still be there then
        chunks.push(chunk.toString('utf8'))
      })
      await copyRows(tx, entity, owner, lines.row)
      await lines.end()
    },
    { readOnly: true },
  )
  const text = chunks.join('')
  expect(text.endsWith('\n') || text === '').toBe(true)
  const list = text.split('\n').slice(0, -1)
  expect(list).toHaveLength(rows)
  return list
}

/** The same rows as PostgreSQL itself puts them into JSON, as text: numbers beyond 2^53 stay as they are. */
const expected = async () =>
  (
    await db.sql<{ row: string }[]>`
      select row_to_json(t)::text as row from (
        select id, words, facts, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') as at, day, small, whole, large, flag from thing) t`
  ).map(({ row }) => canonical(row))

/** One spelling: an int64's digits as text, a moment with six decimals and no offset. */
const canonical = (line: string) =>
  JSON.stringify(
    JSON.parse(line, (name, value: unknown, context?: { source?: string }) => {
      if (typeof value === 'number') return `#${context?.source}`
      if (name !== 'at' || typeof value !== 'string') return value
      const [, second = '', decimals = ''] = /^(.*?:\d\d:\d\d)(?:\.(\d+))?(?:\+00:00)?$/.exec(value) ?? []
      return `${second}.${decimals.padEnd(6, '0')}`
    }),
  )

async function expectSame(pause?: () => Promise<unknown>): Promise<void> {
  const spare: SpareBuffers = []
  const lines = await written(spare, pause)
  expect(lines.map(canonical).sort()).toEqual((await expected()).sort())
  expect(lines.length).toBeGreaterThan(0)
  // Never more than two under way, one being filled and one to come, however much there was.
  expect(spare.length).toBeLessThanOrEqual(4)
}

test('no rows are no lines', async () => {
  expect(await written([])).toEqual([])
})

test('every text and every value that breaks programs', async () => {
  const storable = [
    ...naughtyStrings.filter((text) => text.isWellFormed() && !text.includes('\0')),
    '\\N',
    '\\',
    '\\\\N',
    '',
  ]
  for (const [at, words] of storable.entries())
    await db.sql`
      insert into thing values (${owner}, gen_random_uuid(), ${words}, ${db.sql.json({ [words]: words, list: [words, null, 1.5, true] })},
        ${at % 2 ? '2026-02-03T04:05:06.7Z' : '1970-01-01T00:00:00Z'}, '2024-02-29', ${at}, ${-at}, ${at % 2 ? '9223372036854775807' : '-9007199254740993'}, ${at % 3 === 0})`
  await db.sql`insert into thing (tenant_id) values (${owner})`
  await db.sql`insert into thing (tenant_id, facts) values (${owner}, 'null'), (${owner}, '"text"'), (${owner}, '12345678901234567890.5')`
  expect(storable.length).toBeGreaterThan(300)
  await expectSame()
})

test('every moment that PostgreSQL knows is the same when it is read back', async () => {
  const moments = [
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999Z',
    '12345-06-07T08:09:10Z',
    '0044-03-15 12:00:00+00 BC',
    'infinity',
    '-infinity',
  ]
  await db.sql`delete from thing`
  for (const at of moments)
    await db.sql`insert into thing (tenant_id, words, at) values (${owner}, ${at}, ${at}::text::timestamptz)`
  const rows = (await written([])).map((line) => JSON.parse(line) as { words: string; at: string })
  expect(rows.map(({ words }) => words).sort()).toEqual(moments.toSorted())
  for (const { words, at } of rows)
    expect([words, at, await db.sql`select ${at}::text::timestamptz = ${words}::text::timestamptz as same`]).toEqual([
      words,
      at,
      [{ same: true }],
    ])
  await db.sql`delete from thing`
})

test('rows by the ten thousand, taken slowly: no buffer is used before it is let go', async () => {
  await db.sql`
    insert into thing select ${owner}, gen_random_uuid(), repeat('slow ', n % 40), '{"a": [1, 2]}', now(), now(), 1, n, n, true
    from generate_series(1, 20000) n`
  await expectSame(async () => {
    for (let turns = 0; turns < 5; turns += 1) await turn()
  })
})

test('rows longer than a buffer, also where each byte becomes six', async () => {
  await db.sql`
    insert into thing (tenant_id, words) values
      (${owner}, repeat('x', 300000)), (${owner}, repeat(chr(1), 300000)), (${owner}, repeat('"', 262144)),
      (${owner}, repeat(chr(1), 43690)), (${owner}, repeat('€', 200000)), (${owner}, repeat(E'\\n\\\\', 100000))`
  await expectSame()
})

test('whoever cannot take a chunk is why the copy fails', async () => {
  const failing = pool.transaction(
    'set local role svc_tenant',
    async (tx) => {
      const lines = new LineWriter(entity.columns, [], () => Promise.reject(new Error('no room')))
      await copyRows(tx, entity, owner, lines.row)
      await lines.end()
    },
    { readOnly: true },
  )
  await expect(failing).rejects.toThrow('no room')
})
