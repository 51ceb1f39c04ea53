/** The order of removal as foreign keys give it: pure, without a database. The real tables: test/house/purge-catalog.test.ts. */
import { describe, expect, test } from 'vitest'
import { removalOrder } from '../../../src/core/kernel/database/removal-order.ts'

/** `a: 'b c'` is a table a with foreign keys to b and c. */
const tablesOf = (references: Readonly<Record<string, string>>) =>
  Object.entries(references).map(([name, targets]) => ({
    name,
    refers_to: targets === '' ? null : targets.split(' '),
  }))
const order = (references: Readonly<Record<string, string>>, last: readonly string[] = []) =>
  removalOrder(tablesOf(references), (name) => last.includes(name)).join(' ')

describe('the order of removal', () => {
  test('has a table before those that it refers to, however deep', () => {
    expect(order({ a: '', b: 'a', c: 'b', d: 'c a' })).toBe('d c b a')
  })

  test('is by name where foreign keys say nothing, however the tables are listed', () => {
    expect(order({ c: '', a: '', b: '' })).toBe('a b c')
    expect(order({ y: '', x: '', b: 'x', a: 'x y' })).toBe('a b x y')
    expect(order({ a: 'x y', b: 'x', x: '', y: '' })).toBe('a b x y')
  })

  test('does not count what a table says of itself, nor of tables of the installation', () => {
    expect(order({ tree: 'tree tenant', leaf: 'tree tenant' })).toBe('leaf tree')
  })

  test('has tables that go last behind all others, in their own order', () => {
    expect(order({ a: '', hold: '', z: 'a' }, ['hold'])).toBe('z a hold')
    expect(order({ a: '', hold: '', note: 'hold' }, ['hold', 'note'])).toBe('a note hold')
  })

  test('is none where a table that goes last refers to one that does not', () => {
    expect(() => order({ a: '', hold: 'a' }, ['hold'])).toThrow(
      'hold is removed last (purgedLast in tables.ts), but refers to a, which goes before it',
    )
  })

  test.each([
    [{ a: 'b', b: 'a' }, 'a refers to b refers to a'],
    [{ a: 'b', b: 'c', c: 'a', d: 'a' }, 'a refers to b refers to c refers to a'],
    [{ first: 'a', a: 'b', b: 'a' }, 'a refers to b refers to a'],
  ])('is none in a circle, and says which: %o', (references, told) => {
    expect(() => order(references)).toThrow(
      `Foreign keys form a circle, so no order empties these tables: ${told}. Drop one of the keys.`,
    )
  })

  test('is none in a circle of tables that go last either', () => {
    expect(() => order({ a: 'b', b: 'a' }, ['a', 'b'])).toThrow(/circle/)
  })

  test('takes a moment for many tables that refer to each other in many ways', () => {
    const many = Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [
        `t${n}`,
        Array.from({ length: Math.min(n, 20) }, (_, k) => `t${n - k - 1}`).join(' '),
      ]),
    )
    const began = performance.now()
    expect(order(many).split(' ').at(-1)).toBe('t0')
    expect(performance.now() - began).toBeLessThan(1_000)
  })
})
