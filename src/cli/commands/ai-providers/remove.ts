import { Args, Flags } from '@oclif/core'
import { aiProviderOperations } from '../../../core/contract/ai/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { findModel } from '../../find/ai-providers.ts'
import { confirmByName } from '../../input/prompts.ts'

export default class AiProvidersRemove extends CallerCommand {
  static override summary = 'Remove an offered AI model and its key'
  static override description = 'A workspace that has switched it on gets no answers until it chooses another model.'
  static override examples = ['<%= config.bin %> ai-providers remove "Vendor, small" --confirm "Vendor, small"']
  static override args = {
    model: Args.string({ ignoreStdin: true, required: true, description: "the model's name or id" }),
  }
  static override flags = {
    confirm: Flags.string({ summary: 'Confirm without a prompt: the name of the model.', helpValue: 'NAME' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(AiProvidersRemove)
    const caller = await this.open(flags)
    const model = await findModel(caller, args.model)
    const inUse = model.workspaces_on === 1 ? '1 workspace uses it' : `${model.workspaces_on} workspaces use it`
    await confirmByName(model.display_name, `${inUse}. Its API key is deleted.`, flags.confirm)
    await caller.call(aiProviderOperations.removeAiProvider, { providerId: model.id, ifMatch: `"${model.version}"` })
    this.tell(`Removed ${model.display_name}.`)
  }
}
