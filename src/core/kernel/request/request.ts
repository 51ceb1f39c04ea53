/**
 * Splits the values of a call into path, query, body and headers.
 *
 * It is separate from perform.ts because a command that uses HTTP needs the same, and must
 * not load the rules and the database for it.
 */
import type { Operation, Sent } from '../../contract/operation.ts'
import type { Raw } from './validation.ts'

export interface Request extends Raw {
  readonly idempotencyKey?: string | undefined
  readonly ifMatch?: string | undefined
  readonly stepUp?: string | undefined
}

/** What was sent by name, as path, query, body and headers. */
export function requestOf<O extends Operation>(operation: O, sent: Sent<O>): Request {
  const {
    idempotencyKey,
    ifMatch,
    stepUp: proof,
    body,
    ...members
  } = sent as Record<string, unknown> & Sent<Operation> & { body?: unknown }
  const named = (schema: Operation['params']) =>
    Object.fromEntries(
      Object.keys(schema?.shape ?? {})
        .filter((name) => members[name] !== undefined)
        .map((name) => [name, members[name]]),
    )
  return {
    params: named(operation.params),
    query: named(operation.query),
    body,
    idempotencyKey,
    ifMatch,
    stepUp: proof,
  }
}
