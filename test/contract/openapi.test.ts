/** The OpenAPI document: valid, complete, and what the daemon really answers. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nameOf, typeOf } from '../../src/core/contract/event.ts'
import { catalog } from '../../src/core/contract/event-catalog.ts'
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
      content?: Record<string, { schema: { $ref?: string; discriminator?: { mapping: Record<string, string> } } }>
    }>(responses)) {
      const { $ref, discriminator } = content?.['application/problem+json']?.schema ?? {}
      const codes = $ref === undefined ? Object.keys(discriminator?.mapping ?? {}) : [codeOf($ref)]
      expect([operationId, status, Number(status) < 400]).toEqual([operationId, status, codes.length === 0])
      for (const code of codes) {
        const row = problems[code as keyof typeof problems] as { status: number; rateStatus?: number }
        expect([row.status, row.rateStatus]).toContain(Number(status))
      }
    }
  }
})

/** The code of the one problem that a reference names. */
const codeOf = (reference: string): string =>
  document.components.schemas[reference.split('/').at(-1)!].properties.code.const

test('a refusal is told apart by its code, and has the parameters of that code', () => {
  const { QuotaExceededProblem } = document.components.schemas
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const refusals = Object.values<any>(document.components.schemas).filter(({ properties }) =>
    properties?.type?.const?.startsWith('urn:problem:svc:'),
  )
  // A path that is not served in this way belongs to no operation.
  const codes = Object.keys(problems).filter((code) => code !== 'request.method')
  expect(refusals.map(({ properties }) => properties.code.const).sort()).toEqual(codes.sort())
  for (const { properties } of refusals) {
    const { params } = properties
    const code = properties.code.const
    const row = problems[code as keyof typeof problems] as { params?: string[]; optionalParams?: string[] }
    expect([code, params.required ?? []]).toEqual([code, row.params ?? []])
    expect(Object.keys(params.properties)).toEqual([...(row.params ?? []), ...(row.optionalParams ?? [])])
  }
  expect(QuotaExceededProblem.properties.params.properties.limit).toMatchObject({ type: 'integer', format: 'int64' })
})

test('a body has no default, because generators of clients count such a member as required; it says it in words', () => {
  const { ItemCreate } = document.components.schemas
  expect(JSON.stringify(ItemCreate)).not.toContain('"default"')
  expect(ItemCreate.properties.type.description).toBe('Decides what the item can have. Absent: `"TASK"`.')
  expect(ItemCreate.required).toEqual(['container_id', 'title'])
})

test('speaks to callers: no notes for authors, and each tag in a sentence and in one group', () => {
  const said = everyOperation().map(({ description }) => description)
  expect(said.filter((text) => /Specification:|Decided here|decisions \d/.test(text ?? ''))).toEqual([])
  expect(document.tags.filter(({ description }: { description?: string }) => !description?.endsWith('.'))).toEqual([])
  const grouped = document['x-tagGroups'].flatMap(({ tags }: { tags: string[] }) => tags)
  expect(grouped).toEqual(document.tags.map(({ name }: { name: string }) => name))
})

test('wants the token by default; only what anyone may call, or who has a ticket, says otherwise', () => {
  expect(document.security).toEqual([{ bearer: [] }])
  for (const { operationId, security } of everyOperation()) {
    const { needs } = operations[operationId as keyof typeof operations]
    const takesTicket = 'ticket' in needs && needs.ticket
    const expected = needs.caller === 'anyone' ? [] : takesTicket ? [{ bearer: [] }, {}] : undefined
    expect([operationId, security]).toEqual([operationId, expected])
  }
})

test('every event is a webhook, with an example that fits the schema of its data', () => {
  expect(Object.keys(document.webhooks).sort()).toEqual(
    Object.keys(catalog)
      .map((name) => typeOf('svc', name))
      .sort(),
  )
  for (const [type, { post }] of Object.entries<{
    post: { requestBody: { content: Record<string, { example: { type: string; data: unknown } }> } }
  }>(document.webhooks)) {
    const { example } = post.requestBody.content['application/cloudevents+json']!
    expect(example.type).toBe(type)
    const { data } = catalog[nameOf('svc', type) as keyof typeof catalog]
    expect(data.safeParse(example.data)).toMatchObject({ success: true })
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
