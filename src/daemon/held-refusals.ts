/**
 * Delays refusals by a second.
 *
 * One refusal is cheap, but thousands a second would keep the single thread of this process
 * busy. So a flooding caller gets its refusals a second later, and each of its connections
 * costs one answer a second. Decision record 0146.
 */
import { setTimeout } from 'node:timers/promises'

export interface HeldRefusals {
  /** Waits a second; not at all while a thousand others wait. */
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
