/** Keeps with each test how many assertions it executed, for the table at the end of a run (tally.ts). */
import { afterEach, expect } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    assertions?: number
  }
}

afterEach(({ task }) => {
  task.meta.assertions = expect.getState().assertionCalls
})
