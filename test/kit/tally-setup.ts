/** Keeps with each test how many assertions it executed and which refusals it met, for the end of a run (tally.ts). */
import { afterEach, expect } from 'vitest'
import { takeRefusals } from './refusals-heard.ts'

declare module 'vitest' {
  interface TaskMeta {
    assertions?: number
    refusals?: readonly string[]
  }
}

afterEach(({ task }) => {
  task.meta.assertions = expect.getState().assertionCalls
  task.meta.refusals = takeRefusals()
})
