import { Args, Flags } from '@oclif/core'
import { identityProviderOperations } from '../../../core/contract/providers/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { findProvider, shownAs } from '../../find/identity-providers.ts'
import { confirmByName } from '../../input/prompts.ts'
import { passwordFlags } from '../../input/secret-input.ts'

export default class IdentityProvidersRemove extends CallerCommand {
  static override summary = 'Remove an identity provider whose offer has ended, or that no workspace has on'
  static override description =
    'Deletes its secret and the connections between accounts and the provider; offering it again does not restore them. ' +
    'Accounts and their live sessions stay. Asks for your password again.'
  static override examples = ['<%= config.bin %> identity-providers remove "Acme SSO" --confirm "Acme SSO"']
  static override args = {
    provider: Args.string({ ignoreStdin: true, required: true, description: "the provider's name or id" }),
  }
  static override flags = {
    confirm: Flags.string({ summary: 'Confirm without a prompt: the name of the provider.', helpValue: 'NAME' }),
    ...passwordFlags,
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(IdentityProvidersRemove)
    const caller = await this.open(flags)
    const provider = await findProvider(caller, args.provider)
    const name = shownAs(provider)
    await confirmByName(name, `The connections between accounts and ${name} are deleted.`, flags.confirm)
    await this.callProven(
      caller,
      identityProviderOperations.removeIdentityProvider,
      { providerId: provider.id, ifMatch: `"${provider.version}"` },
      flags,
    )
    this.tell(`Removed ${name}.`)
  }
}
