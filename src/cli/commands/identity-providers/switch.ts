import { Args } from '@oclif/core'
import { providerOperations, type WorkspaceProvider } from '../../../core/contract/providers/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { byButton } from '../../find/identity-providers.ts'
import { pick } from '../../find/pick.ts'

export default class IdentityProvidersSwitch extends CallerCommand {
  static override summary = 'Switch an identity provider on or off for your workspace'
  static override description =
    "The provider is offered to every workspace, or is the workspace's own. You must be signed in to the workspace as an OWNER."
  static override examples = [
    '<%= config.bin %> identity-providers switch "Acme SSO" on',
    '<%= config.bin %> identity-providers switch "Acme SSO" off',
  ]
  static override args = {
    provider: Args.string({ ignoreStdin: true, required: true, description: "the provider's name or id" }),
    state: Args.string({ ignoreStdin: true, required: true, description: 'on or off', options: ['on', 'off'] }),
  }

  async run(): Promise<WorkspaceProvider> {
    const { args, flags } = await this.parse(IdentityProvidersSwitch)
    const caller = await this.open(flags)
    const { data } = await caller.call(providerOperations.listProviders, {})
    const provider = pick(data, args.provider, byButton)
    const switched = await caller.call(providerOperations.offerProvider, {
      providerId: provider.id,
      body: { offered: args.state === 'on' },
    })
    this.tell(`${switched.display_name ?? switched.issuer} is ${switched.offered ? 'on' : 'off'} for your workspace.`)
    return switched
  }
}
