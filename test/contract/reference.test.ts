/** The reference says everything: each operation shows a call that was made, and each member says what it is. */
import { describe, expect, test } from 'vitest'
import { exampleFor } from '../../src/core/contract/examples/examples.ts'
import { boardMeanings } from '../../src/core/contract/meanings/boards.ts'
import { integratingMeanings } from '../../src/core/contract/meanings/integrating.ts'
import { keyOf, meanings } from '../../src/core/contract/meanings/meanings.ts'
import { operatingMeanings } from '../../src/core/contract/meanings/operating.ts'
import { peopleMeanings } from '../../src/core/contract/meanings/people.ts'
import type { Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { openApiDocument } from '../../src/daemon/openapi.ts'
import { membersOf, sentence } from '../../src/daemon/openapi-meanings.ts'

const every: readonly Operation[] = Object.values(operations)
const document = openApiDocument(every)
const members = membersOf(document)
const nameOf = (path: readonly string[]) => path.at(-1) ?? ''

/** Names that say what a member is, whatever has it. A member with one possible value says it by that. */
const obvious = new Set(['id', 'name', 'title', 'description', 'created_at', 'updated_at', 'version'])

describe('the members', () => {
  test('are described, all but the obvious ones', () => {
    const silent = members.filter(
      ({ path, schema }) => !schema.description && schema['const'] === undefined && !obvious.has(nameOf(path)),
    )
    expect(members.length).toBeGreaterThan(3_000)
    expect(silent.map(({ path }) => path.join('.'))).toEqual([])
  })

  test('each name that counts as obvious is used without a word', () => {
    const silent = new Set(members.filter(({ schema }) => !schema.description).map(({ path }) => nameOf(path)))
    expect([...obvious].filter((name) => !silent.has(name))).toEqual([])
  })

  test('each meaning is shown somewhere, and stands in one file', () => {
    const shown = new Set(
      members.flatMap(({ path, schema }) => {
        const key = keyOf(path)
        return key !== undefined && schema.description?.startsWith(sentence(meanings.get(key)!)) ? [key] : []
      }),
    )
    expect([...meanings.keys()].filter((key) => !shown.has(key))).toEqual([])
    const written = [boardMeanings, peopleMeanings, integratingMeanings, operatingMeanings].flatMap(Object.keys)
    expect(written.length).toBe(new Set(written).size)
  })

  test('the longest key that fits says what a member is', () => {
    expect(keyOf(['ResolvedQuotas', 'items'])).toBe('ResolvedQuotas.items')
    expect(keyOf(['InstanceSettings', 'quotas', 'items'])).toBe('quotas.items')
    expect(keyOf(['Delivery', 'status'])).toBe('status')
    expect(keyOf(['Delivery', 'nothing'])).toBeUndefined()
  })
})

describe.each(every.map((operation) => [operation.id, operation] as const))('the example of %s', (_, operation) => {
  const example = exampleFor(operation)

  test('has everything that is sent and answered', () => {
    const { body, params, success } = operation
    expect({
      params: Object.keys(example?.params ?? {}).sort(),
      body: example?.body !== undefined,
      answer: example?.answer !== undefined,
    }).toEqual({
      params: Object.keys(params?.shape ?? {}).sort(),
      body: body !== undefined || operation.takes === 'bytes',
      answer: success.answer !== undefined || success.bytes === true,
    })
  })

  test('fits the schemas', () => {
    for (const [schema, value] of [
      [operation.params, example?.params],
      [operation.query, example?.query ?? {}],
      [operation.body, example?.body],
      [operation.success.answer, example?.answer],
    ] as const)
      if (schema) expect(schema.safeParse(value)).toMatchObject({ success: true })
  })
})

test('no example holds an id or a moment of the run that wrote it', () => {
  const text = JSON.stringify(every.map(exampleFor))
  const ids = new Set(text.match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g))
  expect([...ids].filter((id) => !/^(01954fd0|00000000|0199c0de)-/.test(id))).toEqual([])
  expect(text).not.toMatch(/127\.0\.0\.1/)
})
