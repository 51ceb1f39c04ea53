import { aiProviderOperations, type OfferedAiModel } from '../../../core/contract/ai/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<OfferedAiModel>[] = [
  { head: 'NAME', cell: (model) => model.display_name },
  { head: 'PROCESSOR', cell: (model) => model.processor },
  { head: 'JURISDICTION', cell: (model) => model.jurisdiction, whole: true },
  { head: 'KIND', cell: (model) => model.kind },
  { head: 'KEY', cell: (model) => (model.has_api_key ? 'yes' : 'no') },
  { head: 'ON', cell: (model) => String(model.workspaces_on), align: 'right' },
  { head: 'ID', cell: (model) => model.id, whole: true },
]

export default class AiProvidersList extends CallerCommand {
  static override summary = 'List the AI models offered to every workspace'
  static override description = 'ON is the number of workspaces that have switched the model on.'
  static override examples = ['<%= config.bin %> ai-providers list']

  async run(): Promise<unknown> {
    const { flags } = await this.parse(AiProvidersList)
    const answer = await (await this.open(flags)).call(aiProviderOperations.listAiProviders, {})
    this.log(await table(answer.data, columns, 'No AI model is offered yet. `svc ai-providers add` offers one.'))
    return answer
  }
}
