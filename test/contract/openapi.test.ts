/** The OpenAPI document: valid, complete, and what the daemon really answers. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { problems } from '../../src/core/contract/problem.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'

let daemon: TestDaemon
// biome-ignore lint/suspicious/noExplicitAny: a document is walked by the names it is expected to have
let document: any

beforeAll(async () => {
  daemon = await testDaemon()
  document = (await daemon.call('GET', '/api/v1/openapi.json')).json
})
afterAll(() => daemon.close())

// biome-ignore lint/suspicious/noExplicitAny: as above
const everyOperation = (): any[] => Object.values(document.paths).flatMap((item) => Object.values(item as object))

test('is a valid OpenAPI 3.1 document', async () => {
  expect(document.openapi).toBe('3.1.0')
  expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true })
})

test('the validator finds a fault when there is one', async () => {
  const broken = structuredClone(document)
  broken.paths['/api/v1/accounts/me'].get.responses = 'none'
  expect(await new Validator().validate(broken)).toMatchObject({ valid: false })
})

test('has every operation once, under its id', () => {
  expect(
    everyOperation()
      .map(({ operationId }) => operationId)
      .sort(),
  ).toEqual(Object.keys(operations).sort())
})

test('every reference leads somewhere', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
    ([, reference]) => reference ?? '',
  )
  expect(references.length).toBeGreaterThan(20)
  for (const reference of new Set(references)) {
    const found = reference
      .slice(2)
      .split('/')
      .reduce((node, step) => node?.[step], document)
    expect([reference, typeof found]).toEqual([reference, 'object'])
  }
})

test('every path parameter of a path is described, and no other', () => {
  for (const [path, item] of Object.entries(document.paths)) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    // biome-ignore lint/suspicious/noExplicitAny: as above
    for (const { parameters = [] } of Object.values(item as Record<string, any>)) {
      expect(
        parameters
          .filter((parameter: { in: string }) => parameter.in === 'path')
          .map(({ name }: { name: string }) => name),
      ).toEqual(named)
    }
  }
})

test('says the headers an operation takes', () => {
  const headersOf = (path: string, method: string) =>
    (document.paths[path][method].parameters ?? [])
      .filter((parameter: { in: string }) => parameter.in === 'header')
      .map(({ name }: { name: string }) => name)
  expect(headersOf('/api/v1/admin/tenants', 'post')).toEqual(['Idempotency-Key'])
  expect(headersOf('/api/v1/auth/tokens', 'post')).toEqual(['X-Service-Step-Up'])
  expect(headersOf('/api/v1/accounts/me', 'get')).toEqual(['If-None-Match'])
})

test('lists the problem codes of every status it can answer with, under that status', () => {
  for (const { operationId, responses } of everyOperation()) {
    for (const [status, { content }] of Object.entries<{
      content?: Record<string, { schema: { allOf: { properties: { code: { enum: string[] } } }[] } }>
    }>(responses)) {
      const codes = content?.['application/problem+json']?.schema.allOf[1]?.properties.code.enum ?? []
      expect([operationId, status, Number(status) < 400]).toEqual([operationId, status, codes.length === 0])
      for (const code of codes) {
        const row = problems[code as keyof typeof problems] as { status: number; rateStatus?: number }
        expect([row.status, row.rateStatus]).toContain(Number(status))
      }
    }
  }
})

test('int64 keeps its largest value to the digit', async () => {
  const { text } = await daemon.call('GET', '/api/v1/openapi.json')
  expect(text).toContain('"format":"int64","minimum":0,"maximum":9223372036854775807}')
  expect(text).not.toContain('9223372036854776000')
})

test('is told apart by its ETag', async () => {
  const first = await daemon.call('GET', '/api/v1/openapi.json')
  const again = await daemon.call('GET', '/api/v1/openapi.json', {
    headers: { 'if-none-match': String(first.headers.etag) },
  })
  expect([again.status, again.text]).toEqual([304, ''])
})
