/** T-30: every naughty text through every string of buckets, labels and fields: answered as it was sent, or 422 at its pointer. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { request } from '../kit/callers.ts'
import { naughtyStrings, unstorableStrings } from '../kit/naughty-strings.ts'
import { type Board, bucketsNamed, openBoard } from './board.ts'

let board: Board
let token: string
beforeAll(async () => {
  board = await openBoard()
  token = (await board.somebody('ADMIN')).token
})
afterAll(() => board.close())

const texts = [
  ...naughtyStrings,
  ...unstorableStrings,
  'İstanbul',
  'ıI',
  'ẞß',
  'Σσς',
  'x'.repeat(120),
  '😀'.repeat(121),
]

/** Whether a text may stand in a member of these bounds. */
const fits = (text: string, [min, max]: readonly [number, number]) =>
  text.isWellFormed() && !text.includes('\u0000') && [...text].length >= min && [...text].length <= max

/** Sends each text in every member; what does not fit must be refused, each at its pointer, and the rest come back. */
async function roundTrips(
  operation: Operation,
  ids: object,
  bounds: Readonly<Record<string, readonly [number, number]>>,
  as: (text: string) => unknown = (text) => text,
): Promise<string[]> {
  const kept: string[] = []
  const members = Object.keys(bounds)
  const send = (names: readonly string[], text: string) =>
    request(
      board.who.daemon.url,
      operation,
      { ...ids, body: Object.fromEntries(names.map((name) => [name, as(text)])) },
      token,
    )
  for (const text of texts) {
    const fitting = members.filter((name) => fits(text, bounds[name]!))
    if (fitting.length < members.length) {
      const { status, body } = await send(members, text)
      const pointers = (body as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer.split('/')[1])
      expect([text, status, pointers]).toEqual([text, 422, members.filter((name) => !fitting.includes(name))])
    }
    if (fitting.length === 0) continue
    const { status, body } = await send(fitting, text)
    expect([text, status]).toEqual([text, 200])
    const answered = body as Record<string, unknown>
    for (const name of fitting) expect(answered[name]).toEqual(as(text))
    kept.push(text)
  }
  return kept
}

test('of a bucket: its name and its colour', async () => {
  const containerId = await board.collection()
  const [bucket] = await bucketsNamed(board.owner, containerId, ['A'])
  const bucketId = bucket!.id
  const kept = await roundTrips(
    operations.updateBucket,
    { containerId, bucketId },
    { name: [1, 120], color_token: [0, 200] },
  )
  expect(kept.length).toBeGreaterThan(300)
  const { data } = await board.owner.call(operations.listBuckets, { containerId })
  const [row] = await board.own.oracle<{ color_token: string }[]>`select color_token from bucket where id = ${bucketId}`
  expect(data[0]!.color_token).toBe(row!.color_token)
})

test('of a label: its name, its colour and its description', async () => {
  const containerId = await board.collection()
  const label = await board.owner.call(operations.createLabel, { containerId, body: { name: 'L', color_token: 'red' } })
  const kept = await roundTrips(
    operations.updateLabel,
    { containerId, labelId: label.id },
    { name: [1, 120], color_token: [1, 200], description: [0, 10_000] },
  )
  expect(kept.length).toBeGreaterThan(300)
})

test('of a field: its options', async () => {
  const field = await board.owner.call(operations.createCustomField, {
    body: { key: 'f', kind: 'SELECT', options: ['first'] },
  })
  const kept = await roundTrips(operations.updateCustomField, { fieldId: field.id }, { options: [1, 200] }, (text) => [
    text,
  ])
  expect(kept.length).toBeGreaterThan(300)
})

test('two spellings of one name are one name: a table of pairs, for buckets and labels alike', async () => {
  const pairs = [
    ['İ', 'i', true],
    ['ı', 'I', true],
    ['ß', 'ss', true],
    ['ẞ', 'ß', true],
    ['ς', 'Σ', true],
    ['é', 'e\u0301', true],
    ['Å', 'Å', true],
    ['ﬀ', 'FF', true],
    ['①', '1', true],
    ['👨‍👩‍👧', '👨👩👧', false],
    ['a b', 'ab', false],
    ['а', 'a', false], // Cyrillic
    ['o\u0338', 'o', true],
    ['ø', 'o', false],
    ['x\u202e', 'x', false],
  ] as const
  for (const [first, second, isSame] of pairs) {
    const containerId = await board.collection()
    for (const [operation, more] of [
      [operations.createBucket, {}],
      [operations.createLabel, { color_token: 'red' }],
    ] as const) {
      const status = async (name: string) =>
        (await request(board.who.daemon.url, operation, { containerId, body: { name, ...more } }, token)).status
      expect([first, second, await status(first), await status(second)]).toEqual([
        first,
        second,
        201,
        isSame ? 409 : 201,
      ])
    }
  }
})
