/**
 * A settings document as text: YAML 1.2, or JSON, which is a subset of it.
 *
 * The result is either the whole document, or each of its faults as one line. Aliases are
 * refused, because a few aliases can stand for a billion nodes. Integers of 64 bits stay exact.
 * Needs no database: the command line reads files with it too.
 *
 * Spec: decisions 4, InstanceSettings.
 */
import type { z } from 'zod'
import type { Violation } from '../../contract/problem.ts'
import { InstanceSettingsRequest, type SettingsDocument } from '../../contract/settings/operations.ts'
import { reporting, violationsOf } from '../../kernel/request/violations.ts'

/** The document that the text contains, or each of its faults. */
export async function parseSettings(
  text: string,
): Promise<{ document: SettingsDocument } | { faults: readonly string[] }> {
  const { parseDocument } = await import('yaml') // a daemon without a settings file does not need it
  const parsed = parseDocument(text, {
    version: '1.2',
    intAsBigInt: true,
    uniqueKeys: true,
    strict: true,
    prettyErrors: true,
  })
  if (parsed.errors.length > 0)
    return { faults: parsed.errors.map(({ message }) => message.split('\n')[0]?.replace(/:$/, '') ?? '') }
  let value: unknown
  try {
    value = exact(parsed.toJS({ maxAliasCount: 0 }))
  } catch {
    return { faults: ['it has aliases, which are not read'] }
  }
  if (value === null) return { faults: ['it is empty; write {} to decide nothing'] }
  const checked = InstanceSettingsRequest.safeParse(value, reporting)
  return checked.success
    ? { document: decisionsAlone(checked.data) }
    : { faults: violationsOf(checked.error).map(faultLine) }
}

/** Converts YAML's integers to numbers if they are safe integers, as in JSON bodies. */
function exact(value: unknown): unknown {
  if (typeof value === 'bigint')
    return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
  if (Array.isArray(value)) return value.map(exact)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, exact(member)]))
}

/** `/sign_in/methods/value/0: value.one_of (values PASSWORD, PROVIDER)` */
export function faultLine({ pointer, code, params }: Violation): string {
  const said = Object.entries(params).map(
    ([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : String(value)}`,
  )
  return `${pointer === '' || pointer === undefined ? 'the document' : pointer}: ${code}${said.length > 0 ? ` (${said.join(', ')})` : ''}`
}

/** The decisions, without the members that only GET answers: source, enforcement, version. */
export function decisionsAlone(body: z.output<typeof InstanceSettingsRequest>): SettingsDocument {
  const { source: _, is_enforced_from_file: __, version: ___, ...document } = body
  return document
}
