/** Lets the process do something else while many texts are cut: a long one takes some ten milliseconds. */
import { setImmediate as nextTurn } from 'node:timers/promises'

const breathMs = 5

/** Maps a list, and waits for the next turn of the event loop whenever 5 ms are over. */
export async function mapInBreaths<T, Made>(list: readonly T[], make: (one: T) => Made): Promise<Made[]> {
  const made: Made[] = []
  let began = performance.now()
  for (const one of list) {
    made.push(make(one))
    if (performance.now() - began < breathMs) continue
    await nextTurn()
    began = performance.now()
  }
  return made
}
