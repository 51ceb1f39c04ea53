/** The flags for the configuration of an identity provider. */
import { Flags } from '@oclif/core'
import type { Configuration } from '../../core/contract/providers/operations.ts'
import { readSecret } from './secret-input.ts'

const list = (summary: string, helpValue: string) => Flags.string({ summary, helpValue, multiple: true })

export const configurationFlags = {
  name: Flags.string({ summary: 'The name on the sign-in button.' }),
  provisioning: Flags.option({
    summary: 'Who may create an account: only invited people, people of its domains or directories, or anybody.',
    options: ['INVITED_ONLY', 'DOMAINS', 'ANY'] as const,
  })(),
  domain: list('A domain whose addresses are admitted; may be given several times.', 'DOMAIN'),
  directory: list('An admitted organisation, by its id at the provider; may be given several times.', 'ID'),
  'newcomer-role': Flags.option({
    summary: 'The role of new accounts.',
    options: ['VIEWER', 'COMMENTER', 'MEMBER', 'ADMIN'] as const,
  })(),
  position: Flags.integer({ summary: 'The position of the sign-in button.', min: 0, max: 99 }),
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

/** Only the members that were given. */
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
