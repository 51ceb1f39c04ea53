/** The adapters against a real server that speaks each API, and one that does not keep to it. */
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Adapter, AiFailure, type OpenedModel, type Question } from '../../src/core/areas/ai/adapter.ts'
import { localRuntime } from '../../src/core/areas/ai/adapters/local-runtime.ts'
import { vendorCompatible } from '../../src/core/areas/ai/adapters/vendor-compatible.ts'
import { exchangeWith } from '../../src/core/areas/ai/exchange.ts'
import { type Egress, openEgress } from '../../src/core/kernel/egress/client.ts'
import { type Release, readRelease } from '../../src/core/kernel/egress/guard.ts'
import { type AiServer, aiServer, chatCompletion, sendJson } from '../kit/ai-server.ts'
import { freePorts } from '../kit/outside-server.ts'

let server: AiServer
let elsewhere: Server
let elsewherePort = 0
let visits = 0
let egress: Egress

beforeAll(async () => {
  server = await aiServer()
  egress = openEgress({ release: readRelease('127.0.0.1') as Release, own: [] })
  elsewhere = createServer((socket) => {
    visits += 1
    socket.destroy()
  })
  elsewherePort = await new Promise<number>((resolve) =>
    elsewhere.listen(0, '127.0.0.1', () => resolve((elsewhere.address() as { port: number }).port)),
  )
})
afterAll(async () => {
  await egress.close()
  elsewhere.close()
  await server.close()
})
beforeEach(() => {
  server.misbehave = undefined
  server.requests.length = 0
  visits = 0
})

const question: Question = { instruction: 'Summarise.', content: '# Hub\n- Home', maxAnswerTokens: 64 }

const apis = {
  vendor: { path: '/v1', make: vendorCompatible, complete: '/v1/chat/completions', embed: '/v1/embeddings' },
  local: { path: '', make: localRuntime, complete: '/api/chat', embed: '/api/embed' },
} as const
type Api = keyof typeof apis
const each = Object.keys(apis) as Api[]

function adapter(api: Api, more: Partial<OpenedModel> & { deadlineMs?: number } = {}): Adapter {
  const { deadlineMs, ...given } = more
  const model: OpenedModel = {
    id: '0190c9d2-7a3b-7cde-8f01-23456789abcd',
    kind: api === 'vendor' ? 'VENDOR_COMPATIBLE' : 'LOCAL_RUNTIME',
    base_url: `${server.url}${apis[api].path}`,
    completion_model: 'small',
    embedding_model: 'vectors',
    apiKey: undefined,
    ...given,
  }
  return apis[api].make(exchangeWith(egress, model, deadlineMs), model)
}

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => 'answered',
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(AiFailure)
  return (error as AiFailure).reason
}

