/**
 * Callers for whom there is no room to wait are told so a second later, as long as the refusal
 * asks them to stay away: a flood comes back at once, and turning one away costs the process as
 * much as a look-up. So a flood waits for itself here too.
 *
 * Who would have to be kept in memory beyond a thousand is told at once.
 */

/** As Retry-After says. */
const laterMs = 1_000
const keptAtMost = 1_000

export class TurnedAway {
  private kept = 0

  /** Calls `tell` a second later, or now where nobody waits for an answer or too many do. */
  tell(tell: () => void, answersCaller: boolean): void {
    if (!answersCaller || this.kept >= keptAtMost) {
      tell()
      return
    }
    this.kept += 1
    setTimeout(() => {
      this.kept -= 1
      tell()
    }, laterMs)
  }
}
