/**
 * Slowdown: how many connections a lane may hold while others need some, so that the others do not become much slower.
 *
 *    a call of another lane took    more than twice as long as on a calm pool ──▶ less for the flood
 *                                   less than that ────────────────────────────▶ a part of that more, up to its share
 *
 * A third of the connections bounds what others wait for a connection; it does not bound what they wait for a processor.
 * So the flood has a third of the connections where processors are to spare, and fewer where it keeps them busy itself:
 *
 *  - two, where that leaves nineteen of twenty of the others' calls within twice their own time. More add little to what is
 *    done of the flood: one is in the database while the thread works for the other;
 *  - one, where with two fewer than two thirds of the others' calls are. It costs the flood a third and more;
 *  - one for a part of the time, down to a quarter, if more of the flood comes than is done, and with more fewer than 29 of 30 of
 *    the others' calls are. What is refused anyway is not worth that others wait.
 *
 * A call is compared with calls of the same kind only, as they were while nothing waited. A kind that was never seen then
 * says nothing.
 *
 * Not guaranteed: a lane that makes its own calls slow on purpose takes connections from a flood beside it, down to that.
 * Spec: decisions 7, Bounds at the door; docs/decisions/0189, 0512.
 */

/** How many times its own time a call may take beside a flood. */
const bearable = 2
/** Beyond so many connections, a flood loses little with each. */
const enoughForFlood = 2
/** What a call takes from what the flood may hold, or adds to it, in connections. */
const beyondEnough = { narrower: 0.4, wider: 0.4 / 20 }
const withinEnough = { narrower: 0.1, wider: 0.1 / 2 }
/** The same of a flood that is refused much, as a part of what it may hold. */
const ofRefused = { narrower: 0.2, wider: 0.2 / 29 }
/** The least, in connections. */
const leastOfRefused = 0.25
/** One long transaction must not stop its lane. */
const mostRestMs = 100
/** The weight of a new call in the mean of its kind. */
const weight = 1 / 16
/** A mean of fewer calls says nothing. */
const enough = 8

interface Calm {
  ms: number
  calls: number
}

export class Slowdown {
  private readonly share: number
  private allowed: number
  /** Bounded by the number of kinds, which are operations. */
  private readonly calm = new Map<string, Calm>()

  /** `share`: the most connections that a lane may hold while others need some. */
  constructor(share: number) {
    this.share = share
    this.allowed = share
  }

  /** How many connections a lane may hold while others need some. */
  get most(): number {
    return Math.max(1, Math.round(this.allowed))
  }

  /** For how long a lane that may hold less than one connection does without, when it has held one for so long. */
  restMs(heldMs: number): number {
    return Math.min(mostRestMs, heldMs * Math.max(0, 1 / this.allowed - 1))
  }

  /** A call took so long while nothing waited for a connection. */
  tookCalm(kind: string, ms: number): void {
    const known = this.calm.get(kind)
    if (known === undefined) {
      this.calm.set(kind, { ms, calls: 1 })
      return
    }
    known.ms += (ms - known.ms) * weight
    known.calls += 1
  }

  /** A call of a lane that asks for little took so long beside a flood. `isRefused`: more of the flood comes than is done. */
  tookBeside(kind: string, ms: number, isRefused: boolean): void {
    const known = this.calm.get(kind)
    if (known === undefined || known.calls < enough) return
    const { narrower, wider } = this.steps(isRefused)
    const change = ms > bearable * known.ms ? -narrower : wider
    // A flood begins before anything of it is refused: what is known of the one before stays.
    const least = isRefused ? leastOfRefused : Math.min(1, this.allowed)
    this.allowed = Math.min(this.share, Math.max(least, this.allowed + change))
  }

  private steps(isRefused: boolean): { readonly narrower: number; readonly wider: number } {
    const { allowed } = this
    if (isRefused) return { narrower: allowed * ofRefused.narrower, wider: allowed * ofRefused.wider }
    return allowed > enoughForFlood ? beyondEnough : withinEnough
  }
}
