/** How values cross the wire, and which are refused before they do. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { columnTypes } from '../../../src/core/kernel/database/column-values.ts'
import { openPool, type Pool } from '../../../src/core/kernel/database/pool.ts'
import type { Tx } from '../../../src/core/kernel/database/transaction.ts'
import { type OwnCluster, ownCluster } from './own-cluster.ts'

const id = 'aaaaaaaa-0000-4000-8000-00000000000a'
let cluster: OwnCluster
let pool: Pool
beforeAll(async () => {
  cluster = await ownCluster({ fsync: 'off' })
  await cluster.superuser`create table note (id int primary key, body text, data jsonb)`
  pool = openPool(cluster.address('postgres'), { size: 2, applicationName: 'svc-values' })
})
afterAll(async () => {
  await pool.close()
  await cluster.remove()
})

describe('values', () => {
  test('arrive as the types say', async () => {
    const [row] = await pool.transaction(
      '',
      (tx) => tx`
      select 9007199254740991::int8 as safe, 9007199254740993::int8 as big,
        timestamptz '2026-01-02 05:04:05.678901+02' as at, timestamp '2026-01-02 03:04:05' as plain,
        timestamptz 'infinity' as never, date '2026-01-02' as day, true as yes, null as nothing,
        '{"a":[1]}'::jsonb as data, '"text"'::json as said, '\\x00ff'::bytea as bytes, 1.50::numeric as price,
        'aaaaaaaa-0000-4000-8000-00000000000a'::uuid as id`,
    )
    expect(row).toEqual({
      safe: 9007199254740991,
      big: 9007199254740993n,
      at: '2026-01-02T03:04:05.678Z',
      plain: '2026-01-02T03:04:05.000Z',
      never: 'infinity',
      day: '2026-01-02',
      yes: true,
      nothing: null,
      data: { a: [1] },
      said: 'text',
      bytes: Buffer.from([0, 255]),
      price: '1.50',
      id,
    })
  })

  test.each([
    ['2026-01-02 03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02 03:04:05+00', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02 03:04:05.1+00', '2026-01-02T03:04:05.100Z'],
    ['2026-01-02 03:04:05.98765+00', '2026-01-02T03:04:05.987Z'],
    ['2026-01-02 03:04:05.123456-07', '2026-01-02T10:04:05.123Z'],
    ['2026-01-02 03:04:05+05:30', '2026-01-01T21:34:05.000Z'],
    ['0044-03-15 00:00:00+00 BC', '0044-03-15 00:00:00+00 BC'],
    ['10000-01-01 00:00:00+00', '+010000-01-01T00:00:00.000Z'],
    ['-infinity', '-infinity'],
  ])('a moment that PostgreSQL writes as %s is %s', (text, moment) => {
    expect(columnTypes.moment.parse(text)).toBe(moment)
  })

  test('rows are objects with every column, of two of one name with the last, and the same at the second call', async () => {
    const names = Array.from({ length: 40 }, (_, at) => `column_${at}`)
    const columns = names.map((name, at) => `n + ${at} as ${name}`).join(', ')
    for (let round = 0; round < 2; round += 1) {
      const rows = await pool.transaction('', (tx) =>
        tx.text(`select ${columns}, 0 as twice, n as twice from generate_series(1, $1::int) n`, [2]),
      )
      const row = (n: number) => ({ ...Object.fromEntries(names.map((name, at) => [name, n + at])), twice: n })
      expect(rows.map((one) => ({ ...one }))).toEqual([row(1), row(2)])
      expect(rows.count).toBe(2)
    }
    expect(await pool.transaction('', (tx) => tx`select from generate_series(1, ${2}::int)`)).toHaveLength(2)
  })

  test('are bound as they are meant, planned or not', async () => {
    const at = new Date('2026-01-02T03:04:05.678Z')
    for (let round = 0; round < 2; round += 1) {
      const [row] = await pool.transaction(
        '',
        (tx) => tx`
        select ${at}::timestamptz as at, ${'2026-01-02T03:04:05.678Z'}::timestamptz as text, ${12n}::int8 as big,
          ${false}::boolean as no, ${null}::int as nothing, ${Buffer.from('ab')}::bytea as bytes,
          jsonb_typeof(${tx.json('text')}) as said, ${tx.json({ a: ['"'] })} as data, ${'x'}::text as x,
          2 in ${tx.list([1, 2])} as found, 2 in ${tx.list([])} as lost`,
      )
      const moment = at.toISOString()
      expect(row).toEqual({
        at: moment,
        text: moment,
        big: 12,
        no: false,
        nothing: null,
        bytes: Buffer.from('ab'),
        said: 'string',
        data: { a: ['"'] },
        x: 'x',
        found: true,
        lost: null,
      })
    }
  })

  test('parts and rows make one statement', async () => {
    const found = await pool.transaction('', async (tx) => {
      const list = [3, 1, 2].map((id) => ({ id, body: `b${id}`, data: tx.json({ id }), ignored: undefined }))
      const { count } = await tx`insert into note ${tx.rows(list, 'id', 'body', 'data')}`
      await tx`insert into note ${tx.rows({ id: 4 })}`
      const where = tx.part`where id > ${1} and ${tx.part`id < ${4}`}`
      return [count, ...(await tx<{ id: number }[]>`select id, data from note ${where} order by id`)]
    })
    expect(found).toEqual([3, { id: 2, data: { id: 2 } }, { id: 3, data: { id: 3 } }])
  })

  test('that cannot be bound are refused before anything is sent', async () => {
    const refused = [undefined, [1], { a: 1 }, new Date(Number.NaN), Promise.resolve(1), Symbol('s')]
    for (const value of refused) {
      // Twice in one transaction, pipelined: the answers of its neighbours must stay theirs.
      const work = (tx: Tx) =>
        Promise.allSettled([tx`select 1 as n`, tx`select ${value as never}`, tx`select 2 as n`]).then((all) => {
          expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
          expect(all[2]).toMatchObject({ value: [{ n: 2 }] })
        })
      await expect(pool.transaction('', work)).rejects.toThrow(TypeError)
    }
    await expect(pool.transaction('', async (tx) => tx.rows([{ a: undefined }]))).rejects.toThrow(TypeError)
    await expect(pool.transaction('', async (tx) => tx.json(undefined))).rejects.toThrow(TypeError)
  })

  test('a mistyped value behind a pipelined statement fails alone', async () => {
    const mistyped = (tx: Tx) => tx`select ${'no date'}::date, ${'5'}::bytea, ${'no'}::boolean, ${'x'}::int`
    await expect(pool.transaction('', mistyped)).rejects.toMatchObject({ code: '22007' })
    await expect(pool.transaction('', mistyped)).rejects.toMatchObject({ code: '22007' })
    expect(await pool.transaction('', (tx) => tx`select 3 as n`)).toEqual([{ n: 3 }])
  })

  test('text of a library takes objects and lists', async () => {
    const rows = await pool.transaction('', async (tx) => [
      await tx.text('select $1::jsonb as data, $2::text[] as list', [{ a: 1 }, ['x,"', 'y\\']]),
      await tx.text('select 1 as n; select 2 as n'),
    ])
    expect(rows).toEqual([[{ data: { a: 1 }, list: '{"x,\\"","y\\\\"}' }], [{ n: 2 }]])
  })
})
