/**
 * Every operation as a route: syntax → gate → perform → answer.
 *
 * Nothing is written per operation; status, headers and media types follow from its data.
 * A path with a percent sign is served nowhere: no path of ours needs one, and a decoded
 * `%3A` would reach an action under a second spelling.
 *
 * Spec: decisions 1, ETag, Merge-patch, Lists.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { StoredAnswer } from '../core/idempotency.ts'
import type { Installation } from '../core/installation.ts'
import type { Operation } from '../core/operation.ts'
import { isWholeList, pagesOf, perform, type Request } from '../core/perform.ts'
import { refuse } from '../core/problem.ts'
import { receiveParams } from '../core/validation.ts'
import { type Gate, workspaceOfHost } from './gate.ts'
import { routeOf } from './routes.ts'
import type { SourceSeats } from './source-seats.ts'
import { sendWholeList } from './whole-list.ts'

export function mountOperations(
  app: FastifyInstance,
  installation: Installation,
  { gate, seats }: Pick<Served, 'gate' | 'seats'>,
  operations: readonly Operation[],
): void {
  const served: Served = { installation, gate, seats }
  for (const operation of operations) {
    app.route({
      method: operation.method,
      url: routeOf(operation.path),
      config: { operation },
      handler: (request, reply) => answer(served, operation, request, reply),
    })
  }
}

interface Served {
  readonly installation: Installation
  readonly gate: Gate
  readonly seats: SourceSeats
}

async function answer(
  { installation, gate, seats }: Served,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  receiveParams(operation, request.params)
  const actor = await gate.admit(operation, request.raw)
  request.actor = actor
  const sent = sentBy(installation, operation, request)
  if (actor.kind === 'ANYONE')
    return send(
      request,
      reply,
      await seats.within(actor.source, () => {
        // Left while it waited: nobody reads the answer.
        if (request.raw.socket.destroyed) refuse('request.malformed')
        return perform(installation, operation, actor, sent)
      }),
    )
  if (isWholeList(operation, sent)) return sendWholeList(reply, pagesOf(installation, operation, actor, sent))
  return send(request, reply, await perform(installation, operation, actor, sent))
}

function sentBy(installation: Installation, operation: Operation, request: FastifyRequest): Request {
  const { headers } = request
  return {
    params: request.params,
    query: queryWithWorkspaceOfHost(installation, operation, request),
    body: withWorkspaceOfHost(installation, operation, request),
    idempotencyKey: one(headers['idempotency-key']),
    ifMatch: one(headers['if-match']),
    stepUp: one(headers['x-service-step-up']),
  }
}

/** Node joins a header that is sent twice with a comma, which no value of ours contains; If-Match is a list anyway. */
const one = (value: string | string[] | undefined) => (Array.isArray(value) ? value.join(', ') : value)

/** Signing in on a workspace's own host needs no slug in the body (decisions 2). */
const takeWorkspaceOfHost = new Set(['signIn', 'startOidc'])

/** Nor does asking how to sign in there. */
function queryWithWorkspaceOfHost(
  { config }: Installation,
  operation: Operation,
  { query, headers }: FastifyRequest,
): unknown {
  const workspace = operation.id === 'getSignInRules' ? workspaceOfHost(config, headers.host) : undefined
  return workspace === undefined ? query : { workspace, ...(query as object) }
}

function withWorkspaceOfHost(
  { config }: Installation,
  operation: Operation,
  { body, headers }: FastifyRequest,
): unknown {
  if (!takeWorkspaceOfHost.has(operation.id) || config.baseDomain === undefined) return body
  const workspace = workspaceOfHost(config, headers.host)
  const takesOne =
    workspace !== undefined &&
    typeof body === 'object' &&
    body !== null &&
    !Array.isArray(body) &&
    !('workspace' in body)
  return takesOne ? { ...body, workspace } : body
}

function send(request: FastifyRequest, reply: FastifyReply, { status, headers, body }: StoredAnswer): FastifyReply {
  const etag = headers['etag']
  reply.headers(headers).header('cache-control', 'no-store')
  const reads = request.method === 'GET' || request.method === 'HEAD'
  if (reads && etag !== undefined && isUnchanged(request.headers['if-none-match'], etag)) return reply.code(304).send()
  reply.code(status)
  return body === undefined ? reply.send() : reply.header('content-type', 'application/json; charset=utf-8').send(body)
}

/** RFC 9110, 13.1.2: a weak comparison, so `W/"3"` names version 3 as well. */
export function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
