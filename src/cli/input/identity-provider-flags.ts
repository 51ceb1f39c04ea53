/** What an identity provider's configuration is given as on the command line. */
import { Flags } from '@oclif/core'
import type { Configuration } from '../../core/contract/providers/operations.ts'
import { readSecret } from './secret-input.ts'

const list = (summary: string, helpValue: string) => Flags.string({ summary, helpValue, multiple: true })

export const configurationFlags = {
  name: Flags.string({ summary: 'The name on the button.' }),
  provisioning: Flags.option({
    summary: 'Whom it brings in: nobody new, who is of its domains or directories, or anybody.',
    options: ['INVITED_ONLY', 'DOMAINS', 'ANY'] as const,
  })(),
  domain: list('A domain whose addresses are admitted; may be repeated.', 'DOMAIN'),
  directory: list("An organisation that is admitted, in the provider's own identifiers; may be repeated.", 'ID'),
  'newcomer-role': Flags.option({
    summary: 'What newcomers are.',
    options: ['VIEWER', 'COMMENTER', 'MEMBER', 'ADMIN'] as const,
  })(),
  position: Flags.integer({ summary: 'Its place among the buttons.', min: 0, max: 99 }),
  'client-secret-file': Flags.string({
    summary: 'Read the client secret from a file of mode 0600.',
    helpValue: 'FILE',
  }),
  'client-secret-stdin': Flags.boolean({
    summary: 'Read the client secret from standard input.',
    exclusive: ['client-secret-file', 'password-stdin'],
  }),
}

interface Given {
  readonly name?: string | undefined
  readonly provisioning?: Configuration['provisioning'] | undefined
  readonly domain?: string[] | undefined
  readonly directory?: string[] | undefined
  readonly 'newcomer-role'?: Configuration['newcomer_role'] | undefined
  readonly position?: number | undefined
  readonly 'client-secret-file'?: string | undefined
  readonly 'client-secret-stdin'?: boolean | undefined
}

/** The members that were given; those that were not are left out. */
export async function givenConfiguration(flags: Given): Promise<Partial<Configuration>> {
  const secret = await readSecret(
    { file: flags['client-secret-file'], stdin: flags['client-secret-stdin'] },
    'client secret',
  )
  const entries = Object.entries({
    display_name: flags.name,
    provisioning: flags.provisioning,
    allowed_email_domains: flags.domain,
    allowed_directories: flags.directory,
    newcomer_role: flags['newcomer-role'],
    position: flags.position,
    client_secret: secret,
  })
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<Configuration>
}
