import { Flags } from '@oclif/core'
import { sessionOperations } from '../../core/contract/auth/operations.ts'
import { tokenOperations } from '../../core/contract/auth/tokens.ts'
import { Problem } from '../../core/contract/problem.ts'
import { BaseCommand } from '../base-command.ts'
import { apiCaller } from '../call/api-caller.ts'
import type { Caller } from '../call/caller.ts'
import { chosenProfile } from '../call/caller-choice.ts'
import { profileCredentials } from '../call/credentials.ts'
import { Failure } from '../failure.ts'
import { removeProfile } from '../profile/profiles.ts'

export default class Logout extends BaseCommand {
  static override summary = "End the session, revoke the profile's own token, and remove the profile"
  static override description =
    'If the server cannot be reached, nothing is removed; `profiles remove` removes a profile without calling the server.'
  static override examples = ['<%= config.bin %> logout', '<%= config.bin %> logout --profile production']
  static override flags = {
    profile: Flags.string({ summary: "The profile; default: this folder's.", helpValue: 'NAME' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Logout)
    const profile = chosenProfile(flags)
    if (!profile)
      throw new Failure('notFound', 'This folder has no profile.', '`svc profiles list` shows all profiles.')
    const caller = apiCaller({ apiUrl: profile.api_url, credentials: profileCredentials(profile), tell: this.note })
    const { session, token_id: tokenId } = profile
    // The token goes first, because the session revokes it.
    if (tokenId !== undefined) await ended(caller.call(tokenOperations.revokeToken, { tokenId }))
    if (session) await ended(endSession(caller))
    removeProfile(profile.name)
    this.tell(`Signed out of ${profile.api_url}; profile ${profile.name} is removed.`)
  }
}

const endSession = (caller: Caller) => caller.call(sessionOperations.signOut, {})

/** Ignores the refusal of a session or token that has ended already. */
async function ended(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    const gone =
      (error instanceof Problem && (error.status === 401 || error.status === 404)) ||
      (error instanceof Failure && error.ending === 'notAllowed')
    if (!gone) throw error
  })
}
