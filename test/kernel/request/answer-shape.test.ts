/** What an answer is held to on its way out: its members and their types, and not their patterns. Decisions 0121. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { operations } from '../../../src/core/contract/operations.ts'
import { uuid } from '../../../src/core/contract/vocabulary.ts'
import { answerOf, shapeOf } from '../../../src/core/kernel/request/answer-shape.ts'

const answers = Object.values(operations).flatMap(({ id, success }) =>
  'answer' in success ? [[id, success.answer as z.ZodType] as const] : [],
)

/** What the shape leaves out on purpose; and words about a schema, which are no rule. */
const left = ['pattern', 'format', 'minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'minItems']
  .concat('maxItems', 'multipleOf', 'contentEncoding', 'propertyNames')
  .concat('$schema', 'id', 'title', 'description', 'examples', 'deprecated')

/** A JSON Schema without these: integers are numbers, and one type or another is a list of types. */
function bones(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bones)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.entries(schema).filter(([name, value]) => !(left.includes(name) && typeof value !== 'object'))
  const { allOf, anyOf, ...rest } = Object.fromEntries(members.map(([name, value]) => [name, bones(value)]))
  if (rest['type'] === 'integer') rest['type'] = 'number'
  const types = (anyOf as { type?: string }[] | undefined)?.map(({ type, ...others }) =>
    typeof type === 'string' && Object.keys(others).length === 0 ? type : undefined,
  )
  if (types?.every((type) => type !== undefined)) return { ...rest, type: types }
  // Several patterns of one string are an allOf, and empty by now.
  return {
    ...rest,
    ...(anyOf ? { anyOf } : {}),
    ...(JSON.stringify(allOf)?.replace(/\{\}|[[\],]/g, '') ? { allOf } : {}),
  }
}

const asJson = (schema: z.ZodType) =>
  bones(z.toJSONSchema(schema, { unrepresentable: 'any', reused: 'inline', metadata: z.registry() }))

test.each(answers)('%s: names the members of its schema, all of them, of the same types', (_, schema) => {
  expect(asJson(shapeOf(schema))).toEqual(asJson(schema))
})

const Row = z.object({
  id: uuid,
  rows: z.array(z.object({ name: z.string().max(3) })),
  place: z.object({ at: z.iso.datetime() }).nullable(),
  kind: z.enum(['A', 'B']),
  fields: z.record(z.string().regex(/^a/), z.union([z.string(), z.number().max(1)])),
  note: z.string().optional(),
})
const row = { id: 'no id', rows: [{ name: 'long name' }], place: { at: 'now' }, kind: 'A', fields: { b: 2 } }

test('what is not named is dropped, however deep it lies', () => {
  const secret = { secret: 's' }
  const answer = { ...row, ...secret, rows: [{ ...row.rows[0], ...secret }], place: { ...row.place, ...secret } }
  expect(shapeOf(Row).parse(answer)).toEqual(row)
})

test.each([
  ['a member is missing', { id: undefined }],
  ['null where nothing may be missing', { id: null }],
  ['another type', { rows: 'none' }],
  ['another type in a list', { rows: [{ name: 1 }] }],
  ['a value that is none of the named', { kind: 'C' }],
  ['a type that no branch takes', { fields: { a: true } }],
])('%s: refused', (_, wrong) => {
  expect(shapeOf(Row).safeParse({ ...row, ...wrong }).success).toBe(false)
})

test('a shape is made once', () => {
  expect(shapeOf(Row)).toBe(shapeOf(Row))
})

/** Values that rows consist of, and some that they must not. */
const value = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>('A', 'C', '', 0, 1.5, true, null) },
  fc.constantFrom<unknown>(undefined, Number.NaN, Number.POSITIVE_INFINITY, 2n ** 60n, [], {}, new Date(0), ['A'], {
    at: 'now',
  }),
)
const optional = (arbitrary: fc.Arbitrary<unknown>) => fc.option(arbitrary, { nil: undefined })
const mostly = {
  id: fc.string(),
  rows: fc.array(fc.record({ name: fc.string(), more: value })),
  place: fc.constantFrom(null, { at: 'now', more: 1 }),
  kind: fc.constantFrom('A', 'B'),
  fields: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('x', 1)),
}
const rows = fc.oneof(
  value,
  fc.record(
    {
      id: value,
      rows: fc.oneof(value, fc.array(fc.oneof(value, fc.record({ name: value, more: value }, { requiredKeys: [] })))),
      place: fc.oneof(value, fc.record({ at: value }, { requiredKeys: [] })),
      kind: value,
      fields: fc.oneof(value, fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), value)),
      note: optional(value),
      secret: value,
    },
    { requiredKeys: [] },
  ),
)

test('the plain code takes and drops what the schema does', () => {
  let taken = 0
  const holds = fc.property(
    fc.oneof(rows, fc.record({ ...mostly, note: optional(value), secret: value })),
    (answer) => {
      const { success, data } = shapeOf(Row).safeParse(answer)
      if (!success) {
        expect(() => answerOf(Row, answer)).toThrow(z.ZodError)
        return
      }
      taken += 1
      expect(answerOf(Row, answer)).toStrictEqual(data)
    },
  )
  fc.assert(holds, { numRuns: 5_000 })
  expect(taken).toBeGreaterThan(500)
})
