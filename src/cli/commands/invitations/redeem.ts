import { resolve } from 'node:path'
import { Flags } from '@oclif/core'
import { invitationOperations } from '../../../core/contract/auth/operations.ts'
import { loadEnvironment } from '../../../core/kernel/values/environment.ts'
import { BaseCommand } from '../../base-command.ts'
import { apiCaller } from '../../call/api-caller.ts'
import { anonymousTarget } from '../../call/caller-choice.ts'
import { Failure } from '../../failure.ts'
import { checkOf } from '../../input/schema-check.ts'
import { passwordFlags, secretOrAsk } from '../../input/secret-input.ts'
import { profileNameFor } from '../../profile/profile-name.ts'
import { checkApiUrl, checkProfileName, findProfile, profileOf, saveProfile } from '../../profile/profiles.ts'
import { moment } from '../../render/moment.ts'

export default class InvitationsRedeem extends BaseCommand {
  static override summary = 'Join a workspace with an invitation token'
  static override description =
    'Shows what the invitation is for, asks for a password, signs in, and stores the session in a profile for this folder.'
  static override examples = [
    '<%= config.bin %> invitations redeem',
    '<%= config.bin %> invitations redeem --token-file acme.token --password-file ada.password --profile ada',
  ]
  static override flags = {
    'api-url': Flags.string({
      summary:
        "The URL of the installation; default: SVC_API_URL, else this folder's profile, else http://127.0.0.1:8080.",
      helpValue: 'URL',
    }),
    'token-file': Flags.string({ summary: 'Read the token from a file of mode 0600.', helpValue: 'FILE' }),
    ...passwordFlags,
    name: Flags.string({ summary: 'Your name, as others in the workspace see it.' }),
    profile: Flags.string({
      summary: "The profile's name; default: derived from the folder's name.",
      helpValue: 'NAME',
    }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(InvitationsRedeem)
    const directory = resolve('.')
    const here = profileOf(directory)
    const apiUrl = checkApiUrl(
      flags['api-url'] ?? (loadEnvironment()['SVC_API_URL'] || here?.api_url || 'http://127.0.0.1:8080'),
    )
    const name = checkProfileName(flags.profile ?? profileNameFor(directory))
    // Checked before the call, because the token works only once.
    if (findProfile(name)) {
      throw new Failure('conflict', `A profile named ${name} exists already.`, 'Choose another name with --profile.')
    }
    const caller = apiCaller(anonymousTarget(apiUrl, this.note))
    const { redeemInvitation, inspectInvitation } = invitationOperations
    const token = await secretOrAsk({ file: flags['token-file'] }, 'token', 'Invitation token:')
    const { workspace, email, expires_at } = await caller.call(inspectInvitation, { body: { token } })
    this.tell(
      `The invitation is for ${email} to ${workspace.slug} (${workspace.display_name}), until ${moment(expires_at)}.`,
    )
    const password = await secretOrAsk(
      { stdin: flags['password-stdin'], file: flags['password-file'] },
      'password',
      'New password (at least 12 characters):',
      'usage',
      checkOf(redeemInvitation.body, 'password'),
    )
    const session = await caller.call(redeemInvitation, { body: { token, password, display_name: flags.name } })
    // A folder that has a profile keeps it: it may belong to the operator who sent the invitation.
    const isTaken = here !== undefined
    const profile = { name, api_url: apiUrl, workspace: workspace.slug, email }
    await saveProfile({ ...profile, directory: isTaken ? undefined : directory, session })
    this.tell(`Joined ${workspace.slug} as ${email} (profile ${name}${isTaken ? '' : `, for ${directory} and below`}).`)
    this.tell(`Next: svc api GET /containers${isTaken ? ` --profile ${name}` : ''}`)
    return { ...profile, session_id: session.session_id }
  }
}
