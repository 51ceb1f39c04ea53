/** What each kind of field takes, by tables. Spec: Resources, Custom field definition; decisions 3. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkFieldValue } from '../../src/core/areas/structure/custom-fields/value.ts'
import type { Problem } from '../../src/core/contract/problem.ts'
import { type FieldKind, fieldKinds } from '../../src/core/contract/structure/custom-fields.ts'

const options = ['red', 'Red', 'grün']
const definitionOf = (kind: FieldKind) => ({ kind, options: kind.endsWith('SELECT') ? options : null })

/** The value as it is kept, or the pointer and the rule it breaks. */
function checked(kind: FieldKind, value: unknown): unknown {
  try {
    return checkFieldValue(definitionOf(kind), value, '/value')
  } catch (error) {
    const { code, errors } = error as Problem
    expect(code).toBe('request.invalid')
    return errors?.map((one) => `${one.pointer} ${one.code}`).join()
  }
}

const account = '0190c9d2-7a3b-7cde-8f01-23456789abcd'

const kept: Readonly<Record<FieldKind, readonly unknown[]>> = {
  TEXT: ['x', ' outer blanks ', '😀'.repeat(10_000), '\n', 'e\u0301'],
  NUMBER: [0, -1, 1.5, 9007199254740991, -9007199254740991, 1e300, 5e-324],
  BOOL: [true, false],
  DATE: ['2026-11-20', '0001-01-01', '9999-12-31', '2024-02-29', '2000-02-29'],
  URL: ['https://example.org', 'HTTP://Example.org:8080/a?b#c', 'https://例え.jp/パス', 'http://[::1]/'],
  USER: [account],
  SELECT: options,
  MULTI_SELECT: [['red'], ['grün', 'red', 'Red']],
}

const refused: Readonly<Record<FieldKind, readonly (readonly [unknown, string])[]>> = {
  TEXT: [
    [7, '/value value.type'],
    [['x'], '/value value.type'],
    ['', '/value text.too_short'],
    ['x'.repeat(10_001), '/value text.too_long'],
    ['a\u0000', '/value text.nul'],
    ['\ud800', '/value text.surrogate'],
  ],
  NUMBER: [
    ['7', '/value value.type'],
    [true, '/value value.type'],
    [Number.NaN, '/value value.format'],
    [Number.POSITIVE_INFINITY, '/value value.format'],
    [9007199254740993n, '/value value.maximum'],
    [-9007199254740993n, '/value value.minimum'],
  ],
  BOOL: [
    ['true', '/value value.type'],
    [1, '/value value.type'],
    [0, '/value value.type'],
  ],
  DATE: [
    [20261120, '/value value.type'],
    ['2026-11-31', '/value value.format'],
    ['2023-02-29', '/value value.format'],
    ['1900-02-29', '/value value.format'],
    ['0000-01-01', '/value value.format'],
    ['2026-1-2', '/value value.format'],
    ['2026-11-20T00:00:00Z', '/value value.format'],
    ['２０２６-11-20', '/value value.format'],
    ['', '/value value.format'],
  ],
  URL: [
    [7, '/value value.type'],
    ['ftp://example.org', '/value value.format'],
    ['javascript:alert(1)', '/value value.format'],
    ['https:/example.org', '/value value.format'],
    ['https://', '/value value.format'],
    ['https://exa mple.org', '/value value.format'],
    [' https://example.org', '/value value.format'],
    ['https://example.org\n', '/value value.format'],
    ['ht\ntps://example.org', '/value value.format'],
    ['//example.org', '/value value.format'],
    ['https://example.org:99999', '/value value.format'],
    [`https://example.org/${'x'.repeat(2_000)}`, '/value text.too_long'],
  ],
  USER: [
    [7, '/value value.type'],
    ['ada', '/value value.format'],
    [`urn:uuid:${account}`, '/value value.format'],
  ],
  SELECT: [
    ['blue', '/value value.one_of'],
    ['RED', '/value value.one_of'],
    ['gru\u0308n', '/value value.one_of'],
    [['red'], '/value value.type'],
    [0, '/value value.type'],
  ],
  MULTI_SELECT: [
    ['red', '/value value.type'],
    [[], '/value list.minimum'],
    [['red', 'red'], '/value list.unique'],
    [['red', 'blue'], '/value/1 value.one_of'],
    [['red', 7], '/value/1 value.type'],
    [{ 0: 'red' }, '/value value.type'],
  ],
}

describe.each(fieldKinds)('%s', (kind) => {
  test('takes its values, and keeps them as they were sent', () => {
    for (const value of kept[kind]) expect(checked(kind, value)).toEqual(value)
  })

  test('refuses every other, at its pointer', () => {
    for (const [value, violation] of refused[kind]) expect([value, checked(kind, value)]).toEqual([value, violation])
    for (const value of [null, undefined, {}]) expect(checked(kind, value)).toBe('/value value.type')
  })

  test('answers any JSON there is with itself or with a refusal at the pointer', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.constantFrom(...kept[kind])), (value) => {
        const answer = checked(kind, value)
        if (typeof answer === 'string' && answer !== value) expect(answer).toMatch(/^\/value(\/\d+)? [a-z]+\.[a-z_]+$/)
        else expect(answer).toEqual(value)
      }),
      { numRuns: 300 },
    )
  })
})
