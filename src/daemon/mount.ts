/**
 * Every operation as a route: syntax → gate → perform → answer.
 *
 * There is no code for single operations; status, headers and media types follow from their
 * data. A path with a percent sign is always refused: no path of ours needs one, and a
 * decoded `%3A` would be a second spelling of an action.
 *
 * Spec: decisions 1, ETag, Merge-patch, Lists.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isOneTransaction, isWholeList, pagesOf, perform, type Request } from '../core/app/perform.ts'
import { boundsOf, type Operation } from '../core/contract/operation.ts'
import { Problem, refuse } from '../core/contract/problem.ts'
import type { Config } from '../core/kernel/config/config.ts'
import type { StoredAnswer } from '../core/kernel/request/idempotency.ts'
import { ticketParams } from '../core/kernel/request/ticket.ts'
import { receive, receiveParams } from '../core/kernel/request/validation.ts'
import { inside, spanned } from '../core/kernel/tracing/tracing.ts'
import type { Installation } from '../core/kernel/transaction/installation.ts'
import { anyone } from '../core/kernel/values/actor.ts'
import { isUnchanged } from '../core/kernel/values/etag.ts'
import { sendBytes } from './downloads.ts'
import { type Foreseen, type Gate, Misjudged, type SentTicket } from './gate.ts'
import { workspaceOfHost } from './host.ts'
import { type Prepared, prepared, type Turn } from './prepared.ts'
import type { Readers } from './readers.ts'
import { root, routeOf } from './routes.ts'
import type { SourceSeats } from './source-seats.ts'
import { sentBytes } from './uploads.ts'
import { sendWholeList } from './whole-list.ts'

/** The framework calls a handler back from the socket, where no span is open any more. */
export function mountOperations(app: FastifyInstance, served: Served, operations: readonly Operation[]): void {
  for (const operation of operations) {
    app.route({
      method: operation.method,
      url: routeOf(operation.path),
      bodyLimit: bodyLimitOf(served.installation.config, operation),
      config: { operation },
      ...(operation.deprecated ? { onRequest: saysSuccessor(operation.deprecated) } : {}),
      handler: operation.success.fixed
        ? fixedAnswer(served, operation)
        : (request, reply) => inside(request.span, () => answer(served, operation, request, reply)),
    })
  }
}

/** Also a refusal tells clients to use another operation. RFC 9745; RFC 5829. */
const saysSuccessor = ({ since, successor }: NonNullable<Operation['deprecated']>) => {
  const headers = {
    deprecation: `@${Date.parse(since) / 1000}`,
    link: `<${root}${successor}>; rel="successor-version"`,
  }
  return async (_: FastifyRequest, reply: FastifyReply) => void reply.headers(headers)
}

/** The bound of the operation, at most that of the configuration. */
const bodyLimitOf = ({ bodyLimitBytes }: Config, operation: Operation) =>
  Math.min(bodyLimitBytes, boundsOf(operation).bytes)

/** An answer that is the same for everybody is made once; callers still have the rate of the operation. */
function fixedAnswer({ installation, gate, turn }: Served, operation: Operation): Prepared {
  const send = prepared(async () => (await perform(installation, operation, anyone, {})).body ?? '', turn)
  return async (request, reply) => {
    await gate.admit(operation, request.raw)
    receive(operation, { params: request.params, query: request.query })
    return send(request, reply)
  }
}

interface Served {
  readonly installation: Installation
  readonly gate: Gate
  readonly seats: SourceSeats
  readonly readers: Readers
  readonly turn: Turn
}

