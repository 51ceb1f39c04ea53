/**
 * Under whose name the gate waits for a connection before it knows who is calling.
 *
 * A token that was good a moment ago waits with its workspace; any other with all that are
 * unknown. It says who takes turns with whom and nothing else: every call is looked up and
 * believed as if nothing were remembered here, so a hint that is out of date costs its bearer a
 * place in another queue. What is unknown cannot crowd out what is known, however many tokens
 * somebody makes up.
 *
 * Spec: docs/decisions/0143.
 */
export interface LookUpLanes {
  of(hash: Buffer): string
  remember(hash: Buffer, tenantId: string): void
}

/** Tokens remembered at most; the one that came first is forgotten first. */
const remembered = 10_000
const unknown = 'unknown'

export function openLookUpLanes(): LookUpLanes {
  const lanes = new Map<string, string>()
  return {
    of: (hash) => lanes.get(keyOf(hash)) ?? unknown,
    remember(hash, tenantId) {
      const key = keyOf(hash)
      if (lanes.has(key)) return
      lanes.set(key, tenantId)
      const [first] = lanes.size > remembered ? lanes.keys() : []
      if (first !== undefined) lanes.delete(first)
    },
  }
}

/** Half of it: enough to tell tokens apart, and no look-up could be made with it. */
const keyOf = (hash: Buffer) => hash.toString('latin1', 0, 16)
