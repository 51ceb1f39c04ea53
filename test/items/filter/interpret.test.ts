/** What each condition means of an item, by the interpreter and without a database. Spec: Work on boards, 2, Meaning. */
import { describe, expect, test } from 'vitest'
import { checkFilter, storedFilter } from '../../../src/core/areas/items/filter/check.ts'
import type { CustomField } from '../../../src/core/areas/items/filter/checked.ts'
import { holds } from '../../../src/core/areas/items/filter/interpret.ts'
import type { Names } from '../../../src/core/areas/items/filter/names.ts'
import { customFieldOf, type Filter } from '../../../src/core/contract/items/filter.ts'
import type { Item } from '../../../src/core/contract/items/operations.ts'

const id = (n: number) => `0190c9d2-7a3b-7cde-8f01-${String(n).padStart(12, '0')}`
const [board, hub, bucket, label, other, owner, elsewhere] = [1, 2, 3, 4, 5, 6, 7].map(id) as [string, ...string[]] & {
  length: 7
}
const gone = id(99)

const item: Item = {
  id: id(50),
  container_id: board,
  bucket_id: bucket ?? null,
  type: 'TASK',
  title: 'Straße nach ΟΔΟΣ',
  description: null,
  state: 'OPEN',
  position: 'a',
  parent_id: null,
  sibling_position: null,
  label_ids: [label ?? ''],
  member_ids: [],
  assignee_id: null,
  start_at: null,
  start_on: null,
  due_on: null,
  time_zone: null,
  archived_at: null,
  custom_fields: { size: -2.5, note: 'Épée', done: false, when: '2026-11-23', kinds: ['a', 'b'], level: 'high' },
  due_at: '2026-11-24T12:00:00.000Z',
  cover: null,
  completed_at: null,
  created_at: '2026-11-01T00:00:00.000Z',
  created_by: owner ?? '',
  updated_at: '2026-11-24T09:59:59.999Z',
  version: 1,
}

const field = (n: number, key: string, kind: CustomField['kind'], more: Partial<CustomField> = {}): CustomField => ({
  id: id(n),
  key,
  kind,
  collection_id: null,
  applies_to: ['TASK'],
  shadowed_in: [],
  ...more,
})
const fields = [
  field(60, 'size', 'NUMBER'),
  field(61, 'note', 'TEXT'),
  field(62, 'done', 'BOOL'),
  field(63, 'when', 'DATE'),
  field(64, 'kinds', 'MULTI_SELECT'),
  field(65, 'level', 'SELECT', { collection_id: board }),
  field(66, 'who', 'USER'),
  field(67, 'lent', 'SELECT', { collection_id: elsewhere ?? '' }),
]
const names: Names = {
  field: (name) => {
    const by = customFieldOf(name)
    return by && fields.find((one) => ('key' in by ? one.key === by.key : one.id === by.id))
  },
  has: (_, one) => one !== gone,
}
const means = { names, me: owner, now: Date.parse('2026-11-24T10:00:00.000Z'), zone: 'Europe/Vienna' }
const truthOf = (filter: Filter, of: Item = item) => {
  const { checked } = checkFilter(filter, ['filter'], means)
  return holds(checked, of, {
    hubOf: (container) => (container === board ? (hub ?? null) : null),
    hasChildren: () => false,
    hasAttachments: () => false,
    hasAccess: () => true,
  })
}
const is = (name: string, op: string, value?: unknown) =>
  ({ field: name, op, ...(value === undefined ? {} : { value }) }) as Filter

