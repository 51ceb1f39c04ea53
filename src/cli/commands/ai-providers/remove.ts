import { Args, Flags } from '@oclif/core'
import { aiProviderOperations } from '../../../core/contract/ai/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { findModel } from '../../find/ai-providers.ts'
import { confirmByName } from '../../input/prompts.ts'

export default class AiProvidersRemove extends CallerCommand {
  static override summary = 'Remove an offered AI model and its key'
  static override description = 'Workspaces that switched it on get no answer until they choose another one.'
  static override examples = ['<%= config.bin %> ai-providers remove "Vendor, small" --confirm "Vendor, small"']
  static override args = {
    model: Args.string({ ignoreStdin: true, required: true, description: "the model's name or id" }),
  }
  static override flags = {
    confirm: Flags.string({ summary: 'Answers the question whether to remove it.', helpValue: 'NAME' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(AiProvidersRemove)
    const caller = await this.open(flags)
    const model = await findModel(caller, args.model)
    const inUse = model.workspaces_on === 1 ? '1 workspace uses it' : `${model.workspaces_on} workspaces use it`
    await confirmByName(model.display_name, `${inUse}; its key is forgotten.`, flags.confirm)
    await caller.call(aiProviderOperations.removeAiProvider, { providerId: model.id, ifMatch: `"${model.version}"` })
    this.tell(`Removed ${model.display_name}.`)
  }
}
