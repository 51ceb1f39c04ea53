import { Args } from '@oclif/core'
import { aiProviderOperations, type OfferedAiModelConfiguration } from '../../../core/contract/ai/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { givenBy, modelFlags } from '../../find/ai-providers.ts'
import { readSecret, secretOrAsk } from '../../input/secret-input.ts'
import { modelDetails } from '../../render/ai-model.ts'

export default class AiProvidersAdd extends CallerCommand {
  static override summary = 'Offer an AI model to every workspace'
  static override description =
    "Each workspace decides whether to switch the model on. The command asks for a vendor's API key, or reads it from " +
    'a file or standard input. The key is sealed and is never shown again. See docs/ai.md.'
  static override examples = [
    '<%= config.bin %> ai-providers add "Vendor, small" --kind vendor-compatible --base-url https://api.vendor.example/v1 --processor "Vendor Ltd" --jurisdiction eea --completion-model small-1 --api-key-file vendor.key',
    '<%= config.bin %> ai-providers add Ours --kind local-runtime --base-url http://10.0.0.5:11434 --processor "Acme Ltd" --jurisdiction self-hosted --completion-model llama3.2',
  ]
  static override args = {
    name: Args.string({ ignoreStdin: true, required: true, description: 'the name that workspaces see' }),
  }
  static override flags = modelFlags(true)

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(AiProvidersAdd)
    const source = { stdin: flags['api-key-stdin'], file: flags['api-key-file'] }
    const isVendor = flags.kind === 'vendor-compatible' && !flags['no-api-key']
    const key = isVendor ? await secretOrAsk(source, 'api-key', 'API key:') : await readSecret(source, 'api-key')
    const body = { display_name: args.name, ...givenBy(flags), ...(key === undefined ? {} : { api_key: key }) }
    const caller = await this.open(flags)
    const model = await caller.call(aiProviderOperations.offerAiProvider, { body: body as OfferedAiModelConfiguration })
    this.log(modelDetails(model))
    this.tell(`\nThe model is offered. Each workspace can now switch it on. Next: svc ai-providers test ${model.id}`)
    return model
  }
}