describe.each(each)('%s', (api) => {
  test('asks as its API is asked, and reads text and tokens', async () => {
    expect(await adapter(api, { apiKey: 'k-1' }).complete(question)).toEqual({
      text: 'A hub and its boards.',
      tokens: 47,
    })
    const [asked] = server.requests
    expect([asked?.path, asked?.headers.authorization, asked?.headers['content-type']]).toEqual([
      apis[api].complete,
      'Bearer k-1',
      'application/json',
    ])
    expect(asked?.body).toMatchObject({
      model: 'small',
      stream: false,
      messages: [
        { role: 'system', content: 'Summarise.' },
        { role: 'user', content: '# Hub\n- Home' },
      ],
      ...(api === 'vendor' ? { max_tokens: 64 } : { options: { num_predict: 64, num_ctx: 8192 } }),
    })
  })

  test('without a key it sends none', async () => {
    await adapter(api).complete(question)
    expect(server.requests[0]?.headers.authorization).toBeUndefined()
  })

  test('embeds', async () => {
    expect(await adapter(api).embed('a text')).toEqual({ vector: [0.25, -0.5], tokens: 40 })
    expect(server.requests).toMatchObject([{ path: apis[api].embed, body: { model: 'vectors', input: 'a text' } }])
  })

  test('a model that the operator did not name is no call', async () => {
    expect(await reasonOf(adapter(api, { completion_model: null }).complete(question))).toBe('unconfigured')
    expect(await reasonOf(adapter(api, { embedding_model: null }).embed('x'))).toBe('unconfigured')
    expect(server.requests).toEqual([])
  })

  test('a model that the server does not have is missing', async () => {
    expect(await reasonOf(adapter(api, { completion_model: 'unheard-of' }).complete(question))).toBe('missing')
  })

  test.each([
    [401, 'credentials'],
    [403, 'credentials'],
    [404, 'missing'],
    [408, 'timeout'],
    [429, 'rate_limited'],
    [400, 'failed'],
    [500, 'failed'],
    [503, 'failed'],
    [504, 'timeout'],
    [299, 'malformed'],
    [204, 'malformed'],
  ])('status %i is %s, whatever it says', async (status, reason) => {
    for (const text of ['{"error":{"message":"canary"}}', '<html>canary</html>', '']) {
      server.misbehave = (_, response) => void response.writeHead(status).end(status === 204 ? undefined : text)
      const failed = adapter(api).complete(question)
      expect([text, await reasonOf(failed)]).toEqual([text, reason])
      await expect(failed).rejects.not.toThrow(/canary/)
    }
  })

  test.each([301, 302, 303, 307, 308])('a redirect %i is a failure, and never followed', async (status) => {
    server.misbehave = (_, response) =>
      void response.writeHead(status, { location: `http://127.0.0.1:${elsewherePort}/second` }).end()
    expect(await reasonOf(adapter(api, { apiKey: 'k-1' }).complete(question))).toBe('redirected')
    expect([visits, server.requests.length]).toEqual([0, 1])
  })

  const shapes = [
    '[]',
    'null',
    '"text"',
    '{}',
    '{"choices":[]}',
    '{"choices":[{"message":"x"}]}',
    '{"choices":[{"message":{"content":7}}]}',
    '{"message":{"content":7}}',
    '{"message":{}}',
    '{"__proto__":{"message":{"content":"x"},"choices":[{"message":{"content":"x"}}]}}',
    '{"data":[],"embeddings":[]}',
    '{"data":[{"embedding":[]}],"embeddings":[[]]}',
    '{"data":[{"embedding":["x"]}],"embeddings":[["x"]]}',
  ]
  test.each(shapes)('an answer that is %s is malformed', async (text) => {
    server.misbehave = (_, response) => void response.writeHead(200).end(text)
    expect(await reasonOf(adapter(api).complete(question))).toBe('malformed')
    expect(await reasonOf(adapter(api).embed('x'))).toBe('malformed')
  })

  test('an answer without an end is cut, and one that would have to be unpacked is not read', async () => {
    server.misbehave = (_, response) => endless(response)
    expect(await reasonOf(adapter(api).complete(question))).toBe('too_large')
    const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20))
    server.misbehave = (_, response) =>
      void response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb)
    expect(await reasonOf(adapter(api).complete(question))).toBe('malformed')
  })

  test('one that never comes, or drips, is given up', async () => {
    server.misbehave = () => {}
    expect(await reasonOf(adapter(api, { deadlineMs: 100 }).complete(question))).toBe('timeout')
    server.misbehave = (_, response) => drip(response)
    expect(await reasonOf(adapter(api, { deadlineMs: 300 }).complete(question))).toBe('timeout')
  })

  test('a connection that breaks, or that nobody takes, is unreachable', async () => {
    server.misbehave = (_, response) => void response.destroy()
    expect(await reasonOf(adapter(api).complete(question))).toBe('unreachable')
    const [free] = await freePorts(1)
    const nobody = adapter(api, { base_url: `http://127.0.0.1:${free}` })
    expect(await reasonOf(nobody.complete(question))).toBe('unreachable')
  })

  test('a base URL that leads inside is refused at the call', async () => {
    const closed = openEgress({ release: readRelease('') as Release, own: [] })
    const model = { base_url: server.url, apiKey: 'k-1' }
    expect(await reasonOf(exchangeWith(closed, model)('/x', {}))).toBe('refused')
    expect(server.requests).toEqual([])
    await closed.close()
  })
})

