/** A model's server on loopback that speaks both APIs, and misbehaves where a test asks for it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface AiRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects to have been asked
  readonly body: any
}

export interface AiServer {
  readonly port: number
  /** `http://127.0.0.1:port`. */
  readonly url: string
  /** Every complete request, in order. */
  readonly requests: AiRequest[]
  /** Answers in place of the model; set back to undefined for the model. */
  misbehave: ((request: AiRequest, response: ServerResponse) => void | Promise<void>) | undefined
  /** What the model says, and the tokens that it reports. */
  says: string
  promptTokens: number
  answerTokens: number
  close(): Promise<void>
}

export async function aiServer(): Promise<AiServer> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const asked = {
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString('utf8') || 'null'),
    }
    own.requests.push(asked)
    await (own.misbehave ?? answer)(asked, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const own: AiServer = {
    port,
    url: `http://127.0.0.1:${port}`,
    requests: [],
    misbehave: undefined,
    says: 'A hub and its boards.',
    promptTokens: 40,
    answerTokens: 7,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const answer = ({ path, body }: AiRequest, response: ServerResponse): void => {
    const { status, json } = answerOf(own, path, body)
    sendJson(response, status, json)
  }
  return own
}

export const sendJson = (response: ServerResponse, status: number, json: unknown): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))

const knownModels = ['small', 'vectors']

function answerOf(
  { says, promptTokens, answerTokens }: AiServer,
  path: string,
  { model }: { model?: string },
): { status: number; json: unknown } {
  const isLocal = path.startsWith('/api/')
  if (!knownModels.includes(model ?? ''))
    return {
      status: 404,
      json: isLocal
        ? { error: `model '${model}' not found` }
        : {
            error: {
              message: `The model ${model} does not exist`,
              type: 'invalid_request_error',
              code: 'model_not_found',
            },
          },
    }
  switch (path.split('?')[0]) {
    case '/v1/chat/completions':
      return { status: 200, json: chatCompletion(says, promptTokens, answerTokens) }
    case '/v1/embeddings':
      return {
        status: 200,
        json: {
          object: 'list',
          data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5] }],
          usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
        },
      }
    case '/api/chat':
      return {
        status: 200,
        json: {
          model,
          message: { role: 'assistant', content: says },
          done: true,
          done_reason: 'stop',
          prompt_eval_count: promptTokens,
          eval_count: answerTokens,
        },
      }
    case '/api/embed':
      return { status: 200, json: { model, embeddings: [[0.25, -0.5]], prompt_eval_count: promptTokens } }
    default:
      return { status: 404, json: { error: 'no such path' } }
  }
}

/** The answer of an OpenAI-compatible vendor; `usage` as it is given. */
export const chatCompletion = (says: string | null, prompt: number, answer: number) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'small',
  choices: [{ index: 0, message: { role: 'assistant', content: says, refusal: null }, finish_reason: 'stop' }],
  usage: { prompt_tokens: prompt, completion_tokens: answer, total_tokens: prompt + answer },
})
