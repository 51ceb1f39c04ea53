/** Follows a reseal to its end. */
import { setTimeout as pause } from 'node:timers/promises'
import { encryptionOperations, type KeyringUse } from '../../core/contract/keyring/operations.ts'
import type { Caller } from '../call/caller.ts'
import { exitCodes } from '../failure.ts'
import { bar, withToldProgress } from '../render/progress.ts'

const pollMs = 1000

/** The number of values that are not under the active key. */
const staleOf = ({ keys }: KeyringUse) =>
  keys.filter(({ active }) => !active).reduce((sum, { total }) => sum + total, 0)

/** Waits until no job is left, and returns the final state. `works`: at the database, where there may be no daemon, it runs the jobs itself. */
export async function followReseal(caller: Caller, { works }: { works: boolean }): Promise<KeyringUse> {
  const first = await caller.call(encryptionOperations.getEncryption, {})
  const atFirst = staleOf(first)
  return withToldProgress(progressLine(first, atFirst), async (tell) => {
    let failure: unknown
    let isWorking = works && caller.reseal !== undefined
    const worked = (isWorking ? caller.reseal?.() : undefined)?.catch((error: unknown) => {
      failure = error
    })
    void worked?.then(() => {
      isWorking = false
    })
    let keyring = first
    while (isUnderWay(keyring)) {
      await Promise.race(isWorking ? [pause(pollMs), worked] : [pause(pollMs)])
      if (failure) throw failure
      keyring = await caller.call(encryptionOperations.getEncryption, {})
      tell(progressLine(keyring, Math.max(atFirst, staleOf(keyring))))
    }
    return keyring
  })
}

const isUnderWay = ({ reseal: { queued, running } }: KeyringUse) => queued + running > 0

/** `Resealing  [####----------------]  20 %  2000 of 10000 values` */
function progressLine(keyring: KeyringUse, atFirst: number): string {
  const done = atFirst - staleOf(keyring)
  const { queued, running } = keyring.reseal
  const word = running === 0 && queued > 0 ? 'Waiting for a worker' : 'Resealing'
  const share = atFirst === 0 ? '' : `  ${bar(done, atFirst)}  ${done} of ${atFirst} values`
  return `${word}${share}`
}

/** Prints what is left to do. A value under another key that no job will reseal is a finding. */
export function endOfReseal(keyring: KeyringUse, tell: (line: string) => void): void {
  const lost = keyring.keys.filter(({ in_ring, total }) => !in_ring && total > 0).map(({ key_id }) => key_id)
  if (lost.length > 0)
    tell(`The keyring lacks ${lost.join(', ')}. Restore it from its backup: docs/runbooks/keyring.md`)
  const stale = staleOf(keyring)
  if (stale > 0 && !isUnderWay(keyring)) tell(remedyOf(keyring, stale))
  if (lost.length > 0 || (stale > 0 && !isUnderWay(keyring))) process.exitCode = exitCodes.findings
}

const remedyOf = ({ reseal: { failed } }: KeyringUse, stale: number) =>
  failed > 0
    ? `${failed} value(s) cannot be decrypted and stay under their key: docs/runbooks/keyring.md`
    : `${stale} value(s) are not under the current key. To move them to it: svc encryption reseal --watch`
