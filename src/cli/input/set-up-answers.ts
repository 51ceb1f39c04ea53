/** The answers for the first run, from flags or from prompts that check them by the schema. */
import { Flags } from '@oclif/core'
import { setUpOperations } from '../../core/contract/auth/operations.ts'
import { Failure } from '../failure.ts'
import { checkNewPassword } from './new-password.ts'
import { askPassword, askText, isInteractive } from './prompts.ts'
import { checkOf } from './schema-check.ts'
import { passwordFlags, readSecret } from './secret-input.ts'

export const setUpFlags = {
  workspace: Flags.string({
    summary: 'The slug of the first workspace: 3 to 40 lower-case letters, digits and dashes.',
    helpValue: 'SLUG',
  }),
  'workspace-name': Flags.string({ summary: 'The name that people see.', helpValue: 'NAME' }),
  'owner-name': Flags.string({ summary: "The owner's name.", helpValue: 'NAME' }),
  'owner-email': Flags.string({ summary: "The owner's e-mail address.", helpValue: 'EMAIL' }),
  ...passwordFlags,
}

export interface SetUpFlags {
  readonly workspace?: string | undefined
  readonly 'workspace-name'?: string | undefined
  readonly 'owner-name'?: string | undefined
  readonly 'owner-email'?: string | undefined
  readonly 'password-stdin'?: boolean
  readonly 'password-file'?: string | undefined
}

export interface SetUpAnswers {
  readonly workspace: { readonly slug: string; readonly display_name: string }
  readonly owner: { readonly email: string; readonly display_name: string; readonly password: string }
}

const { workspace: workspaceSchema, owner: ownerSchema } = setUpOperations.setUpInstallation.body.shape

/** Without a terminal every flag is needed; the failure names the missing ones. */
export async function setUpAnswers(flags: SetUpFlags): Promise<SetUpAnswers> {
  const given = await readSecret({ stdin: flags['password-stdin'], file: flags['password-file'] }, 'password')
  if (!isInteractive()) refuseMissing(flags, given)
  const slug = flags.workspace ?? (await askText('Slug of the first workspace:', checkOf(workspaceSchema, 'slug')))
  const name =
    flags['workspace-name'] ?? (await askText('Name of the workspace:', checkOf(workspaceSchema, 'display_name'), slug))
  const ownerName = flags['owner-name'] ?? (await askText('Your name:', checkOf(ownerSchema, 'display_name')))
  const email = flags['owner-email'] ?? (await askText('Your e-mail address:', checkOf(ownerSchema, 'email')))
  const password = given ?? (await askNewPassword())
  return { workspace: { slug, display_name: name }, owner: { email, display_name: ownerName, password } }
}

function refuseMissing(flags: SetUpFlags, password: string | undefined): void {
  const names = ['workspace', 'workspace-name', 'owner-name', 'owner-email'] as const
  const missing = names.filter((name) => flags[name] === undefined).map((name) => `--${name}`)
  if (password === undefined) missing.push('--password-stdin (or --password-file FILE)')
  if (missing.length > 0)
    throw new Failure(
      'usage',
      `The first run needs ${missing.join(', ')}.`,
      'On a terminal, the command asks for them.',
    )
}

async function askNewPassword(): Promise<string> {
  const password = await askPassword('New password (at least 12 characters):', checkNewPassword)
  await askPassword('Repeat the password:', (again) => again === password || 'It differs from the first one.')
  return password
}
