import { Args, Flags } from '@oclif/core'
import { identityProviderOperations } from '../../../core/contract/providers/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { described } from '../../find/identity-providers.ts'
import { configurationFlags, givenConfiguration } from '../../input/identity-provider-flags.ts'
import { passwordFlags } from '../../input/secret-input.ts'

export default class IdentityProvidersAdd extends CallerCommand {
  static override summary = 'Offer an identity provider to every workspace'
  static override description =
    'The daemon reads the discovery document of the issuer before it stores anything. Each workspace switches the provider on itself. ' +
    'The client secret is read from a file or standard input, sealed, and never shown again. ' +
    'Asks for your password again.'
  static override examples = [
    '<%= config.bin %> identity-providers add https://sso.acme.example --client-id svc --client-secret-file svc.secret --name "Acme SSO" --domain acme.example --newcomer-role MEMBER',
    '<%= config.bin %> identity-providers add https://accounts.google.com --client-id 123.apps.example --client-secret-file google.secret --directory acme.example --provisioning DOMAINS',
  ]
  static override args = {
    issuer: Args.string({
      ignoreStdin: true,
      required: true,
      description: 'https://..., exactly as the provider writes it',
    }),
  }
  static override flags = {
    'client-id': Flags.string({
      summary: 'The client id of this service at the provider.',
      helpValue: 'ID',
      required: true,
    }),
    ...configurationFlags,
    ...passwordFlags,
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(IdentityProvidersAdd)
    const given = await givenConfiguration(flags)
    const caller = await this.open(flags)
    const provider = await this.callProven(
      caller,
      identityProviderOperations.createIdentityProvider,
      { body: { issuer: args.issuer, client_id: flags['client-id'], ...given } },
      flags,
    )
    this.log(described(provider))
    this.tell('Each workspace can now switch it on.')
    return provider
  }
}
