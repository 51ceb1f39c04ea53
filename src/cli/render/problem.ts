/** Problems in words: what happened, what to do, and each member that breaks its rule. */
import type { Problem, Violation } from '../../core/contract/problem.ts'
import { problems } from '../../core/contract/problem.ts'
import { printable } from './printable.ts'

type Params = Readonly<Record<string, unknown>>

/** The lines of a problem: one that says it, then one for each violation. A code of a newer server is told as it is. */
export function problemLines(problem: Problem): string[] {
  const row = (problems as Readonly<Record<string, { says: string; remedy?: string } | undefined>>)[problem.code]
  const says = row ? filled(row.says, problem.params) : `The server refuses: ${problem.code}.`
  const remedy = row?.remedy === undefined ? [] : [filled(row.remedy, problem.params)]
  const wait = problem.headers['retry-after']
  const pause = wait === undefined || problem.status !== 429 ? [] : [`Try again in ${wait} s.`]
  return [
    printable([says, ...remedy, ...pause].join(' ')),
    ...(problem.errors ?? []).map((violation) => printable(`  ${violationLine(violation)}`)),
    ...(problem.params['more'] === true ? ['  … and more'] : []),
  ]
}

/** A violation as one line: where, and the rule in words. */
function violationLine({ pointer, parameter, code, params }: Violation): string {
  const where = pointer ?? parameter ?? ''
  return `${where === '' ? 'the body' : where}  ${ruleInWords(code, params)}`
}

/** The rule that is broken, in words; never the value. */
export function ruleInWords(code: string, params: Params = {}): string {
  const words = rules[code]
  if (words) return words(params)
  const details = Object.entries(params).map(([name, value]) => `${name} ${shown(value)}`)
  return `breaks the rule ${code}${details.length > 0 ? ` (${details.join(', ')})` : ''}`
}

const characters = (count: unknown) => `${shown(count)} ${Number(count) === 1 ? 'character' : 'characters'}`

const formats: Readonly<Record<string, string>> = {
  email: 'an e-mail address',
  uuid: 'an id (UUID)',
  uri: 'a URI, such as https://host.example.org/path',
  'date-time': 'a moment like 2026-01-31T12:00:00Z',
  etag: 'an entity tag in quotes',
  issuer: 'an address like https://sso.example.org, without query and fragment',
  domain: 'a domain like example.org',
  redirect: 'an https address without query and fragment, written as a browser writes it',
}

/** Patterns of the contract that people meet. */
const patterns: Readonly<Record<string, string>> = {
  '^[a-z0-9][a-z0-9-]{2,39}$': 'must have 3 to 40 lower-case letters, digits and dashes, and not begin with a dash',
}

const rules: Readonly<Record<string, (params: Params) => string>> = {
  'member.required': () => 'is missing',
  'member.unknown': () => 'is not known here',
  'body.not_taken': () => 'is not taken by this call',
  'json.syntax': () => 'is not JSON',
  'json.depth': ({ maximum }) => `is nested deeper than ${shown(maximum)} levels`,
  'json.values': ({ maximum }) => `has more than ${shown(maximum)} members and elements`,
  'query.members': ({ maximum }) => `has more than ${shown(maximum)} members`,
  'json.duplicate_member': () => 'names a member twice',
  'text.nul': () => 'must not hold a NUL character',
  'text.surrogate': () => 'must be well-formed Unicode',
  'text.too_short': ({ minimum }) => `must have at least ${characters(minimum)}`,
  'text.too_long': ({ maximum }) => `must have at most ${characters(maximum)}`,
  'text.minimum': ({ minimum }) => `must have at least ${characters(minimum)}`,
  'text.maximum': ({ maximum }) => `must have at most ${characters(maximum)}`,
  'list.minimum': ({ minimum }) => `must have at least ${shown(minimum)}`,
  'list.maximum': ({ maximum }) => `must have at most ${shown(maximum)}`,
  'value.minimum': ({ minimum }) => `must be at least ${shown(minimum)}`,
  'value.maximum': ({ maximum }) => `must be at most ${shown(maximum)}`,
  'value.type': ({ expected }) => `must be of the type ${shown(expected)}`,
  'value.pattern': ({ pattern }) => patterns[String(pattern)] ?? `must match ${shown(pattern)}`,
  'value.format': ({ format }) => `must be ${formats[String(format)] ?? `of the format ${shown(format)}`}`,
  'value.one_of': ({ values }) =>
    `must be one of ${Array.isArray(values) ? values.map(shown).join(', ') : shown(values)}`,
  'value.invalid': () => 'is not valid',
  'value.moment_range': ({ days_ahead }) => `must lie ahead, by at most ${shown(days_ahead)} days`,
  'list.unique': () => 'must name each one once',
  'member.conflicts': ({ with: others }) =>
    `cannot be given together with ${Array.isArray(others) ? others.map(shown).join(' and ') : shown(others)}`,
  'reference.unknown': () => 'names nothing that is there',
  'reference.itself': () => 'must not name the thing itself',
  'container.is_hub': () => 'names a hub, and items stand in collections',
  'value.not_taken': () => 'is not taken for a thing of this kind',
  'provider.public': () => 'must be INVITED_ONLY: anybody can have an account at that provider',
  'provider.no_directories': () => 'is known of no directory at that provider; name domains',
  'file.unusable': () => 'names a file that cannot be read',
  'password.lowercase': () => 'must have a lower-case letter',
  'password.uppercase': () => 'must have an upper-case letter',
  'password.digit': () => 'must have a digit',
  'password.symbol': () => 'must have a character that is no letter and no digit',
  'password.used_before': () => 'must not be one that the account had before',
  'password.common': () => 'is one of those that everybody tries first',
  'password.context': () => 'is made of a name or an address of the account or the workspace',
  'slug.reserved': () => 'is reserved by the product; choose another one',
  'locale.unknown': () => 'is no known locale, such as en or de-CH',
  'time_zone.unknown': () => 'is no known time zone, such as UTC or Europe/Zurich',
}

const filled = (text: string, params: Params) =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => (params[name] === undefined ? whole : shown(params[name])))

const shown = (value: unknown) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value))
