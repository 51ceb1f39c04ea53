/** The first run of an installation that this process has booted. */
import { createServer } from 'node:net'
import { recoveryActor } from '../core/actor.ts'
import { setUpOperations } from '../core/auth/contract.ts'
import type { Booted } from '../core/boot.ts'
import { receive } from '../core/validation.ts'
import { mintAdminToken } from './admin-token.ts'
import { apiCaller } from './api-caller.ts'
import { profileCredentials } from './credentials.ts'
import { profileNameFor } from './profile-name.ts'
import { type Profile, type ProfileSession, saveProfile } from './profiles.ts'
import { codesFrom } from './second-factor-input.ts'
import type { SetUpAnswers } from './set-up-answers.ts'

export interface DoneSetUp {
  readonly workspace: string
  readonly email: string
  readonly password: string
  readonly session: ProfileSession
}

/** The body is checked before a database is made for it. Refuses request.invalid. */
export const checkAnswers = (answers: SetUpAnswers) =>
  receive(setUpOperations.setUpInstallation, { body: { set_up_token: unused, ...answers } })

/** At the database no set-up token is asked for. */
const unused = 'unused'

/** Sets the installation up unless that has been done; undefined where it had been. */
export async function setUpOnce(
  { installation }: Booted,
  ask: () => Promise<SetUpAnswers>,
): Promise<DoneSetUp | undefined> {
  const actor = recoveryActor()
  const [row] = await installation.transaction(
    actor,
    { readOnly: true },
    ({ tx }) => tx<{ is_set_up: boolean }[]>`select set_up_at is not null as is_set_up from installation`,
  )
  if (row?.is_set_up) return undefined
  const answers = await ask()
  const { performForAnswer } = await import('../core/perform.ts')
  const { session, tenant } = await performForAnswer(installation, setUpOperations.setUpInstallation, actor, {
    body: { set_up_token: unused, ...answers },
  })
  return { workspace: tenant.slug, email: answers.owner.email, password: answers.owner.password, session }
}

/** A profile for this folder: the session, and a token for admin commands from another terminal. */
export async function keepProfile(
  apiUrl: string,
  { workspace, email, password, session }: DoneSetUp,
  tell: (line: string) => void,
): Promise<Profile> {
  const directory = process.cwd()
  const profile: Profile = { name: profileNameFor(directory), api_url: apiUrl, directory, workspace, email, session }
  saveProfile(profile)
  const caller = apiCaller({ apiUrl, credentials: profileCredentials(profile), tell })
  const { token, id } = await mintAdminToken(caller, password, codesFrom(undefined))
  const complete = { ...profile, token, token_id: id }
  saveProfile(complete)
  return complete
}

/** A port that nobody listens on at this moment. */
export function freePort(host: string): Promise<number> {
  return new Promise((done, failed) => {
    const server = createServer()
    server.once('error', failed)
    server.listen({ host, port: 0 }, () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
