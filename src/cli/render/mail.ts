/** Mails that have not gone, for people. */
import type { Mail } from '../../core/contract/mail/operations.ts'
import { moment } from './moment.ts'
import type { Column } from './table.ts'

export const mailColumns: readonly Column<Mail>[] = [
  { head: 'QUEUED', cell: ({ queued_at }) => moment(queued_at) },
  { head: 'KIND', cell: ({ kind }) => kind },
  { head: 'WORKSPACE', cell: ({ tenant }) => tenant?.slug ?? '' },
  { head: 'STATE', cell: ({ state }) => state, whole: true },
  { head: 'ATTEMPTS', cell: ({ attempts }) => String(attempts), align: 'right' },
  { head: 'NEXT', cell: ({ next_attempt_at }) => (next_attempt_at === null ? '' : moment(next_attempt_at)) },
  { head: 'ID', cell: ({ id }) => id, whole: true },
  { head: 'LAST FAILURE', cell: ({ failure }) => failureInWords(failure) },
]

/** `the relay answered 550 to RCPT TO` */
export function failureInWords(failure: Mail['failure']): string {
  if (failure === null) return ''
  const { reason, step, status, error } = failure
  switch (reason) {
    case 'RELAY_UNREACHABLE':
      return `the relay was not reached${step === null ? '' : ` (at ${step})`}${error === null ? '' : `: ${error}`}`
    case 'RELAY_REFUSED':
      return `the relay answered ${status} to ${step}`
    case 'MAILBOX_REFUSED':
      return `the mailbox takes no mail: ${status} to ${step}`
    case 'ADDRESS_UNUSABLE':
      return 'the address of the account cannot be written in a mail'
    case 'INTERRUPTED':
      return 'the worker ended, or the attempt took too long'
    case 'OTHER':
      return error === null ? "see the daemon's log" : `${error}; see the daemon's log`
  }
}
