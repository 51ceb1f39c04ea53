/** What the operators say to everybody, for people. */
import type { InstallationNotice } from '../../core/contract/operators/notice.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'

export function drawnNotice({ message, severity, from, until, set_at }: InstallationNotice): string {
  if (message === null) return 'There is no notice.'
  return details([
    ['message', message],
    ['severity', severity],
    ['shown from', from === null ? 'since it was set' : moment(from)],
    ['until', until === null ? 'it is cleared' : moment(until)],
    ['set', moment(set_at)],
  ])
}
