import { Args } from '@oclif/core'
import { Problem } from '../../../core/contract/problem.ts'
import { providerOperations, type WorkspaceProvider } from '../../../core/contract/providers/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'

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
    const found = data.filter(({ id, display_name }) => id === args.provider || display_name === args.provider)
    if (found.length > 1)
      throw new Failure('usage', `There are ${found.length} providers named "${args.provider}".`, 'Name its id.')
    const [provider] = found
    if (!provider) throw new Problem('not_found')
    const switched = await caller.call(providerOperations.offerProvider, {
      providerId: provider.id,
      body: { offered: args.state === 'on' },
    })
    this.tell(`${switched.display_name ?? switched.issuer} is ${switched.offered ? 'on' : 'off'} for your workspace.`)
    return switched
  }
}
