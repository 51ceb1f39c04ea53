/** Journal entries, one line each: when, what, on which workspace, by whom, and the details. */
import type { JournalEntry } from '../../core/contract/journal/operations.ts'
import { moment } from './moment.ts'
import { printable } from './printable.ts'

export function journalLine({ at, action, actor, tenant, subject, params }: JournalEntry): string {
  const by = actor.kind === 'RECOVERY' ? recoveredBy(params) : [actor.kind, actor.account_id].filter(Boolean).join(' ')
  const what = tenant?.slug ?? (subject ? `${subject.kind} ${subject.id}` : '-')
  const details = Object.entries(params)
    .filter(([name]) => name !== 'os_user' && name !== 'host')
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return printable([moment(at), action.padEnd(22), what.padEnd(16), `by ${by}`, ...details].join('  '))
}

const recoveredBy = (params: Readonly<Record<string, unknown>>) =>
  `RECOVERY ${String(params['os_user'] ?? '?')}@${String(params['host'] ?? '?')}`
