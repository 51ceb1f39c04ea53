/**
 * One exchange with a model: JSON there, JSON back, through the egress guard.
 *
 * Bounded in time (the whole of it) and in size (the answer, which comes as it
 * is: the egress guard takes none that is compressed). A redirect is a failure. The key travels in one header and stands
 * nowhere else.
 *
 * Spec: decisions 5, Egress guard; T-16, T-17, T-18.
 */
import type { z } from 'zod'
import type { Egress } from '../../kernel/egress/client.ts'
import { AiFailure, type OpenedModel } from './adapter.ts'

/** A model that runs on a processor takes its time, and its first question loads it; who asks us gives up after 60 s. */
const longestMs = 45_000
/** The longest answer that is asked for takes a tenth of this. */
const answerBytes = 256 * 1024

export interface Exchanged {
  readonly status: number
  readonly body: unknown
}

/** Sends JSON to a path below the model's base URL; answers whatever status has a JSON body. Throws AiFailure. */
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

/** The path below a base URL, whose query some vendors need and which therefore stays. */
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

/** Undefined for what is no JSON, such as the page of a proxy: its status still says something. */
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

/** A failure by the code that it or one of its causes carries. */
function failureOf(error: unknown): AiFailure {
  if (error instanceof AiFailure) return error
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = String((cause as NodeJS.ErrnoException).code)
    if (code === 'ANSWER_ENCODED') return new AiFailure('malformed', error)
    if (code === 'EGRESS_REFUSED') return new AiFailure('refused', error)
    if (cause.name === 'TimeoutError' || /TIMEDOUT|_TIMEOUT$/.test(code)) return new AiFailure('timeout', error)
    if (unreachable.has(code)) return new AiFailure('unreachable', error)
    // fetch has no code for it.
    if (cause.message === 'unexpected redirect') return new AiFailure('redirected', error)
  }
  return new AiFailure('failed', error)
}
