/**
 * Refusals that are answered a second late.
 *
 * A refusal is cheap, and thousands a second are not: they would keep the one thread of this
 * process from everybody else. So whoever floods is told a second later, and each of its
 * connections costs one answer a second. Decision record 0146.
 */
import { setTimeout } from 'node:timers/promises'

export interface HeldRefusals {
  /** Waits a second, or not at all while a thousand wait. */
  hold(): Promise<void>
}

const heldMs = 1_000
const mostHeld = 1_000

export function openHeldRefusals(): HeldRefusals {
  let held = 0
  return {
    async hold() {
      if (held >= mostHeld) return
      held += 1
      await setTimeout(heldMs)
      held -= 1
    },
  }
}
