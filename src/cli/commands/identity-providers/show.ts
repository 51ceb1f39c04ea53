import { Args } from '@oclif/core'
import { CallerCommand } from '../../base-command.ts'
import { described, findProvider } from '../../find/identity-providers.ts'

export default class IdentityProvidersShow extends CallerCommand {
  static override summary = 'Show one offered identity provider'
  static override examples = ['<%= config.bin %> identity-providers show "Acme SSO"']
  static override args = {
    provider: Args.string({ ignoreStdin: true, required: true, description: "the provider's name or id" }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(IdentityProvidersShow)
    const provider = await findProvider(await this.open(flags), args.provider)
    this.log(described(provider))
    return provider
  }
}
