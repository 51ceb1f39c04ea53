import { Args, Flags } from '@oclif/core'
import { aiProviderOperations, type OfferedAiModel } from '../../../core/contract/ai/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { findModel, givenBy, modelFlags } from '../../find/ai-providers.ts'
import { readSecret } from '../../input/secret-input.ts'
import { modelDetails } from '../../render/ai-model.ts'

export default class AiProvidersUpdate extends CallerCommand {
  static override summary = 'Change an offered AI model; without its flag a value stays as it is, the key too'
  static override examples = [
    '<%= config.bin %> ai-providers update "Vendor, small" --completion-model small-2',
    '<%= config.bin %> ai-providers update "Vendor, small" --api-key-file new.key',
  ]
  static override args = {
    model: Args.string({ ignoreStdin: true, required: true, description: "the model's name or id" }),
  }
  static override flags = {
    ...modelFlags(false),
    name: Flags.string({ summary: 'The new name that workspaces see.' }),
  }

  async run(): Promise<OfferedAiModel> {
    const { args, flags } = await this.parse(AiProvidersUpdate)
    const key = await readSecret({ stdin: flags['api-key-stdin'], file: flags['api-key-file'] }, 'api-key')
    const caller = await this.open(flags)
    const found = await findModel(caller, args.model)
    const { display_name, processor, kind, base_url, completion_model, embedding_model, jurisdiction } = found
    const model = await caller.call(aiProviderOperations.replaceAiProvider, {
      providerId: found.id,
      ifMatch: `"${found.version}"`,
      body: {
        ...{ processor, kind, base_url, completion_model, embedding_model, jurisdiction },
        display_name: flags.name ?? display_name,
        ...givenBy(flags),
        ...(flags['no-api-key'] ? { api_key: '' } : key === undefined ? {} : { api_key: key }),
      },
    })
    this.log(modelDetails(model))
    if (model.version === found.version) this.tell('Nothing changed: the model already had these values.')
    return model
  }
}
