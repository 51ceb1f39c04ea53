/**
 * Reads a query: names and values, percent-decoded, and at most as many as any operation
 * can use.
 *
 * The router reads the query before a hook can refuse it. So an invalid query is returned as
 * one of two marks, which the first hook refuses.
 *
 * Spec: decisions 7, Bounds at the door.
 */
import { Problem } from '../core/contract/problem.ts'

const mostMembers = 50

type Query = Record<string, string | string[]>

const tooMany: Query = Object.freeze(Object.create(null))
const undecodable: Query = Object.freeze(Object.create(null))

/** A query as an object without a prototype; a repeated name has a list. */
export function readQuery(text: string): Query {
  const query: Query = Object.create(null)
  if (text === '') return query
  if (isMore(text)) return tooMany
  try {
    for (const part of text.split('&')) if (part !== '') add(query, part)
    return query
  } catch {
    return undecodable // a percent sign that does not begin a character
  }
}

/** Counts the members before anything is allocated for them. */
function isMore(text: string): boolean {
  let members = 1
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) members += 1
  return members > mostMembers
}

function add(query: Query, part: string): void {
  const equals = part.indexOf('=')
  const name = decoded(equals === -1 ? part : part.slice(0, equals))
  const value = equals === -1 ? '' : decoded(part.slice(equals + 1))
  const known = query[name]
  query[name] = known === undefined ? value : [...(Array.isArray(known) ? known : [known]), value]
}

const decoded = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))

/** The refusal of a query that was not read; undefined for any other. */
export function queryFault(query: unknown): Problem | undefined {
  if (query !== tooMany && query !== undecodable) return undefined
  const fault =
    query === tooMany
      ? { code: 'query.members', params: { maximum: mostMembers } }
      : { code: 'value.encoding', params: {} }
  return new Problem('request.malformed', {}, { errors: [{ parameter: '', ...fault }] })
}
