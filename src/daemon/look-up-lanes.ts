/**
 * The lane in which the gate waits for a connection before it knows the caller.
 *
 * A token that was valid recently waits in the lane of its workspace. Any other token waits
 * in the lane of its source. The lane decides only the order of waiting: every call is looked
 * up in full, so an outdated hint only puts a call into another queue. Invented tokens wait
 * only for each other: neither a workspace nor a new token waits behind them. For IPv6 the
 * gate uses the network (source.ts); otherwise the 65,536 sources of one subscriber would
 * have a lane each.
 *
 * Spec: docs/decisions/0143.
 */
export interface LookUpLanes {
  /** `source` is called only if the token is unknown. */
  of(hash: Buffer, source: () => string): string
  remember(hash: Buffer, tenantId: string): void
  /** For a token that is no longer valid: from now on it waits in the lane of its source. */
  forget(hash: Buffer): void
}

const mostRemembered = 10_000

/** `most`: the maximum number of remembered tokens; the one unused for longest is forgotten first. */
export function openLookUpLanes(most = mostRemembered): LookUpLanes {
  /** In the order of their last use. */
  const lanes = new Map<string, string>()
  return {
    of(hash, source) {
      const key = keyOf(hash)
      const lane = lanes.get(key)
      if (lane === undefined) return `unknown ${source()}`
      lanes.delete(key)
      lanes.set(key, lane)
      return lane
    },
    remember(hash, tenantId) {
      const key = keyOf(hash)
      if (lanes.has(key)) return
      lanes.set(key, tenantId)
      const [first] = lanes.size > most ? lanes.keys() : []
      if (first !== undefined) lanes.delete(first)
    },
    forget: (hash) => void lanes.delete(keyOf(hash)),
  }
}

/** Half of the hash: enough to distinguish tokens, but not enough for a look-up. */
const keyOf = (hash: Buffer) => hash.toString('latin1', 0, 16)
