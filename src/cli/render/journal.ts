/** Journal entries, one line each: when, what, on which workspace, by whom, and the details. */
import type { JournalEntry } from '../../core/contract/journal/operations.ts'
import { inLines } from './details.ts'
import { moment } from './moment.ts'
import { paramsInWords } from './params.ts'
import { printable } from './printable.ts'

/** What an account is called; undefined where its id is all that is known. */
export type NameOf = (accountId: string) => string | undefined

/** As wide as all but a few actions; a wider one moves its own line. */
const actionWidth = 28
/** Columns before the details. */
const beside = 98
/** Less room than this beside the others, and details are on lines of their own. */
const narrowest = 24

interface Told {
  readonly when: string
  readonly action: string
  readonly on: string
  readonly by: string
  readonly details: readonly string[]
}

/** `width` in columns of the terminal; 0 or undefined breaks nothing. Where the details have no room beside the others, those after the action go below. */
function line({ when, action, on, by, details }: Told, width: number | undefined): string {
  const first = `${when.padEnd(26)}  ${action.padEnd(actionWidth)}`
  const before = printable(`${first}  ${on.padEnd(16)}  ${by.padEnd(20)}  `)
  const more = printable(details.join('  '))
  if (!width) return (before + more).trimEnd()
  const isBelow = width - beside < narrowest || (before.length > beside && before.length + more.length > width)
  if (!isBelow) return (before + inLines(more, width - beside).join(`\n${' '.repeat(beside)}`)).trimEnd()
  const below = inLines(printable([on, by, ...details].join('  ')), width - 2)
  return [printable(first).trimEnd(), ...below.map((one) => `  ${one}`)].join('\n')
}

/** `width` in columns of the terminal; undefined breaks nothing. */
export const journalHead = (width = process.stdout.columns) =>
  line({ when: 'WHEN', action: 'ACTION', on: 'ON', by: 'BY', details: ['DETAILS'] }, width)

export function journalLine(
  { at, action, actor, tenant, subject, params }: JournalEntry,
  nameOf: NameOf,
  width = process.stdout.columns,
): string {
  const by = actor.kind === 'RECOVERY' ? recoveredBy(params) : byAccount(actor, nameOf)
  const on = tenant?.slug ?? (subject ? `${subject.kind} ${nameOf(subject.id) ?? subject.id}` : '-')
  const { os_user: _user, host: _host, ...told } = params
  return line({ when: moment(at), action, on, by, details: paramsInWords(told) }, width)
}

const byAccount = ({ kind, account_id }: JournalEntry['actor'], nameOf: NameOf) =>
  account_id === null ? kind : (nameOf(account_id) ?? `${kind} ${account_id}`)

const recoveredBy = (params: Readonly<Record<string, unknown>>) =>
  `RECOVERY ${String(params['os_user'] ?? '?')}@${String(params['host'] ?? '?')}`