test.each([
  [is('container', 'is', board?.toUpperCase()), true],
  [is('container', 'is_not', board), false],
  [is('hub', 'in', [other, hub]), true],
  [is('bucket', 'is_empty'), false],
  [is('bucket', 'not_in', [other]), true],
  [is('creator', 'is', 'me'), true],
  [is('type', 'in', ['NOTE', 'TASK']), true],
  [is('state', 'is_not', 'OPEN'), false],
  [is('label', 'has_any', [other, label]), true],
  [is('label', 'has_all', [other, label]), false],
  [is('label', 'has_none', [other]), true],
  [is('member', 'has_none', ['me']), true],
  [is('member', 'is_empty'), true],
  [is('title', 'is', 'STRASSE NACH οδος'), true],
  [is('title', 'starts_with', 'strasse n'), true],
  [is('title', 'contains', 'ODOS'), false],
  [is('title', 'contains', 'οδοσ'), true],
  [is('due', 'on', '2026-11-24'), true],
  [is('due', 'before', '2026-11-24T12:00:00Z'), false],
  [is('due', 'before', '2026-11-24T12:00:00.001Z'), true],
  [is('due', 'after', 'now'), true],
  [is('due', 'between', ['2026-11-20', '2026-11-24']), true],
  [is('due', 'between', ['2026-11-25', '2026-11-30']), false],
  [is('completed', 'is_empty'), true],
  [is('completed', 'before', 'now'), false],
  [is('created', 'on', { unit: 'MONTH', offset: 0 }), true],
  [is('updated', 'after', '2026-11-24T09:59:59.998Z'), true],
  [is('custom.size', 'lt', -2), true],
  [is('custom.size', 'gte', -2.5), true],
  [is('custom.size', 'between', [-3, -2.5]), true],
  [is('custom.size', 'is_not', -2.5), false],
  [is('custom.note', 'contains', 'pee'), true],
  [is('custom.done', 'is', false), true],
  [is('custom.when', 'on', { unit: 'DAY', offset: -1 }), true],
  [is('custom.when', 'after', '2026-11-23'), false],
  [is('custom.kinds', 'has_all', ['a', 'b']), true],
  [is('custom.level', 'is', 'high'), true],
  [is('custom.who', 'is_empty'), true],
  [is('custom.who', 'is_not', 'me'), true],
  [is('custom.lent', 'is_empty'), true],
])('%j is %s', (filter, truth) => {
  expect(truthOf(filter)).toBe(truth)
  expect(truthOf({ not: filter })).toBe(!truth)
})

describe('what is gone is unknown, and its opposite too', () => {
  test.each([
    [is('custom.gone', 'is_empty')],
    [is('label', 'has_none', [gone])],
    [is('container', 'is_not', gone)],
    [is('bucket', 'not_in', [other, gone])],
    [{ all: [is('state', 'is', 'OPEN'), is('creator', 'is', gone)] }],
  ] as [Filter][])('%j', (filter) => {
    expect([truthOf(filter), truthOf({ not: filter })]).toEqual([undefined, undefined])
  })

  test('each value of a list counts for itself', () => {
    expect(truthOf(is('label', 'has_any', [gone, label]))).toBe(true)
    expect(truthOf(is('label', 'has_all', [gone, other]))).toBe(false)
    expect(truthOf({ any: [is('creator', 'is', gone), is('state', 'is', 'OPEN')] })).toBe(true)
  })

  test('it is listed by its place', () => {
    const filter: Filter = { all: [{ not: is('custom.gone', 'is', 1) }, is('label', 'has_any', [label, gone])] }
    expect(checkFilter(filter, ['filter'], means).unknown).toEqual([
      { pointer: '/filter/all/0/not/field', code: 'reference.unknown' },
      { pointer: '/filter/all/1/value/1', code: 'reference.unknown' },
    ])
  })
})

test("a workspace's field has no value where a collection shows its own under the key", () => {
  const shadowed = field(70, 'note', 'TEXT', { shadowed_in: [board] })
  const { checked } = checkFilter(is('custom.note', 'is_not_empty'), [], {
    ...means,
    names: { ...names, field: () => shadowed },
  })
  expect(
    holds(checked, item, {
      hubOf: () => null,
      hasChildren: () => false,
      hasAttachments: () => false,
      hasAccess: () => true,
    }),
  ).toBe(false)
})

test.each([
  [is('custom.size', 'contains', 'x'), '/filter/op', 'filter.op'],
  [is('custom.size', 'lt', 'x'), '/filter/value', 'filter.value'],
  [is('custom.kinds', 'has_any', 'a'), '/filter/value', 'filter.value'],
  [is('title', 'contains', '\u0301'), '/filter/value', 'filter.value'],
])('%j does not fit its field', (filter, pointer, code) => {
  expect(() => truthOf(filter)).toThrow(
    expect.objectContaining({ errors: [expect.objectContaining({ pointer, code })] }),
  )
})

test('nobody asks in an automation, so it refuses `me`', () => {
  const filter = is('creator', 'is', 'me')
  expect(() => checkFilter(filter, [], { ...means, me: undefined })).toThrow(
    expect.objectContaining({ errors: [expect.objectContaining({ pointer: '/value', code: 'filter.value' })] }),
  )
})

test('a filter is kept with the id of its field, not with the key', () => {
  expect(storedFilter({ not: is('custom.size', 'is', 1) }, names)).toEqual({ not: is(`custom:${id(60)}`, 'is', 1) })
})
