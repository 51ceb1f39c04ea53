import { Args, Flags } from '@oclif/core'
import { identityProviderOperations } from '../../../core/contract/providers/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { findProvider, shownAs } from '../../find/identity-providers.ts'
import { confirmByName } from '../../input/prompts.ts'
import { passwordFlags } from '../../input/secret-input.ts'

export default class IdentityProvidersRemove extends CallerCommand {
  static override summary = 'Remove an identity provider whose offer has ended, or that no workspace has on'
  static override description =
    'Its secret and the connections between people and it are forgotten, and are not restored by offering it again; ' +
    'accounts and their live sessions stay. Your password is asked for once more.'
  static override examples = ['<%= config.bin %> identity-providers remove "Acme SSO" --confirm "Acme SSO"']
  static override args = {
    provider: Args.string({ ignoreStdin: true, required: true, description: "the provider's name or id" }),
  }
  static override flags = {
    confirm: Flags.string({ summary: 'Answers the question whether to remove it.', helpValue: 'NAME' }),
    ...passwordFlags,
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(IdentityProvidersRemove)
    const caller = await this.open(flags)
    const provider = await findProvider(caller, args.provider)
    const name = shownAs(provider)
    await confirmByName(name, `Who is connected with ${name} will not be found by it again.`, flags.confirm)
    await this.callProven(
      caller,
      identityProviderOperations.removeIdentityProvider,
      { providerId: provider.id, ifMatch: `"${provider.version}"` },
      flags,
    )
    this.tell(`Removed ${name}.`)
  }
}
