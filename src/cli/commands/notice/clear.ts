import { type InstallationNotice, noticeOperations } from '../../../core/contract/operators/notice.ts'
import { CallerCommand } from '../../base-command.ts'

export default class NoticeClear extends CallerCommand {
  static override summary = 'Say nothing to everybody any more'
  static override examples = ['<%= config.bin %> notice clear', '<%= config.bin %> notice clear --recovery']

  async run(): Promise<InstallationNotice> {
    const { flags } = await this.parse(NoticeClear)
    const caller = await this.open(flags)
    const notice = await caller.call(noticeOperations.putNotice, { body: { message: null } })
    this.tell('There is no notice any more.')
    return notice
  }
}
