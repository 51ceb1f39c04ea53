import { Args, Flags } from '@oclif/core'
import { identityProviderOperations } from '../../../core/contract/providers/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { configurationOf, described, findProvider } from '../../find/identity-providers.ts'
import { configurationFlags, givenConfiguration } from '../../input/identity-provider-flags.ts'
import { passwordFlags } from '../../input/secret-input.ts'

export default class IdentityProvidersChange extends CallerCommand {
  static override summary = 'Change an offered identity provider'
  static override description =
    'What is not given stays as it is; the secret stays sealed. A list that is given replaces the one there was. ' +
    'Another issuer wants the client secret once more. Your password is asked for once more.'
  static override examples = [
    '<%= config.bin %> identity-providers change "Acme SSO" --domain acme.example --domain acme.test',
    '<%= config.bin %> identity-providers change "Acme SSO" --client-secret-file new.secret',
  ]
  static override args = {
    provider: Args.string({ ignoreStdin: true, required: true, description: "the provider's name or id" }),
  }
  static override flags = {
    issuer: Flags.string({ summary: 'Its new issuer.', helpValue: 'URL', dependsOn: ['client-id'] }),
    'client-id': Flags.string({ summary: 'What the provider knows this service as.', helpValue: 'ID' }),
    'no-domains': Flags.boolean({ summary: 'Admit no domain.', exclusive: ['domain'] }),
    'no-directories': Flags.boolean({ summary: 'Admit no organisation.', exclusive: ['directory'] }),
    'no-client-secret': Flags.boolean({
      summary: 'The provider asks for no secret; forget the sealed one.',
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
