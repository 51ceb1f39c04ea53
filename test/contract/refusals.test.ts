/**
 * Every refusal of the reference has an example with its parameters: received from a daemon where the story of
 * test/contract/examples/refusals.ts comes to it, else declared. `npx vitest run test/contract/refusals.test.ts -u` writes those
 * that were received.
 */
import { expect, test } from 'vitest'
import received from '../../src/core/contract/examples/refusals.json' with { type: 'json' }
import { declaredParams, refusalExample } from '../../src/core/contract/examples/refusals.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type ProblemCode, problems } from '../../src/core/contract/problem.ts'
import { paramsOf } from '../../src/core/contract/problem-params.ts'
import { openApiDocument } from '../../src/daemon/openapi.ts'
import { refusals } from './examples/refusals.ts'
import { openScene } from './examples/scene.ts'

const codes = Object.keys(problems) as ProblemCode[]
const kept = received as Partial<Record<string, unknown>>

test('the examples that were received are what a daemon answers', async () => {
  const scene = await openScene({ mode: 'multi' })
  const found = await refusals(scene).finally(() => scene.close())
  const inOrder = codes.flatMap((code) => (found.has(code) ? [[code, found.get(code)] as const] : []))
  const text = `${JSON.stringify(Object.fromEntries(inOrder), null, 2)}\n`
  await expect(text).toMatchFileSnapshot('../../src/core/contract/examples/refusals.json')
})

test('a code with parameters is received or declared, and not both', () => {
  const named = codes.filter((code) => Object.keys(paramsOf(code).shape).some((name) => name !== 'more'))
  const inBoth = named.filter((code) => (code in kept ? 1 : 0) + (code in declaredParams ? 1 : 0) !== 1)
  expect(inBoth, 'play it in test/contract/examples/refusals.ts, or declare its parameters').toEqual([])
  expect(Object.keys(declaredParams).filter((code) => !named.includes(code as ProblemCode))).toEqual([])
})

test.each(codes)('the example of %s fits the schema of its parameters', (code) => {
  const { status, params } = refusalExample(code)
  const row: { readonly status: number; readonly rateStatus?: number } = problems[code]
  expect([row.status, row.rateStatus]).toContain(status)
  expect(paramsOf(code).strict().safeParse(params)).toMatchObject({ success: true })
})

test('each refusal of the document has one, which is whole', () => {
  // biome-ignore lint/suspicious/noExplicitAny: a document is walked by the names it is expected to have
  const schemas = (openApiDocument(Object.values(operations)) as any).components.schemas
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const shown = Object.values<any>(schemas).filter(({ properties }) =>
    properties?.type?.const?.startsWith('urn:problem:'),
  )
  expect(shown.length).toBeGreaterThan(100)
  for (const { properties, required, examples } of shown) {
    expect(examples).toHaveLength(1)
    const [example] = examples
    const code = properties.code.const as ProblemCode
    expect(example).toMatchObject({ type: `urn:problem:svc:${code}`, code, ...refusalExample(code) })
    expect(Object.keys(example)).toEqual(expect.arrayContaining(required))
    expect(example.instance).toMatch(/^urn:uuid:[0-9a-f-]{36}$/)
  }
})

test('what breaks a rule of the schema says where, and which rule', () => {
  expect(refusalExample('request.invalid').errors).toEqual([
    expect.objectContaining({ pointer: '/title', code: 'text.too_short', params: { minimum: 1 } }),
    expect.objectContaining({ pointer: '/colour', code: 'member.unknown' }),
  ])
  expect(refusalExample('request.malformed').errors).toEqual([
    expect.objectContaining({ parameter: expect.any(String), code: expect.any(String) }),
    expect.objectContaining({ parameter: expect.any(String), code: expect.any(String) }),
  ])
})
