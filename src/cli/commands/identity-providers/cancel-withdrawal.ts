import { Args } from '@oclif/core'
import { identityProviderOperations } from '../../../core/contract/providers/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { findProvider, shownAs } from '../../find/identity-providers.ts'
import { passwordFlags } from '../../input/secret-input.ts'

export default class IdentityProvidersCancelWithdrawal extends CallerCommand {
  static override summary = 'Cancel the withdrawal of an identity provider'
  static override description =
    'Works also after the offer has ended: the workspaces that had the provider on sign in through it again. ' +
    'Asks for your password again.'
  static override examples = ['<%= config.bin %> identity-providers cancel-withdrawal "Acme SSO"']
  static override args = {
    provider: Args.string({ ignoreStdin: true, required: true, description: "the provider's name or id" }),
  }
  static override flags = { ...passwordFlags }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(IdentityProvidersCancelWithdrawal)
    const caller = await this.open(flags)
    const { id: providerId } = await findProvider(caller, args.provider)
    const provider = await this.callProven(
      caller,
      identityProviderOperations.cancelIdentityProviderWithdrawal,
      { providerId },
      flags,
    )
    this.tell(`${shownAs(provider)} is offered.`)
    return provider
  }
}
