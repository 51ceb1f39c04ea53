/**
 * Slowdown: how many connections a lane may hold while others need some, so that the others do not become much slower.
 *
 *    a call of another lane took    more than twice as long as on a calm pool ──▶ less for the flood
 *                                   less than that ────────────────────────────▶ half as much more, up to its share
 *
 * A third of the connections bounds what others wait for a connection; it does not bound what they wait for a processor.
 * So the flood has what leaves two thirds of the others' calls within twice their own time: a third of the connections
 * where processors are to spare, and as little as one where the flood alone keeps them all busy.
 *
 * A call is compared with calls of the same kind only, as they were while nothing waited. A kind that was never seen then
 * says nothing.
 *
 * Not guaranteed: a lane that makes its own calls slow on purpose takes connections from a flood beside it, down to one.
 * Spec: decisions 7, Bounds at the door; docs/decisions/0189.
 */

/** How many times its own time a call may take beside a flood. */
const bearable = 2
/** What a call takes from what the flood may hold, or adds to it, in connections. */
const narrower = 0.1
const wider = narrower / 2
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
    return Math.round(this.allowed)
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

  /** A call of a lane that asks for little took so long beside a flood. */
  tookBeside(kind: string, ms: number): void {
    const known = this.calm.get(kind)
    if (known === undefined || known.calls < enough) return
    const change = ms > bearable * known.ms ? -narrower : wider
    this.allowed = Math.min(this.share, Math.max(1, this.allowed + change))
  }
}
