/**
 * Turns every failure into a problem document; this is the only place that sends one.
 *
 *    a rule's refusal, a violated constraint, a database away    problemOf (core)
 *    what Fastify itself refuses                                 by its error code, below
 *    anything else                                               500 `internal`; only the log has details
 *
 * Spec: Errors; decisions 1, Problems.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../core/contract/operation.ts'
import { Problem, problemBody, problemOf } from '../core/contract/problem.ts'
import { writeJson } from '../core/kernel/values/json.ts'

export const problemType = 'application/problem+json'

/** The media type of a file: what it is, its bytes say. */
export const bytesType = 'application/octet-stream'

/** The media type an operation's body has. */
export function mediaTypeOf(operation: Operation | undefined): string {
  if (operation?.takes === 'bytes') return bytesType
  return operation?.patch === 'merge' ? 'application/merge-patch+json' : 'application/json'
}

/** Refuses a body of another media type, and says which one is taken (RFC 5789, RFC 9110). */
export function wrongMediaType(operation: Operation | undefined): Problem {
  const accepted = mediaTypeOf(operation)
  const header =
    operation?.method === 'PATCH' ? 'accept-patch' : operation?.method === 'POST' ? 'accept-post' : 'accept'
  return new Problem('request.media_type', { accepted }, { headers: { [header]: accepted } })
}

/** The refusal an error stands for; undefined when the failure is ours. */
export function refusalOf(
  error: unknown,
  operation: Operation | undefined,
  bodyLimitBytes: number | undefined,
): Problem | undefined {
  const code = (error as { code?: unknown } | null)?.code
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem('request.too_large', { limit_bytes: bodyLimitBytes ?? 0 })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return wrongMediaType(operation)
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
    case 'FST_ERR_INVALID_URL':
    case 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE':
      return new Problem('request.malformed')
    case 'FST_ERR_HANDLER_TIMEOUT':
      return new Problem('service.unavailable')
    default:
      return problemOf(error)
  }
}

/** Sends the problem, with the headers that its status requires. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): void {
  request.refusal = problem.code
  reply
    .code(problem.status)
    .headers(problem.headers)
    .header('x-request-id', request.id)
    .header('content-type', problemType)
    .header('cache-control', 'no-store')
  const challenge = challengeOf(problem)
  if (challenge && !reply.hasHeader('www-authenticate')) reply.header('www-authenticate', challenge)
  if (problem.status === 503 && !reply.hasHeader('retry-after')) reply.header('retry-after', '1')
  // Sent as bytes, because the framework adds a charset to texts, and this media type has none.
  reply.send(Buffer.from(writeJson(problemBody(problem, request.id))))
}

/** A 401 always says how to authenticate (RFC 9110), and whether a new step-up is missing (RFC 9470). */
function challengeOf({ status, code }: Problem): string | undefined {
  if (code === 'auth.step_up_required') return 'Bearer error="insufficient_user_authentication", max_age=300'
  return status === 401 ? 'Bearer' : undefined
}
