/** The credentials of a call: a token from the environment, or the session and token of a profile. */

import { Failure } from '../failure.ts'
import { isFresh, renewSession } from '../profile/profile-session.ts'
import type { Profile, ProfileSession } from '../profile/profiles.ts'
import type { Credentials } from './api-caller.ts'

export const noCredentials: Credentials = {
  who: 'nobody',
  bearerFor: async () => undefined,
  renewed: async () => undefined,
}

export const tokenCredentials = (token: string, who: string): Credentials => ({
  who,
  bearerFor: async () => token,
  renewed: async () => undefined,
})

/** Operator calls use the profile's token if it has one; all other calls use its session. */
export function profileCredentials(profile: Profile): Credentials {
  let session = profile.session
  const renew = async (stale: string) => {
    session = await renewSession(profile, stale, (refreshToken) => trade(profile, refreshToken))
    return session?.access_token
  }
  return {
    who: profile.email ?? `profile ${profile.name}`,
    async bearerFor(kind) {
      if (profile.token !== undefined && (kind === 'operator' || kind === 'workspace or operator' || !session))
        return profile.token
      if (!session) return undefined
      return isFresh(session) ? session.access_token : renew(session.access_token)
    },
    renewed: async (bearer) => (bearer === session?.access_token ? renew(bearer) : undefined),
  }
}

async function trade(profile: Profile, refreshToken: string): Promise<ProfileSession> {
  const [{ apiCaller }, { sessionOperations }] = await Promise.all([
    import('./api-caller.ts'),
    import('../../core/contract/auth/operations.ts'),
  ])
  const caller = apiCaller({ apiUrl: profile.api_url, credentials: noCredentials, tell: () => undefined })
  return caller
    .call(sessionOperations.refreshSession, { body: { refresh_token: refreshToken } })
    .catch((error: unknown) => {
      if ((error as { code?: string }).code !== 'auth.unauthenticated') throw error
      throw new Failure(
        'notAllowed',
        `The session of profile ${profile.name} has ended.`,
        '`svc login` signs in again.',
      )
    })
}