function endless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const piece = Buffer.alloc(65_536, 0x20)
  const more = () => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => (response.destroyed ? clearInterval(timer) : response.write(' ')), 20)
}

describe('what is reported of tokens', () => {
  const reports: readonly [usage: unknown, counted: number | undefined][] = [
    [{ prompt_tokens: 3, completion_tokens: 4, total_tokens: 9 }, 9],
    [{ prompt_tokens: 3, completion_tokens: 4 }, 7],
    [{ prompt_tokens: 3 }, 3],
    [{ completion_tokens: 4 }, undefined],
    [{}, undefined],
    [null, undefined],
    [undefined, undefined],
    ['many', undefined],
    [{ total_tokens: -1 }, undefined],
    [{ total_tokens: 1.5 }, undefined],
    [{ total_tokens: '12' }, undefined],
    [{ total_tokens: 1e300 }, undefined],
    [{ total_tokens: 2 ** 53 }, undefined],
    [{ total_tokens: 10_000_001 }, undefined],
    [{ total_tokens: 0 }, 0],
  ]
  test.each(reports)('a vendor that reports %j', async (usage, counted) => {
    server.misbehave = (_, response) => sendJson(response, 200, { ...chatCompletion('x', 0, 0), usage })
    expect(await adapter('vendor').complete(question)).toEqual({ text: 'x', tokens: counted })
  })

  test.each([
    [{ prompt_eval_count: 3, eval_count: 4 }, 7],
    [{ eval_count: 4 }, undefined],
    [{ prompt_eval_count: 3, eval_count: -4 }, undefined],
    [{}, undefined],
  ])('a local runtime that reports %j', async (report, counted) => {
    server.misbehave = (_, response) => sendJson(response, 200, { message: { content: 'x' }, ...report })
    expect(await adapter('local').complete(question)).toEqual({ text: 'x', tokens: counted })
  })
})

describe('a vendor', () => {
  test('that wants the newer bound is asked with it', async () => {
    server.misbehave = ({ body }, response) =>
      'max_tokens' in body
        ? sendJson(response, 400, {
            error: {
              message: "Unsupported parameter: 'max_tokens' is not supported with this model.",
              type: 'invalid_request_error',
              param: 'max_tokens',
              code: 'unsupported_parameter',
            },
          })
        : sendJson(response, 200, chatCompletion('newer', 1, 1))
    expect(await adapter('vendor').complete(question)).toEqual({ text: 'newer', tokens: 2 })
    expect(server.requests.map(({ body }) => [body.max_tokens, body.max_completion_tokens])).toEqual([
      [64, undefined],
      [undefined, 64],
    ])
  })

  test('that refuses both is asked twice and no more', async () => {
    server.misbehave = (_, response) => sendJson(response, 400, { error: { param: 'max_tokens' } })
    expect(await reasonOf(adapter('vendor').complete(question))).toBe('failed')
    expect(server.requests).toHaveLength(2)
  })

  test('that says nothing answers an empty text', async () => {
    server.misbehave = (_, response) => sendJson(response, 200, chatCompletion(null, 5, 64))
    expect(await adapter('vendor').complete(question)).toEqual({ text: '', tokens: 69 })
  })

  test('is called below its path, with the query that its URL has', async () => {
    server.misbehave = (_, response) => sendJson(response, 200, chatCompletion('x', 1, 1))
    for (const base of ['/v1', '/v1/', '/proxy/openai?api-version=2026-01'])
      await adapter('vendor', { base_url: `${server.url}${base}` }).complete(question)
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/v1/chat/completions',
      '/v1/chat/completions',
      '/proxy/openai/chat/completions?api-version=2026-01',
    ])
  })
})
