import { type OverdueRequests, overdueOperations } from '../../../core/contract/privacy/overdue.ts'
import { CallerCommand } from '../../base-command.ts'
import { moment } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<OverdueRequests>[] = [
  { head: 'WORKSPACE', cell: ({ tenant }) => tenant.slug, whole: true },
  { head: 'OVERDUE', cell: ({ overdue }) => String(overdue), whole: true },
  { head: 'OLDEST DEADLINE', cell: ({ oldest_due_at }) => moment(oldest_due_at) },
]

export default class PrivacyOverdue extends CallerCommand {
  static override summary = 'List workspaces with requests about personal data whose deadline is past'
  static override description =
    'What is asked, and by whom, only the administrators of a workspace see: remind them. docs/runbooks/privacy.md says what they do.'
  static override examples = ['<%= config.bin %> privacy overdue']

  async run(): Promise<{ data: OverdueRequests[] }> {
    const { flags } = await this.parse(PrivacyOverdue)
    const answer = await (await this.open(flags)).call(overdueOperations.listOverdueRequests, {})
    await this.show(() => table(answer.data, columns, 'No request about personal data is overdue.'))
    return answer
  }
}
