/** Waits while a workspace is closed for a restore, as its own people have to. */
import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../core/contract/problem.ts'

const waitMs = 1000
/** An hour: what is written for longer is looked at by somebody. */
const mostTries = 3600

const isRestoring = (error: unknown): boolean => error instanceof Problem && error.code === 'workspace.restoring'

/** Calls again until the workspace is open. */
export async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call()
    } catch (error) {
      if (!isRestoring(error) || tries === mostTries) throw error
      await pause(waitMs)
    }
  }
}
