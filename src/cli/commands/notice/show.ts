import { type InstallationNotice, noticeOperations } from '../../../core/contract/operators/notice.ts'
import { CallerCommand } from '../../base-command.ts'
import { drawnNotice } from '../../render/notice.ts'

export default class NoticeShow extends CallerCommand {
  static override summary = 'Show what the operators say to everybody'
  static override examples = ['<%= config.bin %> notice show', '<%= config.bin %> notice show --recovery']

  async run(): Promise<InstallationNotice> {
    const { flags } = await this.parse(NoticeShow)
    const caller = await this.open(flags)
    const notice = await caller.call(noticeOperations.getNotice, {})
    await this.show(() => drawnNotice(notice))
    return notice
  }
}
