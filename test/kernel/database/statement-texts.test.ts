/** A statement's text is written once for each form, and forms that look alike are told apart; so are the plans of one text. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Pool } from '../../../src/core/kernel/database/pool.ts'
import {
  jsonPart,
  listPart,
  Part,
  rowsPart,
  statementOf,
  type Value,
} from '../../../src/core/kernel/database/statement.ts'
import { textOf } from '../../../src/core/kernel/database/statement-texts.ts'
import { type OwnCluster, ownCluster } from './own-cluster.ts'

const statement = (strings: TemplateStringsArray, ...values: readonly Value[]) => statementOf(strings, values)
const part = (strings: TemplateStringsArray, ...values: readonly Value[]) => new Part(strings, values, true)
const isPart = (value: unknown): value is Part => value instanceof Part

const two = (first: Value, second: Value) => part`(${first}, ${second})`
const one = (value: Value) => part`[${value}]`
const pair = (first: Value, second: Value) => statement`select ${first} and ${second}`

test('parts stand where they were put, also where the same ones were met in the same order', () => {
  for (const round of ['written', 'kept']) {
    expect(pair(two('a', one('b')), 'c'), round).toMatchObject({
      text: 'select ($1, [$2]) and $3',
      values: ['a', 'b', 'c'],
    })
    expect(pair(two('a', 'b'), one('c')), round).toMatchObject({
      text: 'select ($1, $2) and [$3]',
      values: ['a', 'b', 'c'],
    })
    expect(pair(two(one('a'), 'b'), 'c'), round).toMatchObject({
      text: 'select ([$1], $2) and $3',
      values: ['a', 'b', 'c'],
    })
    expect(pair('a', two('b', one('c'))), round).toMatchObject({
      text: 'select $1 and ($2, [$3])',
      values: ['a', 'b', 'c'],
    })
    expect(pair(one('a'), 'b'), round).toMatchObject({ text: 'select [$1] and $2', values: ['a', 'b'] })
    expect(pair('a', 'b'), round).toMatchObject({ text: 'select $1 and $2', values: ['a', 'b'] })
  }
})

test('lists, rows and JSON are written by their length and columns', () => {
  const inList = (...values: string[]) => statement`select 1 where x in ${listPart(values)}`.text
  const insert = (rows: readonly object[], ...columns: string[]) =>
    statement`insert into t ${rowsPart(rows, columns)}`.text
  for (let round = 0; round < 2; round += 1) {
    expect(inList()).toBe('select 1 where x in (null)')
    expect(inList('a')).toBe('select 1 where x in ($1)')
    expect(inList('a', 'b', 'c')).toBe('select 1 where x in ($1, $2, $3)')
    expect(insert([{ a: 1, b: 2 }])).toBe('insert into t ("a", "b") values ($1, $2)')
    expect(insert([{ a: 1, b: 2 }], 'b')).toBe('insert into t ("b") values ($1)')
    expect(
      insert([
        { a: 1, b: 2 },
        { a: 3, b: 4 },
      ]),
    ).toBe('insert into t ("a", "b") values ($1, $2), ($3, $4)')
    expect(insert([{ a: 1 }, { a: 3 }])).toBe('insert into t ("a") values ($1), ($2)')
    expect(insert([{ a: jsonPart([1]), b: 2 }])).toBe('insert into t ("a", "b") values ($1, $2)')
  }
})

test('a text is kept, unless a part of it differs from call to call', () => {
  const known = (strings: TemplateStringsArray, ...values: readonly Value[]) => {
    const { mode } = statementOf(strings, values)
    return [mode, textOf({ strings, values, steady: true }, isPart)]
  }
  expect(known`select ${one('a')} as kept`).toEqual(['plan', 'select [$1] as kept'])
  expect(known`select ${new Part(['made for a call'], [], false)}`).toEqual(['once', undefined])
  expect(known`select ${new Part(['steady, and no template'], [], true)}`).toEqual(['plan', undefined])
  expect(known`select ${listPart(Array.from({ length: 17 }, () => 'a'))}`).toEqual(['once', undefined])
  expect(known`select ${one(new Part(['within'], [], false))}`).toEqual(['once', undefined])
})

let cluster: OwnCluster
let pool: Pool
beforeAll(async () => {
  cluster = await ownCluster({ fsync: 'off' })
  pool = openPool(cluster.address('postgres'), { size: 1, applicationName: 'svc-texts' })
})
afterAll(async () => {
  await pool.close()
  await cluster.remove()
})

test('a text has a plan for each of the types with which it is sent', async () => {
  const typeOf = (value: Value) =>
    pool.transaction(
      '',
      async (tx) => (await tx<{ type: string }[]>`select pg_typeof(coalesce(${value}))::text as type`)[0]?.type,
    )
  for (let round = 0; round < 2; round += 1) {
    expect(await typeOf(true)).toBe('boolean')
    expect(await typeOf(12n)).toBe('bigint')
    expect(await typeOf(new Date(0))).toBe('timestamp with time zone')
    expect(await typeOf(Buffer.of(1))).toBe('bytea')
    expect(await typeOf('text')).toBe('text')
    expect(await typeOf(jsonPart({}))).toBe('jsonb')
  }
})

test('a statement is planned once for a connection, however often it is sent', async () => {
  const planned = (tx: Parameters<Parameters<Pool['transaction']>[1]>[0]) =>
    tx<
      { plans: number }[]
    >`select count(*)::int as plans from pg_prepared_statements where statement like ${'%sent often%'}`
  await pool.transaction('', async (tx) => {
    for (let n = 0; n < 5; n += 1) await tx`select ${n} as ${part`"sent often"`}`
    expect((await planned(tx))[0]?.plans).toBe(1)
  })
})
