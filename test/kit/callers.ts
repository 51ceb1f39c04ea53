/**
 * The two ways to perform an operation, with one interface: over HTTP with a token, and directly on
 * the database. Both throw a refusal as the same Problem, so that one test body serves both.
 */

import type { Answer, Operation, Sent } from '../../src/core/contract/operation.ts'
import { Problem, type ProblemCode } from '../../src/core/contract/problem.ts'
import { readJson, writeJson } from '../../src/core/kernel/values/json.ts'
import type { SentArgs, TestInstallation } from './installation.ts'
import { hearRefusal } from './refusals-heard.ts'

export interface Caller {
  call<O extends Operation>(operation: O, ...sent: SentArgs<O>): Promise<Answer<O>>
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  /** Parsed; undefined where there is none. */
  readonly body: unknown
}

/** Directly on the database, as its operator. */
export const recoveryCaller = ({ asRecovery }: TestInstallation): Caller => ({ call: asRecovery })

/** Over HTTP with a token; undefined sends none. */
export const httpCaller = (url: string, token?: string): Caller => ({
  async call<O extends Operation>(operation: O, ...[sent]: SentArgs<O>) {
    const answer = await request(url, operation, sent ?? {}, token)
    if (answer.status >= 400) throw problemFrom(answer)
    return answer.body as Answer<O>
  },
})

/** One HTTP request for an operation, with any answer. */
export async function request(url: string, operation: Operation, sent: object, token?: string): Promise<HttpAnswer> {
  const { idempotencyKey, ifMatch, stepUp, body, ...members } = sent as Sent<Operation> & Record<string, unknown>
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...(stepUp === undefined ? {} : { 'x-service-step-up': stepUp }),
    ...(body === undefined
      ? {}
      : { 'content-type': operation.patch ? 'application/merge-patch+json' : 'application/json' }),
  }
  const address = addressOf(url, operation, members)
  const response = await fetch(address, {
    method: operation.method,
    headers,
    ...(body === undefined ? {} : { body: writeJson(body) }),
  })
  const text = await response.text()
  const answer = text === '' ? undefined : readJson(text)
  if (response.status >= 400) hearRefusal(operation.method, new URL(address).pathname, answer)
  return { status: response.status, headers: response.headers, body: answer }
}

function addressOf(url: string, { path, query }: Operation, members: Record<string, unknown>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(members[name]))
  const search = new URLSearchParams()
  for (const name of Object.keys(query?.shape ?? {}))
    if (members[name] !== undefined) search.set(name, String(members[name]))
  return `${url}${filled}${search.size > 0 ? `?${search}` : ''}`
}

/** The problem document as the Problem it was made from. */
function problemFrom({ status, headers, body }: HttpAnswer): Problem {
  const { code, params, errors } = body as { code: ProblemCode } & Pick<Problem, 'params' | 'errors'>
  const kept = Object.fromEntries([...headers].filter(([name]) => name !== 'x-request-id'))
  return new Problem(code, params, { status, headers: kept, ...(errors ? { errors } : {}) })
}
