/**
 * Under whose name the gate waits for a connection before it knows who is calling.
 *
 * A token that was good a moment ago waits with its workspace; any other with what else its
 * source sends that is unknown. It says who takes turns with whom and nothing else: every call
 * is looked up and believed as if nothing were remembered here, so a hint that is out of date
 * costs its bearer a place in another queue. However many tokens somebody makes up, they wait
 * for each other: neither a workspace nor a token that was minted a moment ago waits behind them.
 * Of IPv6 the gate names the network (source.ts), or one subscriber's 65,536 sources had a lane each.
 *
 * Spec: docs/decisions/0143.
 */
export interface LookUpLanes {
  /** `source` is asked for only where the token is unknown. */
  of(hash: Buffer, source: () => string): string
  remember(hash: Buffer, tenantId: string): void
  /** For a token that is good no more: it waits with its source from now on. */
  forget(hash: Buffer): void
}

const mostRemembered = 10_000

/** `most`: tokens remembered at most; the one unheard of for longest is forgotten first. */
export function openLookUpLanes(most = mostRemembered): LookUpLanes {
  /** In the order in which they were last heard of. */
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

/** Half of it: enough to tell tokens apart, and no look-up could be made with it. */
const keyOf = (hash: Buffer) => hash.toString('latin1', 0, 16)
