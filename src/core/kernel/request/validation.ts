/**
 * Validates a request and turns it into the values that a rule receives.
 *
 * An invalid path, query or header is 400 `request.malformed`; an invalid body is 422
 * `request.invalid`. Both name each wrong member and the violated rule, and never repeat the
 * value, which may be a password. In a body with many values, first-faults.ts runs before the
 * schema library, because the library always checks all values.
 *
 * Spec: Errors; decisions 1, Problems; 7, Bounds at the door.
 */
import type { z } from 'zod'
import type { Operation, SentBytes } from '../../contract/operation.ts'
import { Problem, type Violation } from '../../contract/problem.ts'
import { firstFaults } from './first-faults.ts'
import { reporting, violationsOf } from './violations.ts'

export interface Raw {
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
  /** For an operation that takes a file; there is no body then. */
  readonly bytes?: SentBytes | undefined
}

/** Parses path, query and body, in this order. Refuses request.malformed, request.invalid. */
export function receive(operation: Operation, raw: Raw): Record<string, unknown> {
  const sent = operation.takes === 'bytes' ? receiveBytes(raw) : receiveBody(operation, raw.body)
  return { ...receiveAddress(operation, raw), ...sent }
}

/** Checks the syntax of the path, before the caller is identified. Refuses request.malformed. */
export function receiveParams(operation: Operation, params: unknown): void {
  const parsed = operation.params?.safeParse(params, reporting)
  if (parsed && !parsed.success) throw malformed(violationsOf(parsed.error))
}

function receiveAddress(operation: Operation, raw: Raw): Record<string, unknown> {
  const params = operation.params?.safeParse(raw.params, reporting)
  if (params && !params.success) throw malformed(violationsOf(params.error))
  return { ...params?.data, ...receiveQuery(operation, raw.query) }
}

function receiveQuery({ query: schema }: Operation, query: unknown): Record<string, unknown> {
  if (!schema) {
    const names = Object.keys(query ?? {})
    if (names.length > 0)
      throw malformed(names.map((name) => ({ pointer: `/${name}`, code: 'member.unknown', params: {} })))
    return {}
  }
  const checked = check(schema, withNumbers(schema, query))
  if ('faults' in checked) throw malformed(checked.faults)
  return checked.data as Record<string, unknown>
}

function receiveBytes({ bytes }: Raw): { bytes: SentBytes } {
  if (!bytes) throw new Error('an operation that takes a file was called without one')
  return { bytes }
}

function receiveBody(operation: Operation, body: unknown): { body?: unknown } {
  if (!operation.body) {
    // An absent body and an empty one are the same; any other body is refused.
    const empty =
      body === undefined ||
      (typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0)
    if (empty) return {}
    throw new Problem('request.invalid', {}, { errors: [{ pointer: '', code: 'body.not_taken', params: {} }] })
  }
  const checked = check(operation.body, body)
  if ('faults' in checked) throw new Problem('request.invalid', {}, { errors: checked.faults })
  return { body: checked.data }
}

/** So few values that the library checks them all without a noticeable delay. */
const few = 100

/** The values as the schema reads them, or their faults in the order in which they were sent. */
function check(schema: z.ZodType, sent: unknown): { data: unknown } | { faults: readonly Violation[] } {
  const early = hasMoreThan(few, sent) ? firstFaults(schema, sent) : []
  if (early.length > 0) return { faults: early }
  const parsed = schema.safeParse(sent, reporting)
  if (parsed.success) return { data: parsed.data }
  const first = firstFaults(schema, sent)
  return { faults: first.length > 0 ? first : violationsOf(parsed.error) }
}

function hasMoreThan(most: number, sent: unknown): boolean {
  let left = most
  const count = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const member of Object.values(value)) {
      left -= 1
      if (left >= 0) count(member)
      else return
    }
  }
  count(sent)
  return left < 0
}

/** A query carries digits where the schema says a number; anything else stays text and is refused by the schema. */
function withNumbers(schema: z.ZodObject, query: unknown): unknown {
  if (typeof query !== 'object' || query === null) return query ?? {}
  const entries = Object.entries(query).map(([name, value]) => {
    const digits = typeof value === 'string' && /^[0-9]{1,15}$/.test(value)
    return [name, digits && isNumeric(schema.shape[name]) ? Number(value) : value]
  })
  return Object.fromEntries(entries)
}

function isNumeric(schema: unknown): boolean {
  const { def } = (schema ?? {}) as { def?: { type: string; innerType?: unknown } }
  return def?.type === 'number' || (def?.innerType !== undefined && isNumeric(def.innerType))
}

const malformed = (faults: readonly Violation[]) =>
  new Problem(
    'request.malformed',
    {},
    { errors: faults.map(({ pointer, ...rest }) => ({ parameter: pointer?.slice(1) ?? '', ...rest })) },
  )