async function answer(
  served: Served,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { installation, gate, seats, readers } = served
  receiveParams(operation, request.params)
  const sent = sentBy(installation, operation, request)
  const isWhole = isWholeList(operation, sent)
  const foreseen = isOneTransaction(operation) && !isWhole ? gate.foresee(operation, request.raw) : undefined
  const answered = foreseen && (await performForeseen(served, operation, { request, sent, foreseen }))
  if (answered) return send(request, reply, answered, readers)

  const actor = await spanned('gate', operation.id, () =>
    gate.admit(operation, request.raw, requestsOf(operation, request), ticketOf(operation, request)),
  )
  request.actor = actor
  readers.checkRoom(request)
  if (actor.kind === 'ANYONE')
    return send(
      request,
      reply,
      await seats.within(actor.source, () => {
        // The caller left while the call waited, so nobody reads the answer.
        if (request.raw.socket.destroyed) refuse('request.malformed')
        return perform(installation, operation, actor, sent)
      }),
      readers,
    )
  if (isWhole) return sendWholeList(reply, pagesOf(installation, operation, actor, sent), readers)
  return send(request, reply, await perform(installation, operation, actor, sent), readers)
}

interface ForeseenCall {
  readonly request: FastifyRequest
  readonly sent: Request
  readonly foreseen: Foreseen
}

/** Performs the call in the packet that looks its token up. Undefined: the guess about the caller was wrong, and nothing was done. */
async function performForeseen(
  { installation, gate, readers }: Served,
  operation: Operation,
  { request, sent, foreseen }: ForeseenCall,
): Promise<StoredAnswer | undefined> {
  if (!(await foreseen.pay(requestsOf(operation, request)))) return undefined
  try {
    request.actor = foreseen.actor
    readers.checkRoom(request)
    return await perform(installation, operation, foreseen.actor, sent, foreseen.entry)
  } catch (error) {
    if (foreseen.isConfirmed) throw error
    request.actor = undefined
    if (error instanceof Misjudged) return undefined
    // The call was refused before its token was looked up, and a refusal of the token comes first.
    if (error instanceof Problem) request.actor = await gate.admit(operation, request.raw, 0)
    throw error
  }
}

/** The ticket of a call that may come without a token. */
function ticketOf({ needs }: Operation, { query, params }: FastifyRequest): SentTicket | undefined {
  const { ticket: text, variant } = query as { readonly ticket?: unknown; readonly variant?: unknown }
  if (needs.caller !== 'workspace' || !needs.ticket || typeof text !== 'string') return undefined
  return { text, params: ticketParams(params as Record<string, string>, variant) }
}

const requestsOf = ({ counts }: Operation, { body }: FastifyRequest): number => counts?.(body) ?? 1

function sentBy(installation: Installation, operation: Operation, request: FastifyRequest): Request {
  const { headers } = request
  return {
    params: request.params,
    query: member('query', installation, operation, request),
    ...(operation.takes === 'bytes'
      ? { bytes: sentBytes(request) }
      : { body: member('body', installation, operation, request) }),
    idempotencyKey: one(headers['idempotency-key']),
    ifMatch: one(headers['if-match']),
    stepUp: one(headers['x-service-step-up']),
  }
}

/** Node joins a repeated header with a comma, which no value of ours contains; If-Match is a list in any case. */
const one = (value: string | string[] | undefined) => (Array.isArray(value) ? value.join(', ') : value)

/** A member of the request, with the workspace that its host names where the operation takes one from there and none was sent. */
function member(name: 'query' | 'body', { config }: Installation, { workspaceIn }: Operation, request: FastifyRequest) {
  const sent = request[name]
  const workspace = workspaceIn === name ? workspaceOfHost(config, request.headers.host) : undefined
  const takesOne = workspace !== undefined && typeof sent === 'object' && sent !== null && !Array.isArray(sent)
  return takesOne ? { workspace, ...sent } : sent
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body, bytes }: StoredAnswer,
  readers: Readers,
): FastifyReply | Promise<FastifyReply> {
  if (bytes) return sendBytes(request, reply, bytes, readers)
  const etag = headers['etag']
  reply.headers(headers).header('cache-control', 'no-store')
  const reads = request.method === 'GET' || request.method === 'HEAD'
  if (reads && etag !== undefined && isUnchanged(request.headers['if-none-match'], etag)) return reply.code(304).send()
  reply.code(status)
  return body === undefined ? reply.send() : reply.header('content-type', 'application/json; charset=utf-8').send(body)
}
