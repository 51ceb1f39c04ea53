/**
 * The second half of a switch: a key that every running daemon holds is made current.
 *
 *    svc keyring add ──▶ copied to every host, SIGHUP ──▶ svc keyring promote ──▶ SIGHUP
 *
 * Spec: decisions 4, Keyring; docs/decisions/0060.
 */

import { makeCurrent } from '../../kernel/sealing/keyring-file.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { Actor } from '../../kernel/values/actor.ts'
import { holdKeyringsStill } from './daemon-keyrings.ts'
import { promoteKey } from './keyring-check.ts'

/**
 * Changes the database first, and the file before the commit. If running daemons do not hold the key, answers these
 * daemons and changes nothing.
 */
export function promote(installation: Installation, actor: Actor, keyId: string): Promise<readonly string[]> {
  const { keyring } = installation
  return installation.transaction(actor, {}, async (ctx) => {
    await holdKeyringsStill(ctx.tx)
    const unaware = await promoteKey(ctx, keyring, keyId)
    if (unaware.length === 0 && keyring.current !== keyId) await makeCurrent(keyring.path, keyId)
    return unaware
  })
}
