/**
 * Delays the refusal of callers for which there is no room to wait, by the second for which it
 * asks them to stay away. A flood comes back at once, and a refusal costs the process as much as
 * a look-up; with the delay, a flood only slows itself down.
 *
 * At most a thousand refusals are delayed; further ones are sent at once.
 */

/** The same time as in Retry-After. */
const laterMs = 1_000
const keptAtMost = 1_000

export class TurnedAway {
  private kept = 0

  /** Calls `tell` a second later, or at once if no caller waits for the answer or too many refusals are delayed. */
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
