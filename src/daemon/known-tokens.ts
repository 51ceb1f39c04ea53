/**
 * The tokens that were valid recently, with the row that their last look-up found.
 *
 * Nothing here decides a call: every call is looked up in full. The row has two uses.
 *
 *  - The lane in which the look-up waits for a connection. A known token waits in the lane of its workspace, any other in
 *    the lane of its source. So invented tokens wait only for each other: neither a workspace nor a new token waits behind
 *    them. For IPv6 the source is the network (source.ts); otherwise the 65,536 sources of one subscriber would have a
 *    lane each.
 *  - The guess with which a call's work leaves in the same packet as its look-up (foresight.ts). A wrong guess is thrown
 *    away with the work.
 *
 * Spec: docs/decisions/0143, 0175.
 */
import type { CredentialRow } from './credential.ts'

export interface KnownTokens {
  /** `source` is called only if the token is unknown. */
  laneOf(hash: Buffer, source: () => string): string
  /** The row of its last look-up. */
  find(hash: Buffer): CredentialRow | undefined
  remember(hash: Buffer, row: CredentialRow): void
  /** For a token that is no longer valid: from now on it waits in the lane of its source. */
  forget(hash: Buffer): void
}

const mostKnown = 10_000

/** `most`: the maximum number of remembered tokens; the one unused for longest is forgotten first. */
export function openKnownTokens(most = mostKnown): KnownTokens {
  /** In the order of their last use. */
  const rows = new Map<string, CredentialRow>()
  const find = (hash: Buffer) => {
    const key = keyOf(hash)
    const row = rows.get(key)
    if (row === undefined) return undefined
    rows.delete(key)
    rows.set(key, row)
    return row
  }
  return {
    laneOf: (hash, source) => find(hash)?.tenant_id ?? `unknown ${source()}`,
    find,
    remember(hash, row) {
      rows.set(keyOf(hash), row)
      const [first] = rows.size > most ? rows.keys() : []
      if (first !== undefined) rows.delete(first)
    },
    forget: (hash) => void rows.delete(keyOf(hash)),
  }
}

/** Half of the hash: enough to distinguish tokens, but not enough for a look-up. */
const keyOf = (hash: Buffer) => hash.toString('latin1', 0, 16)
