/**
 * A client of svc's API, for Node 22 and newer and for browsers. It needs no package.
 *
 *    const svc = openClient({ url: 'https://svc.example.org', token: process.env.SVC_TOKEN })
 *    const item = await svc.createItem({ body: { container_id: board, title: 'Write it down' } })
 *    for await (const one of svc.listItems.each({ query: { container_id: board } })) console.log(one.title)
 *
 * A call that only reads is repeated when it fails on the way or is answered 429, 502, 503 or 504. So is a change that
 * takes an `Idempotency-Key`, under one key, which the client makes: it is done once, however often it is sent. No other
 * change is repeated. A refusal is thrown as `Refused`, with its problem.
 */
import { type Operations, operations, type Problem } from './generated.ts'
import { type Int64, readJson, writeJson } from './json.ts'

export type { Int64 }

export interface ClientOptions {
  /** Of the installation: `https://svc.example.org`. */
  readonly url: string
  /** A token, or what answers one for each call. Absent: only calls that need none. */
  readonly token?: string | (() => string | Promise<string>)
  /** How often a call is sent at most; 4 where absent. */
  readonly attempts?: number
  /** How long one attempt may take, in milliseconds; 30,000 where absent. */
  readonly timeoutMs?: number
  readonly fetch?: typeof fetch
}

/** What every call may say. */
export interface Call {
  readonly signal?: AbortSignal
}

type Arguments<C, IsRequired extends boolean> = IsRequired extends true ? [call: C] : [call?: C]

/** An operation that answers pages. */
export interface Paged<C, Page, Row, IsRequired extends boolean> {
  /** One page. */
  (...call: Arguments<C, IsRequired>): Promise<Page>
  /** Every row, page after page; the next page is asked for when it is needed. */
  each(...call: Arguments<C, IsRequired>): AsyncIterableIterator<Row>
}

/** A refusal: `problem.code` says which one, and of which type its `params` are. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly problem: Problem
  readonly status: number
  readonly headers: Headers

  constructor(problem: Problem, status: number, headers: Headers) {
    super(`${problem.code} (${status}, ${problem.instance})`)
    this.problem = problem
    this.status = status
    this.headers = headers
  }
}

/** No answer that is one of svc's: the network failed, or something on the way answered. */
export class NotAnswered extends Error {
  override readonly name = 'NotAnswered'
  /** Undefined where nothing was answered. */
  readonly status: number | undefined

