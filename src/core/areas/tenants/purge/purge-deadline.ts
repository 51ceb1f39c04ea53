/**
 * Whether a deadline has really passed.
 *
 * A clock may jump. So a purge begins only if two checks, at least `settleSeconds` of monotonic
 * time apart, and every check between them find that the deadline has passed, by the database's
 * clock and by this process's clock. The checks are kept in memory. A process that ends loses
 * them: that delays a purge, but never makes it early (docs/decisions/0020).
 * Spec: decisions 4; T-45.
 *
 * Another daemon may do the checks in between. So a sighting also has the workspace's last release
 * of a hold: if a hold was placed and released since, the wait begins again.
 */
export interface Sighting {
  readonly deadline: string
  readonly lastRelease: string | null
  readonly atSeconds: number
}

/** Records one check, and answers whether the deadline has been past for long enough. */
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
