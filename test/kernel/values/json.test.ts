/** JSON as the API reads and writes it. Spec: decisions 1, Values; threats T-29, T-31. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJson, writeJson } from '../../../src/core/kernel/values/json.ts'

const refusal = (text: string) => {
  try {
    readJson(text)
    return 'read'
  } catch (error) {
    return (error as { errors: [{ code: string }] }).errors[0].code
  }
}

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

test('what JSON.parse reads is read alike, and written alike', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      const members = JSON.stringify(JSON.parse(text)) // one of two members of a name is gone
      expect(writeJson(readJson(members))).toBe(members)
    }),
    { numRuns: 2_000 },
  )
})

test('what JSON.parse refuses is refused, as one kind of fault', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'{}[]",:0123456789truefalsn\\-.eE ') })),
      (text) => {
        let isJson = true
        try {
          JSON.parse(text)
        } catch {
          isJson = false
        }
        const outcome = refusal(text)
        if (isJson) expect(['read', 'json.duplicate_member', 'json.depth']).toContain(outcome)
        else expect(outcome).toBe('json.syntax')
      },
    ),
    { numRuns: 5_000 },
  )
})

test('an integer of 64 bits goes through unrounded, wherever it stands', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
      const text = `{"a":[${value}],"b":{"c":${value}}}`
      expect(writeJson(readJson(text))).toBe(text)
    }),
    { numRuns: 2_000 },
  )
  expect(readJson('9007199254740993')).toBe(9007199254740993n)
  expect(readJson('9007199254740991')).toBe(9007199254740991)
  expect(readJson('"9007199254740993"')).toBe('9007199254740993')
})

test('what is written of no integer is not made one', () => {
  for (const text of ['1e400', '12345678901234567890.5', '1234567890123456789e3'])
    expect(typeof readJson(text)).toBe('number')
})

test('a fraction is never read as the integer it rounds to', () => {
  const rounded = [
    '9007199254740990.7',
    '4503599627370497.5',
    '1.0000000000000000001',
    '123456789.999999995',
    '0.99999999999999999999',
    '-1.0000000000000000001',
    '1e-400',
    '-15E-330',
    '10000000000000000001e-19',
    '100000000.00000000001e1',
  ]
  for (const text of rounded) {
    expect(Number.isInteger(JSON.parse(text))).toBe(true)
    expect(readJson(text)).toBe(Number.NaN)
  }
  for (const [text, value] of [
    ['5.0000000000000000000', 5],
    ['1.0000000000000000e3', 1000],
    ['1.2345678901234567', 1.2345678901234567],
    ['10000000000000000000e-19', 1],
    ['0.0000000000000000', 0],
  ] as const)
    expect(readJson(text)).toBe(value)
})

describe('depth', () => {
  test('32 levels are read, 33 are not, and a hundred thousand neither', () => {
    expect(refusal(nested(32))).toBe('read')
    expect(refusal(nested(33))).toBe('json.depth')
    expect(['json.depth', 'json.syntax']).toContain(refusal(nested(100_000)))
    expect(['json.depth', 'json.syntax']).toContain(refusal(`[${nested(100_000)},9007199254740993]`))
  })

  test('brackets in a text do not count', () => {
    expect(readJson(JSON.stringify(nested(50)))).toBe(nested(50))
    expect(readJson(`["\\"${'['.repeat(50)}"]`)).toEqual([`"${'['.repeat(50)}`])
  })
})

describe('two members of one name', () => {
  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"b":2,"a":3}',
    '{"a":1,"\\u0061":2}',
    '[{"a":{"b":1,"b":2}}]',
    '{"":1,"":2}',
    '{"a":[{"a":1}],"a":2}',
    '{ "a" : 1 , "a" : 2 }',
    '{"__proto__":1,"__proto__":2}',
  ])('%s is refused', (text) => expect(refusal(text)).toBe('json.duplicate_member'))

  test.each([
    '[{"a":1},{"a":1}]',
    '{"a":{"a":{"a":1}}}',
    '{"a":"a","b":"a"}',
    '{"a":["a","a"]}',
    '{"a":",\\"a\\":","b":1}',
    '{"a\\\\":1,"a":2}',
  ])('%s has none', (text) => expect(refusal(text)).toBe('read'))

  test('in any object of unique names none is found, and one that is repeated is', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(names, fc.nat(), (list, pick) => {
        const member = (name: string) => `${JSON.stringify(name)}:{"x":[${JSON.stringify(name)}]}`
        expect(refusal(`{${list.map(member).join(',')}}`)).toBe('read')
        expect(refusal(`{${[...list, list[pick % list.length]!].map(member).join(',')}}`)).toBe('json.duplicate_member')
      }),
      { numRuns: 1_000 },
    )
  })
})

test('a member called __proto__ is a member, and nothing else', () => {
  const value = readJson('{"__proto__":{"polluted":true}}') as object
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect(({} as Record<string, unknown>)['polluted']).toBe(undefined)
})