  constructor(message: string, status: number | undefined, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** Whether the error is a refusal with this code; its problem then has that type. */
export const isRefused = <const Code extends Problem['code']>(
  error: unknown,
  code: Code,
): error is Refused & { readonly problem: Extract<Problem, { readonly code: Code }> } =>
  error instanceof Refused && error.problem.code === code

interface Way {
  readonly method: string
  readonly path: string
  readonly sends?: 'json' | 'patch' | 'bytes'
  readonly answers?: 'bytes'
  readonly key?: true
  readonly reads?: true
  readonly paged?: true
  readonly anonymous?: true
}

/** What any call may have. */
interface AnyCall extends Call {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly ifMatch?: number | string
  readonly idempotencyKey?: string
  readonly stepUp?: string
  readonly contentRange?: string
  readonly range?: string
}

export function openClient(options: ClientOptions): Operations {
  const functions = Object.entries<Way>(operations).map(([name, way]) => {
    const call = (given: AnyCall = {}) => perform(options, way, given)
    return [name, way.paged ? Object.assign(call, { each: (given: AnyCall = {}) => rows(call, given) }) : call]
  })
  return Object.fromEntries(functions) as Operations
}

async function* rows(call: (given: AnyCall) => Promise<unknown>, given: AnyCall): AsyncGenerator<unknown> {
  let cursor: string | null | undefined = given.query?.['cursor'] as string | undefined
  do {
    // Lists that could answer everything at once answer pages when a size is asked for.
    const query = { size: 100, ...given.query, ...(cursor ? { cursor } : {}) }
    const page = (await call({ ...given, query })) as { data: readonly unknown[]; next_cursor?: string | null }
    yield* page.data
    cursor = page.next_cursor
  } while (cursor)
}

async function perform(options: ClientOptions, way: Way, call: AnyCall): Promise<unknown> {
  const key = way.key ? (call.idempotencyKey ?? crypto.randomUUID()) : undefined
  const mayRepeat = way.reads === true || key !== undefined
  const attempts = mayRepeat ? (options.attempts ?? 4) : 1
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send(options, way, call, key).catch((error: unknown) => {
      if (call.signal?.aborted) throw error
      return new NotAnswered(`${way.method} ${way.path} was not answered`, undefined, { cause: error })
    })
    const isOver = answer instanceof Response && !repeated.has(answer.status)
    if (isOver || attempt >= attempts) return outcomeOf(way, answer)
    await pause(waitMs(answer, attempt), call.signal)
  }
}

const repeated: ReadonlySet<number> = new Set([429, 502, 503, 504])
const mediaTypes = {
  json: 'application/json',
  patch: 'application/merge-patch+json',
  bytes: 'application/octet-stream',
}

async function send(options: ClientOptions, way: Way, call: AnyCall, key: string | undefined): Promise<Response> {
  const { token, timeoutMs = 30_000, fetch: fetching = fetch } = options
  const bearer = way.anonymous ? undefined : typeof token === 'function' ? await token() : token
  const headers: Record<string, string> = { accept: 'application/json, application/problem+json' }
  if (bearer !== undefined) headers['authorization'] = `Bearer ${bearer}`
  if (key !== undefined) headers['idempotency-key'] = key
  if (call.ifMatch !== undefined)
    headers['if-match'] = typeof call.ifMatch === 'number' ? `"${call.ifMatch}"` : call.ifMatch
  if (call.stepUp !== undefined) headers['x-service-step-up'] = call.stepUp
  if (call.contentRange !== undefined) headers['content-range'] = call.contentRange
  if (call.range !== undefined) headers['range'] = call.range
  if (way.sends) headers['content-type'] = mediaTypes[way.sends]
  const body = way.sends === 'bytes' ? (call.body as Blob) : way.sends ? writeJson(call.body) : undefined
  const timeout = AbortSignal.timeout(timeoutMs)
  return fetching(addressOf(options.url, way.path, call), {
    method: way.method,
    headers,
    redirect: 'error', // no redirect of svc's is one, and another host must not get the token
    signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
    ...(body === undefined ? {} : { body }),
  })
}

function addressOf(url: string, path: string, { params = {}, query = {} }: AnyCall): string {
  const place = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const asked = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) asked.set(name, String(value))
  return `${url.replace(/\/+$/, '')}/api/v1${place}${asked.size === 0 ? '' : `?${asked}`}`
}

async function outcomeOf({ method, path, answers }: Way, answer: Response | NotAnswered): Promise<unknown> {
  if (answer instanceof NotAnswered) throw answer
  if (answer.ok && answers === 'bytes') return answer
  const text = await answer.text()
  if (answer.ok) return text === '' ? undefined : readJson(text)
  if (answer.headers.get('content-type')?.startsWith('application/problem+json'))
    throw new Refused(readJson(text) as Problem, answer.status, answer.headers)
  throw new NotAnswered(`${method} ${path} was answered with ${answer.status}, and not by svc`, answer.status)
}

const longestWaitMs = 30_000

/** What the answer asks for, otherwise twice as long each time, and not all clients at once. */
function waitMs(answer: Response | NotAnswered, attempt: number): number {
  const asked = answer instanceof Response ? Number(answer.headers.get('retry-after') ?? Number.NaN) : Number.NaN
  const wait = Number.isFinite(asked) ? asked * 1000 : 250 * 2 ** (attempt - 1)
  return Math.min(wait, longestWaitMs) * (1 + Math.random() / 4)
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
