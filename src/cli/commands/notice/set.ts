import { Args, Flags } from '@oclif/core'
import {
  type InstallationNotice,
  noticeOperations,
  type Severity,
  severities,
} from '../../../core/contract/operators/notice.ts'
import { CallerCommand } from '../../base-command.ts'
import { drawnNotice } from '../../render/notice.ts'

export default class NoticeSet extends CallerCommand {
  static override summary = 'Say something to everybody who signs in'
  static override description =
    'Every account is answered it among its emergency notices, also while it lacks a demanded second factor. It takes the place of the notice before.'
  static override examples = [
    '<%= config.bin %> notice set "Maintenance on Sunday, 06:00 to 08:00 UTC"',
    '<%= config.bin %> notice set "Mail is down" --severity WARNING --until 2030-01-01T12:00:00Z',
    '<%= config.bin %> notice set "We restored last night\'s state" --severity CRITICAL --recovery',
  ]
  static override args = { message: Args.string({ ignoreStdin: true, required: true, description: 'what to say' }) }
  static override flags = {
    severity: Flags.string({ summary: 'How bad it is.', options: [...severities], default: 'INFO' }),
    from: Flags.string({ summary: 'Since when it is shown; without it at once.', helpValue: 'MOMENT' }),
    until: Flags.string({ summary: 'Until when it is shown; without it until it is cleared.', helpValue: 'MOMENT' }),
  }

  async run(): Promise<InstallationNotice> {
    const { args, flags } = await this.parse(NoticeSet)
    const { from, until } = flags
    const caller = await this.open(flags)
    const severity = flags.severity as Severity
    const body = { message: args.message, severity, ...(from && { from }), ...(until && { until }) }
    const notice = await caller.call(noticeOperations.putNotice, { body })
    await this.show(() => drawnNotice(notice))
    this.tell(`To end it: ${this.following('notice clear', flags)}`)
    return notice
  }
}
