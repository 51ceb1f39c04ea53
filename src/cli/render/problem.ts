/** Problems in words: what happened, what to do, and each member that violates a rule. */
import type { Problem, Violation } from '../../core/contract/problem.ts'
import { problems } from '../../core/contract/problem.ts'
import { printable } from './printable.ts'

type Params = Readonly<Record<string, unknown>>

/** The lines of a problem: one for the problem, then one for each violation. An unknown code of a newer server is printed as it is. */
export function problemLines(problem: Problem): string[] {
  const { detail, remedy } = wordsOf(problem)
  return [
    printable([detail, remedy].filter(Boolean).join(' ')),
    ...(problem.errors ?? []).map((violation) => printable(`  ${violationLine(violation)}`)),
    ...(problem.params['more'] === true ? ['  … and more'] : []),
  ]
}

/** A problem in words: what happened, and what to do about it. */
export function wordsOf(problem: Problem): { readonly detail: string; readonly remedy?: string } {
  const row = (problems as Readonly<Record<string, { says: string; remedy?: string } | undefined>>)[problem.code]
  const detail = row ? filled(row.says, problem.params) : `The server refused the request: ${problem.code}.`
  // A terminal has neither a path nor JSON: the lines below say it in the words of the command.
  const isNamed = problem.code === 'request.malformed' && (problem.errors?.length ?? 0) > 0
  const advice = isNamed ? problems['request.invalid'].remedy : row?.remedy
  const wait = problem.headers['retry-after']
  const said = advice === undefined ? '' : filled(advice, problem.params)
  // A header is nothing that a terminal shows.
  const timed = wait === undefined ? said : said.replace('as long as Retry-After says', `${wait} s`)
  const remedy = timed === '' ? [] : [timed]
  const pause = wait === undefined || problem.status !== 429 || timed !== said ? [] : [`Try again in ${wait} s.`]
  const toDo = [...remedy, ...pause].join(' ')
  return { detail, ...(toDo === '' ? {} : { remedy: toDo }) }
}

/** A violation as one line: its place, and the rule in words. */
function violationLine({ pointer, parameter, code, params }: Violation): string {
  const where = pointer ?? parameter ?? ''
  return `${where === '' ? 'the body' : where}  ${ruleInWords(code, params)}`
}

/** The violated rule in words, without the value. */
export function ruleInWords(code: string, params: Params = {}): string {
  const words = rules[code]
  if (words) return words(params)
  const details = Object.entries(params).map(([name, value]) => `${name} ${shown(value)}`)
  return `violates the rule ${code}${details.length > 0 ? ` (${details.join(', ')})` : ''}`
}

const characters = (count: unknown) => `${shown(count)} ${Number(count) === 1 ? 'character' : 'characters'}`

const formats: Readonly<Record<string, string>> = {
  email: 'an e-mail address',
  uuid: 'an id (UUID)',
  uri: 'a URI, such as https://host.example.org/path',
  'date-time': 'a time such as 2026-01-31T12:00:00Z',
  etag: 'an entity tag in quotes',
  issuer: 'a URL such as https://sso.example.org, without query and fragment',
  domain: 'a domain such as example.org',
  redirect: 'an https URL without query and fragment, in the form in which a browser shows it',
}

/** The patterns of the contract that users see in messages. */
const patterns: Readonly<Record<string, string>> = {
  '^[a-z0-9][a-z0-9-]{2,39}$':
    'must have 3 to 40 lower-case letters, digits and dashes, and must not begin with a dash',
}

const rules: Readonly<Record<string, (params: Params) => string>> = {
  'member.required': () => 'is missing',
  'member.unknown': () => 'is not a known member',
  'body.not_taken': () => 'must be absent: this call takes no body',
  'json.syntax': () => 'is not JSON',
  'json.depth': ({ maximum }) => `is nested deeper than ${shown(maximum)} levels`,
  'json.values': ({ maximum }) => `has more than ${shown(maximum)} members and elements`,
  'query.members': ({ maximum }) => `has more than ${shown(maximum)} members`,
  'json.duplicate_member': () => 'has a member twice',
  'text.nul': () => 'must not contain a NUL character',
  'text.surrogate': () => 'must be well-formed Unicode',
  'text.too_short': ({ minimum }) => `must have at least ${characters(minimum)}`,
  'text.too_many_words': ({ maximum }) => `must have at most ${maximum} words`,
  'text.too_long': ({ maximum }) => `must have at most ${characters(maximum)}`,
  'text.minimum': ({ minimum }) => `must have at least ${characters(minimum)}`,
  'text.maximum': ({ maximum }) => `must have at most ${characters(maximum)}`,
  'list.minimum': ({ minimum }) => `must have at least ${shown(minimum)}`,
  'list.maximum': ({ maximum }) => `must have at most ${shown(maximum)}`,
  'value.minimum': ({ minimum }) => `must be at least ${shown(minimum)}`,
  'value.maximum': ({ maximum }) => `must be at most ${shown(maximum)}`,
  'value.type': ({ expected }) => `must be of the type ${shown(expected)}`,
  'value.pattern': ({ pattern }) => patterns[String(pattern)] ?? `must match ${shown(pattern)}`,
  'value.format': ({ format }) =>
    format === undefined
      ? 'has not the form that it must have'
      : `must be ${formats[String(format)] ?? `of the format ${shown(format)}`}`,
  'value.one_of': ({ values }) =>
    `must be one of ${Array.isArray(values) ? values.map(shown).join(', ') : shown(values)}`,
  'value.invalid': () => 'is not valid',
  'value.too_large': ({ maximum }) => `must have at most ${maximum} bytes as JSON`,
  'value.too_deep': ({ maximum }) => `must be nested at most ${maximum} levels deep`,
  'value.inexact': () => 'is a number that would not be kept exactly: send it as a text',
  'value.moment_range': ({ days_ahead }) => `must be in the future, by at most ${shown(days_ahead)} days`,
  'list.unique': () => 'must not contain a value twice',
  'cron.too_often': ({ minutes }) => `must leave at least ${minutes} minutes between two runs`,
  'member.conflicts': ({ with: others }) =>
    `cannot be given together with ${Array.isArray(others) ? others.map(shown).join(' and ') : shown(others)}`,
  'reference.unknown': () => 'refers to something that does not exist',
  'reference.itself': () => 'must not refer to itself',
  'container.is_hub': () => 'refers to a hub, but items belong to collections',
  'comment.is_reply': () => 'refers to a reply, but only a comment that replies to none can be replied to',
  'value.not_taken': () => 'is not allowed for this kind',
  'provider.public': () => 'must be INVITED_ONLY: anybody can have an account at that provider',
  'provider.no_directories': () => 'must be empty, because directories of this provider are not supported; use domains',
  'file.unusable': () => 'refers to a file that cannot be read',
  'password.lowercase': () => 'must have a lower-case letter',
  'password.uppercase': () => 'must have an upper-case letter',
  'password.digit': () => 'must have a digit',
  'password.symbol': () => 'must have a character that is neither a letter nor a digit',
  'password.used_before': () => 'must differ from earlier passwords of the account',
  'password.common': () => 'is a common password',
  'password.context': () => 'consists largely of a name or an address of the account or the workspace',
  'slug.reserved': () => 'is reserved; choose another one',
  'locale.unknown': () => 'is not a known locale, such as en or de-CH',
  'time_zone.unknown': () => 'is not a known time zone, such as UTC or Europe/Zurich',
}

const filled = (text: string, params: Params) =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => (params[name] === undefined ? whole : shown(params[name])))

const shown = (value: unknown) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value))
