/**
 * Transitions of a state machine, as data: for each mode the events that may happen in it, and the mode each leads to.
 *
 * An event that a mode does not list is forbidden there. It throws before anything has changed, in tests and in
 * production alike (decision 0173).
 */

export type Transitions<Mode extends string, Event extends string> = {
  readonly [In in Mode]: { readonly [On in Event]?: Mode }
}

/** The books of a machine are wrong: an event happened that its mode does not allow. */
export class ForbiddenTransition extends Error {
  constructor(machine: string, mode: string, event: string) {
    super(`${machine}: ${event} is forbidden in mode ${mode}`)
    this.name = 'ForbiddenTransition'
  }
}

/** The mode that an event leads to. Throws ForbiddenTransition. */
export function modeAfter<Mode extends string, Event extends string>(
  machine: string,
  transitions: Transitions<Mode, Event>,
  mode: Mode,
  event: Event,
): Mode {
  const next = transitions[mode][event]
  if (next === undefined) throw new ForbiddenTransition(machine, mode, event)
  return next
}
