/**
 * Whether a deadline has really passed.
 *
 * A clock may jump. So a purge needs the deadline passed by the database's clock and by
 * this process's, seen twice, at least `settleSeconds` of monotonic time apart, and at
 * every look in between. What was seen lives in memory: a process that ends forgets it,
 * which costs time and never purges early (docs/decisions/0020). Spec: decisions 4; T-45.
 *
 * Another daemon may do the looks in between. So a sighting names the workspace's last release
 * of a hold as well: a hold that came and went since makes the next look a first one.
 */
export interface Sighting {
  readonly deadline: string
  readonly lastRelease: string | null
  readonly atSeconds: number
}

/** Notes one look, and answers whether the deadline has been seen past for long enough. */
export function hasSettled(
  seen: Map<string, Sighting>,
  look: Sighting & { readonly id: string; readonly isPast: boolean },
  settleSeconds: number,
): boolean {
  const { id, deadline, lastRelease, isPast, atSeconds } = look
  if (!isPast) {
    seen.delete(id)
    return false
  }
  const first = seen.get(id)
  if (first?.deadline === deadline && first.lastRelease === lastRelease)
    return atSeconds - first.atSeconds >= settleSeconds
  seen.set(id, { deadline, lastRelease, atSeconds })
  return false
}
