/**
 * The session of a profile. Its access token is valid for minutes and is renewed with the
 * refresh token, which changes at each use; a second use of one ends the session. So only
 * one command at a time renews, and the new token is on disk before it is used.
 */
import { findProfile, lockFile, type Profile, type ProfileSession, saveProfile } from './profiles.ts'

/** An access token that expires within this many seconds is renewed first. */
const marginSeconds = 20

export const isFresh = ({ access_expires_at }: ProfileSession, now = Date.now()) =>
  new Date(access_expires_at).getTime() - now > marginSeconds * 1000

/**
 * A session with another access token than `stale`: the stored one if another command has
 * renewed it in the meantime, else the result of `trade`, which is stored first.
 */
export async function renewSession(
  profile: Profile,
  stale: string,
  trade: (refreshToken: string) => Promise<ProfileSession>,
): Promise<ProfileSession | undefined> {
  const lock = await lockProfile(profile.name)
  try {
    const current = findProfile(profile.name)
    if (!current?.session) return undefined
    if (current.session.access_token !== stale && isFresh(current.session)) return current.session
    const session = await trade(current.session.refresh_token)
    await saveProfile({ ...current, session })
    return session
  } finally {
    lock.release()
  }
}

/** Waits for the lock of the profile; the kernel releases the lock of a process that dies. */
async function lockProfile(name: string): Promise<{ release(): void }> {
  const { makeLockFile, takeTurn } = await import('../../core/kernel/database/embedded/locks.ts')
  const file = lockFile(name)
  await makeLockFile(file)
  return takeTurn(file, () => process.stderr.write('Waiting for another svc command that is renewing this session.\n'))
}
