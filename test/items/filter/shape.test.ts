/** What a filter may look like, and where each fault of one is told. Spec: Work on boards, 2. */
import { expect, test } from 'vitest'
import { faultsOf } from '../../../src/core/contract/items/filter.ts'
import {
  filterKinds,
  filterOperators,
  type ItemField,
  itemFields,
  kindOfCustom,
  listOperators,
} from '../../../src/core/contract/items/filter-fields.ts'
import { Item } from '../../../src/core/contract/items/operations.ts'

const id = '0190c9d2-7a3b-7cde-8f01-23456789abcd'
const open = { field: 'state', op: 'is', value: 'OPEN' }
const found = (filter: unknown) => faultsOf(filter).map(({ path, code }) => [path.join('/'), code])
const nested = (levels: number): unknown => (levels === 0 ? open : { not: nested(levels - 1) })

test.each([
  [open],
  [{ all: [open, { any: [open, { not: open }] }] }],
  [{ field: 'container', op: 'in', value: [id, id.toUpperCase()] }],
  [{ field: 'creator', op: 'is', value: 'me' }],
  [{ field: 'member', op: 'has_all', value: ['me', id] }],
  [{ field: 'bucket', op: 'is_empty' }],
  [{ field: 'title', op: 'contains', value: "'; drop table item; --" }],
  [{ field: 'due', op: 'between', value: ['2026-01-01', { unit: 'WEEK', offset: -1 }] }],
  [{ field: 'updated', op: 'after', value: 'now' }],
  [{ field: 'created', op: 'on', value: '2026-01-01T10:00:00+02:00' }],
  [{ field: 'custom.size', op: 'gte', value: 3 }],
  [{ field: `custom:${id}`, op: 'is_not_empty' }],
  [nested(5)],
  [{ any: Array.from({ length: 50 }, () => open) }],
  [{ field: 'id', op: 'in', value: Array.from({ length: 100 }, () => id) }],
])('%j is a filter', (filter) => {
  expect(found(filter)).toEqual([])
})

test.each([
  ['text', '', 'value.type'],
  [[open], '', 'value.type'],
  [null, '', 'value.type'],
  [{}, 'field', 'member.required'],
  [{ field: 'state' }, 'op', 'member.required'],
  [{ ...open, value: undefined }, 'value', 'member.required'],
  [{ ...open, also: 1 }, 'also', 'member.unknown'],
  [{ all: [open], any: [open] }, 'any', 'member.unknown'],
  [{ all: open }, 'all', 'value.type'],
  [{ all: [] }, 'all', 'list.minimum'],
  [{ all: [open, { not: { field: 'colour', op: 'is', value: 1 } }] }, 'all/1/not/field', 'filter.field'],
  [{ field: '__proto__', op: 'is', value: 1 }, 'field', 'filter.field'],
  [{ field: 'constructor', op: 'is', value: 1 }, 'field', 'filter.field'],
  [{ field: 'custom.__proto__', op: 'is', value: 1 }, 'field', 'filter.field'],
  [{ field: 7, op: 'is', value: 1 }, 'field', 'filter.field'],
  [{ field: 'state', op: 'contains', value: 'OPEN' }, 'op', 'filter.op'],
  [{ field: 'state', op: 'is_empty' }, 'op', 'filter.op'],
  [{ field: 'custom.size', op: 'like', value: 1 }, 'op', 'filter.op'],
  [{ field: 'state', op: 'is', value: 'open' }, 'value', 'filter.value'],
  [{ field: 'bucket', op: 'is_empty', value: true }, 'value', 'filter.value'],
  [{ field: 'bucket', op: 'is', value: 'me' }, 'value', 'filter.value'],
  [{ field: 'label', op: 'has_any', value: id }, 'value', 'filter.value'],
  [{ field: 'label', op: 'has_any', value: [] }, 'value', 'filter.value'],
  [{ field: 'label', op: 'has_any', value: [id, 'x'] }, 'value/1', 'filter.value'],
  [{ field: 'title', op: 'contains', value: '' }, 'value', 'filter.value'],
  [{ field: 'title', op: 'contains', value: 'x'.repeat(201) }, 'value', 'filter.value'],
  [{ field: 'title', op: 'is', value: 'a\u0000' }, 'value', 'filter.value'],
  [{ field: 'due', op: 'on', value: '2026-02-30' }, 'value', 'filter.value'],
  [{ field: 'due', op: 'on', value: { unit: 'HOUR', offset: 0 } }, 'value', 'filter.value'],
  [{ field: 'due', op: 'on', value: { unit: 'DAY', offset: 10_001 } }, 'value', 'filter.value'],
  [{ field: 'due', op: 'between', value: ['2026-02-01'] }, 'value', 'filter.value'],
  [{ field: 'due', op: 'between', value: ['2026-02-01', 'then'] }, 'value/1', 'filter.value'],
  [{ field: 'id', op: 'in', value: Array.from({ length: 101 }, () => id) }, 'value', 'filter.too_large'],
  [nested(6), 'not/not/not/not/not', 'filter.too_large'],
  [nested(1_000), 'not/not/not/not/not', 'filter.too_large'],
  [{ any: Array.from({ length: 51 }, () => open) }, '', 'filter.too_large'],
  [
    { all: Array.from({ length: 40 }, () => ({ field: 'title', op: 'is', value: 'x'.repeat(500) })) },
    '',
    'filter.too_large',
  ],
])('%j is none', (filter, pointer, code) => {
  expect(found(filter)).toEqual([[pointer, code]])
})

test('of a million conditions no more are read than of fifty-one', () => {
  const readOf = (count: number) => {
    let read = 0
    const conditions = new Proxy(
      Array.from({ length: count }, () => open),
      {
        get(them, name, receiver) {
          if (typeof name === 'string' && /^\d+$/.test(name)) read += 1
          return Reflect.get(them, name, receiver)
        },
      },
    )
    expect(found({ any: conditions })).toEqual([['', 'filter.too_large']])
    return read
  }
  expect(readOf(1_000_000)).toBe(readOf(51))
  expect(readOf(51)).toBeLessThan(1_000)
})

test('each field asks for a member that an item has, and each operator belongs to a kind', () => {
  const members = Object.keys(Item.shape)
  expect(Object.values<ItemField>(itemFields).filter(({ member }) => !members.includes(member))).toEqual([])
  const used = Object.values(filterKinds).flatMap(({ operators }) => operators as readonly string[])
  expect(filterOperators.filter((op) => !used.includes(op))).toEqual([])
  expect(listOperators.filter((op) => !used.includes(op))).toEqual([])
  expect(Object.values(kindOfCustom).filter((kind) => !(kind in filterKinds))).toEqual([])
})
