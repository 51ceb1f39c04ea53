/**
 * The keyring that this process uses: announced, checked against the database, read again when the
 * file has changed.
 *
 * It is announced before it is compared with the others, so that two daemons that start or switch
 * at once cannot miss each other. Spec: decisions 4, Keyring; docs/decisions/0060.
 */

import type { SignOfLife } from '../../kernel/database/sign-of-life.ts'
import { type Keyring, type LiveKeyring, readKeyring } from '../../kernel/sealing/keyring.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { announceKeyring } from './daemon-keyrings.ts'
import { admitKeyring } from './keyring-check.ts'

export interface KeyringInUse {
  /**
   * Reads the file again and uses it from now on; answers notes for the operator. Throws ConfigurationError, and then
   * the process keeps its old keyring.
   */
  reread(): Promise<readonly string[]>
}

export interface KeyringUser {
  /** That of a daemon, whose keys the others must know; a command runs only briefly. */
  readonly life?: SignOfLife | undefined
  readonly note?: (line: string) => void
}

/** Throws ConfigurationError, one line, where the keyring does not fit. */
export async function useKeyring(
  installation: Installation,
  keyring: LiveKeyring,
  { life, note }: KeyringUser,
): Promise<KeyringInUse> {
  let next: Keyring | undefined
  if (life) await announceKeyring(life, () => (next ? [keyring, next] : [keyring]))

  const readAgain = async () => {
    next = readKeyring(keyring.path)
    try {
      await life?.renew()
      const notes = await admitKeyring(installation, next)
      keyring.adopt(next)
      return notes
    } finally {
      next = undefined
      await life?.renew()
    }
  }

  for (const line of await admitKeyring(installation, keyring)) note?.(line)
  let reading: Promise<unknown> = Promise.resolve()
  return {
    // One after the other: two signals at once must not take each other's keyring for the old one.
    reread() {
      const again = reading.then(readAgain)
      reading = again.catch(() => undefined)
      return again
    },
  }
}
