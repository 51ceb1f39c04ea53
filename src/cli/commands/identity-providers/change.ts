import { Args, Flags } from '@oclif/core'
import { identityProviderOperations } from '../../../core/contract/providers/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { configurationOf, described, findProvider } from '../../find/identity-providers.ts'
import { configurationFlags, givenConfiguration } from '../../input/identity-provider-flags.ts'
import { passwordFlags } from '../../input/secret-input.ts'

export default class IdentityProvidersChange extends CallerCommand {
  static override summary = 'Change an offered identity provider'
  static override description =
    'Values without a flag stay as they are; the secret stays sealed. A list replaces the whole previous list. ' +
    'A new issuer needs the client secret again. Asks for your password again.'
  static override examples = [
    '<%= config.bin %> identity-providers change "Acme SSO" --domain acme.example --domain acme.test',
    '<%= config.bin %> identity-providers change "Acme SSO" --client-secret-file new.secret',
  ]
  static override args = {
    provider: Args.string({ ignoreStdin: true, required: true, description: "the provider's name or id" }),
  }
  static override flags = {
    issuer: Flags.string({ summary: 'The new issuer.', helpValue: 'URL', dependsOn: ['client-id'] }),
    'client-id': Flags.string({ summary: 'The client id of this service at the provider.', helpValue: 'ID' }),
    'no-domains': Flags.boolean({ summary: 'Remove all admitted domains.', exclusive: ['domain'] }),
    'no-directories': Flags.boolean({ summary: 'Remove all admitted organisations.', exclusive: ['directory'] }),
    'no-client-secret': Flags.boolean({
      summary: 'Delete the sealed secret; the provider needs none.',
      exclusive: ['client-secret-file', 'client-secret-stdin'],
    }),
    ...configurationFlags,
    ...passwordFlags,
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(IdentityProvidersChange)
    const given = await givenConfiguration(flags)
    const caller = await this.open(flags)
    const before = await findProvider(caller, args.provider)
    const provider = await this.callProven(
      caller,
      identityProviderOperations.changeIdentityProvider,
      {
        providerId: before.id,
        ifMatch: `"${before.version}"`,
        body: {
          ...configurationOf(before),
          ...(flags.issuer === undefined ? {} : { issuer: flags.issuer }),
          ...(flags['client-id'] === undefined ? {} : { client_id: flags['client-id'] }),
          ...(flags['no-domains'] ? { allowed_email_domains: [] } : {}),
          ...(flags['no-directories'] ? { allowed_directories: [] } : {}),
          ...(flags['no-client-secret'] ? { client_secret: null } : {}),
          ...given,
        },
      },
      flags,
    )
    this.log(described(provider))
    return provider
  }
}
