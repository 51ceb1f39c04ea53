/**
 * Calls over HTTP, built from the operation's data.
 *
 *    sign → send → (429, 503: wait and send again) → (401: renew the session once) → read
 *
 * Only requests that are safe to repeat are sent again: GETs, and calls with an
 * Idempotency-Key. Answers keep int64 values exact. The credentials choose the token by
 * what the operation needs: an access token for operators, the session for people.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Answer, isRead, type Operation, type Sent } from '../../core/contract/operation.ts'
import { requestOf } from '../../core/kernel/request/request.ts'
import { readJson, writeJson } from '../../core/kernel/values/json.ts'
import { endingOf, Failure } from '../failure.ts'
import { AnsweredProblem, isProblemDocument } from './answered-problem.ts'
import type { Caller } from './caller.ts'
import { type Exchange, exchange, type HttpAnswer, NotReached } from './http.ts'

export type CallerKind = Operation['needs']['caller']

export interface Credentials {
  /** For people: `ada@example.org`, `the token in SVC_TOKEN`. */
  readonly who: string
  /** The token for a call of this kind; undefined if none is known. */
  bearerFor(kind: CallerKind): Promise<string | undefined>
  /** A new token, after the server refused this one; undefined if there is none. */
  renewed(bearer: string): Promise<string | undefined>
}

export interface ApiTarget {
  readonly apiUrl: string
  readonly credentials: Credentials
  /** Prints a message while the user waits. */
  readonly tell: (line: string) => void
}

const userAgent = `svc (${process.platform}; node ${process.versions.node})`

export function apiCaller(target: ApiTarget): Caller {
  const call = async <O extends Operation>(operation: O, sent: Sent<O>): Promise<Answer<O>> => {
    const request = requestOf(operation, sent)
    const { pathname, search } = addressOf(operation, request)
    const headers = {
      ...(request.idempotencyKey === undefined ? {} : { 'idempotency-key': request.idempotencyKey }),
      ...(request.ifMatch === undefined ? {} : { 'if-match': request.ifMatch }),
      ...(request.stepUp === undefined ? {} : { 'x-service-step-up': request.stepUp }),
    }
    const body = operation.body ? { body: writeJson(request.body), mediaType: operation.patch ? mergePatch : json } : {}
    const mayRepeat = isRead(operation) || request.idempotencyKey !== undefined
    const answer = await sendSigned(
      target,
      operation.needs.caller,
      { method: operation.method, path: `${pathname}${search}`, headers, ...body },
      mayRepeat,
    )
    return answerOf(answer, target.apiUrl) as Answer<O>
  }
  return {
    where: `${target.apiUrl} as ${target.credentials.who}`,
    apiUrl: target.apiUrl,
    way: 'api',
    call,
    async transfer(operation, sent, { headers, body }) {
      const { pathname, search } = addressOf(operation, requestOf(operation, sent as never))
      const outgoing = { method: operation.method, path: `${pathname}${search}`, headers, body, mediaType: bytesType }
      const answer = await sendSigned(target, operation.needs.caller, outgoing, isRead(operation))
      if (answer.status >= 300) answerOf(answer, target.apiUrl) // throws the refusal
      return answer
    },
    async stepUp(operation, targetId, shown) {
      const { passwordOperations } = await import('../../core/contract/auth/operations.ts')
      // Requested with the token that will make the call, because the proof is bound to that token.
      const stepUp = { ...passwordOperations.stepUp, needs: operation.needs }
      const proof = await call(stepUp, {
        body: { ...shown, operation: operation.id, ...(targetId ? { target_id: targetId } : {}) },
      })
      return proof.step_up_token
    },
    async close() {},
  }
}

const json = 'application/json'
const mergePatch = 'application/merge-patch+json'
const bytesType = 'application/octet-stream'

/** Path and query, relative to the API's root. */
function addressOf(
  operation: Operation,
  request: { params?: unknown; query?: unknown },
): { pathname: string; search: string } {
  const params = (request.params ?? {}) as Readonly<Record<string, unknown>>
  const pathname = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const query = Object.entries((request.query ?? {}) as Record<string, unknown>).map(
    ([name, value]) => [name, String(value)] as [string, string],
  )
  return { pathname, search: query.length === 0 ? '' : `?${new URLSearchParams(query)}` }
}

export interface Outgoing {
  readonly method: string
  /** Relative to `/api/v1`, with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer | undefined
  readonly mediaType?: string
}

/** Sends with the token for this kind of call; a refused session is renewed once. */
export async function sendSigned(
  { apiUrl, credentials, tell }: ApiTarget,
  kind: CallerKind,
  outgoing: Outgoing,
  mayRepeat: boolean,
): Promise<HttpAnswer> {
  const bearer = kind === 'anyone' ? undefined : await credentials.bearerFor(kind)
  const send = (token: string | undefined) => repeated(requestWith(apiUrl, outgoing, token), mayRepeat, tell)
  const answer = await send(bearer)
  if (answer.status !== 401 || bearer === undefined || !answer.text.includes('"auth.unauthenticated"')) return answer
  const other = await credentials.renewed(bearer)
  return other === undefined ? answer : send(other)
}

function requestWith(apiUrl: string, outgoing: Outgoing, bearer: string | undefined): Exchange {
  const { method, path, headers, body, mediaType = json } = outgoing
  return {
    method,
    url: new URL(`${apiUrl}/api/v1${path}`),
    headers: {
      accept: 'application/json, application/problem+json',
      'user-agent': userAgent,
      ...(body === undefined ? {} : { 'content-type': mediaType }),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...headers,
    },
    body,
  }
}

const repeats = 2
/** A server that asks for a longer wait is not asked again: the user gets its answer at once. */
const longestPauseSeconds = 10

/** Sends a repeatable request again, at most twice, if the server asks to wait or the answer was lost. */
async function repeated(request: Exchange, mayRepeat: boolean, tell: (line: string) => void): Promise<HttpAnswer> {
  for (let repeat = 1; ; repeat += 1) {
    const isLast = !mayRepeat || repeat > repeats
    const outcome = await exchange(request).catch((error: unknown) => {
      if (isLast || !(error instanceof NotReached) || !error.maybeDone) throw error
      return undefined
    })
    const waitSeconds = outcome === undefined ? 1 : pauseOf(outcome)
    if (outcome && (isLast || waitSeconds === undefined)) return outcome
    const why = outcome ? `The server asks to wait ${waitSeconds} s` : 'The answer was lost'
    tell(`${why}; trying again (${repeat} of ${repeats}).`)
    await pause((waitSeconds ?? 1) * 1000)
  }
}

/** The seconds that the server asks to wait; undefined if it does not, or asks for too many. */
function pauseOf({ status, headers }: HttpAnswer): number | undefined {
  if (status !== 429 && status !== 503) return undefined
  const seconds = Number(headers['retry-after'] ?? Number.NaN)
  return seconds >= 0 && seconds <= longestPauseSeconds ? Math.ceil(seconds) : undefined
}

/** The representation. Throws the refusal. */
export function answerOf({ status, headers, text }: HttpAnswer, apiUrl: string): unknown {
  const isDone = status >= 200 && status < 300
  if (isDone && text === '') return undefined
  const document = parsed(text)
  if (isDone && document !== undefined) return document
  if (!isDone && isProblemDocument(document)) throw new AnsweredProblem(status, document, headers)
  throw new Failure(
    isDone ? 'failed' : status < 400 ? 'unreached' : endingOf(status),
    `${apiUrl} answered ${status}, but not in the format of svc.`,
    'Check the API URL, and any proxy on the way.',
  )
}

function parsed(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}
