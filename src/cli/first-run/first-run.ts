/** The first run of an installation that this process has opened. */
import { createServer } from 'node:net'
import type { Booted } from '../../core/app/boot.ts'
import { setUpOperations } from '../../core/contract/auth/operations.ts'
import { Problem, type Violation } from '../../core/contract/problem.ts'
import { receive } from '../../core/kernel/request/validation.ts'
import { recoveryActor } from '../../core/kernel/values/actor.ts'
import { apiCaller } from '../call/api-caller.ts'
import { profileCredentials } from '../call/credentials.ts'
import { faultsOfNewPassword } from '../input/new-password.ts'
import { codesFrom } from '../input/second-factor-input.ts'
import type { SetUpAnswers } from '../input/set-up-answers.ts'
import { mintAdminToken } from '../profile/admin-token.ts'
import { profileNameFor } from '../profile/profile-name.ts'
import { type Profile, type ProfileSession, saveProfile } from '../profile/profiles.ts'

export interface DoneSetUp {
  readonly workspace: string
  readonly email: string
  readonly password: string
  readonly session: ProfileSession
}

/** Checks the answers before a database is made. Refuses request.invalid. */
export function checkAnswers(answers: SetUpAnswers): void {
  const errors = [
    ...faultsOfBody(answers),
    ...faultsOfNewPassword(answers.owner.password).map((fault) => ({ pointer: '/owner/password', ...fault })),
  ]
  if (errors.length > 0) throw new Problem('request.invalid', {}, { errors })
}

function faultsOfBody(answers: SetUpAnswers): readonly Violation[] {
  try {
    receive(setUpOperations.setUpInstallation, { body: { set_up_token: unused, ...answers } })
    return []
  } catch (error) {
    if (error instanceof Problem) return error.errors ?? []
    throw error
  }
}

/** At the database no set-up token is needed. */
const unused = 'unused'

/**
 * Sets the installation up. Undefined if that was done before, and in single mode if the
 * one workspace exists already.
 */
export async function setUpOnce(
  { installation }: Booted,
  ask: () => Promise<SetUpAnswers>,
): Promise<DoneSetUp | undefined> {
  const actor = recoveryActor()
  const [row] = await installation.transaction(
    actor,
    { readOnly: true },
    ({ tx }) => tx<{ is_set_up: boolean }[]>`
      select set_up_at is not null or (${installation.config.mode === 'single'} and exists (select 1 from tenant)) as is_set_up
      from installation`,
  )
  if (row?.is_set_up) return undefined
  const answers = await ask()
  const { performForAnswer } = await import('../../core/app/perform.ts')
  const { session, tenant } = await performForAnswer(installation, setUpOperations.setUpInstallation, actor, {
    body: { set_up_token: unused, ...answers },
  })
  return { workspace: tenant.slug, email: answers.owner.email, password: answers.owner.password, session }
}

/**
 * In single mode, a workspace that was provisioned before the set-up is the installation's
 * only one. Returns its slug until there is an operator; undefined in all other cases.
 */
export async function workspaceWithoutOperator({ installation }: Booted): Promise<string | undefined> {
  if (installation.config.mode !== 'single') return undefined
  const [row] = await installation.transaction(
    recoveryActor(),
    { readOnly: true },
    ({ tx }) => tx<{ slug: string }[]>`
      select slug from tenant
      where not exists (select 1 from operator)
        and exists (select 1 from installation where set_up_at is null)`,
  )
  return row?.slug
}

/** Stores a profile for this folder: the session, and a token for admin commands from another terminal. */
export async function keepProfile(
  apiUrl: string,
  { workspace, email, password, session }: DoneSetUp,
  tell: (line: string) => void,
): Promise<Profile> {
  const directory = process.cwd()
  const profile: Profile = { name: profileNameFor(directory), api_url: apiUrl, directory, workspace, email, session }
  await saveProfile(profile)
  const caller = apiCaller({ apiUrl, credentials: profileCredentials(profile), tell })
  const { token, id } = await mintAdminToken(caller, password, codesFrom(undefined))
  const complete = { ...profile, token, token_id: id }
  await saveProfile(complete)
  return complete
}

/** A port that is free at this moment. */
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
