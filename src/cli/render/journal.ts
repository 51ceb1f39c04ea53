/** Journal entries, one line each: when, what, on which workspace, by whom, and the details. */
import type { JournalEntry } from '../../core/contract/journal/operations.ts'
import { moment } from './moment.ts'
import { printable } from './printable.ts'

/** What an account is called; undefined where its id is all that is known. */
export type NameOf = (accountId: string) => string | undefined

/** As wide as all but a few actions; a wider one moves its own line. */
const actionWidth = 28

const line = (when: string, action: string, on: string, more: readonly string[]) =>
  printable([when.padEnd(26), action.padEnd(actionWidth), on.padEnd(16), ...more].join('  '))

export const journalHead = line('WHEN', 'ACTION', 'ON', ['BY'.padEnd(20), 'DETAILS'])

export function journalLine({ at, action, actor, tenant, subject, params }: JournalEntry, nameOf: NameOf): string {
  const by = actor.kind === 'RECOVERY' ? recoveredBy(params) : byAccount(actor, nameOf)
  const on = tenant?.slug ?? (subject ? `${subject.kind} ${nameOf(subject.id) ?? subject.id}` : '-')
  const details = Object.entries(params)
    .filter(([name]) => name !== 'os_user' && name !== 'host')
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return line(moment(at), action, on, [by.padEnd(20), ...details]).trimEnd()
}

const byAccount = ({ kind, account_id }: JournalEntry['actor'], nameOf: NameOf) =>
  account_id === null ? kind : (nameOf(account_id) ?? `${kind} ${account_id}`)

const recoveredBy = (params: Readonly<Record<string, unknown>>) =>
  `RECOVERY ${String(params['os_user'] ?? '?')}@${String(params['host'] ?? '?')}`
