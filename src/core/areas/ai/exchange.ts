/**
 * One exchange with a model: JSON there, JSON back, through the egress guard.
 *
 * The whole exchange is bounded in time, and the answer in size. The answer is never compressed: the egress guard
 * refuses a compressed one. A redirect is a failure. The key is sent in one header and appears nowhere else.
 *
 * Spec: decisions 5, Egress guard; T-16, T-17, T-18.
 */
import type { z } from 'zod'
import type { Egress } from '../../kernel/egress/client.ts'
import { AiFailure, type OpenedModel } from './adapter.ts'

/** A model that runs on a CPU is slow, and its first question loads it. Our own caller gives up after 60 s. */
const longestMs = 45_000
/** The longest answer that we ask for needs a tenth of this. */
const answerBytes = 256 * 1024

export interface Exchanged {
  readonly status: number
  readonly body: unknown
}

/**
 * Sends JSON to a path below the model's base URL; answers the status and the JSON body, whatever the status is. Throws
 * AiFailure.
 */
export type Exchange = (path: string, body: unknown) => Promise<Exchanged>

export const exchangeWith =
  (egress: Egress, { base_url, apiKey }: Pick<OpenedModel, 'base_url' | 'apiKey'>, deadlineMs = longestMs): Exchange =>
  async (path, body) => {
    try {
      const response = await egress.fetch(below(base_url, path), {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify(body),
        deadlineMs,
      })
      return { status: response.status, body: parsed(await bounded(response.body)) }
    } catch (error) {
      throw failureOf(error)
    }
  }

/** Appends the path to a base URL. The URL's query stays, because some vendors need it. */
function below(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
  return url
}

async function bounded(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > answerBytes) throw new AiFailure('too_large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Undefined for a body that is not JSON, such as a proxy's error page; the status is still useful. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The body of a success, as its schema reads it. Throws AiFailure. */
export function understood<Schema extends z.ZodType>({ status, body }: Exchanged, schema: Schema): z.output<Schema> {
  if (status < 200 || status > 299) throw failureOfStatus(status)
  const read = schema.safeParse(body)
  if (!read.success) throw new AiFailure('malformed')
  return read.data
}

/** What a status that is no success means. */
function failureOfStatus(status: number): AiFailure {
  switch (status) {
    case 401:
    case 403:
      return new AiFailure('credentials')
    case 404:
      return new AiFailure('missing')
    case 429:
      return new AiFailure('rate_limited')
    case 408:
    case 504:
      return new AiFailure('timeout')
    default:
      return new AiFailure('failed')
  }
}

const unreachable = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'EPIPE'],
  'UND_ERR_SOCKET',
])

/** Maps an error to a failure, by its code or the code of one of its causes. */
function failureOf(error: unknown): AiFailure {
  if (error instanceof AiFailure) return error
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = String((cause as NodeJS.ErrnoException).code)
    if (code === 'ANSWER_ENCODED') return new AiFailure('malformed', error)
    if (code === 'EGRESS_REFUSED') return new AiFailure('refused', error)
    if (cause.name === 'TimeoutError' || /TIMEDOUT|_TIMEOUT$/.test(code)) return new AiFailure('timeout', error)
    if (unreachable.has(code)) return new AiFailure('unreachable', error)
    // fetch gives a redirect no code.
    if (cause.message === 'unexpected redirect') return new AiFailure('redirected', error)
  }
  return new AiFailure('failed', error)
}
