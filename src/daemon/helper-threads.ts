/**
 * The thread that answers everybody has a higher priority than PostgreSQL on the same host (deploy/svc.service). Node's other
 * threads inherit it, but what they do is not urgent: they collect garbage, compile and hash. With one processor for that
 * thread and one for them, no transaction went on for ten milliseconds at a time (docs/decisions/0509).
 */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { promisify } from 'node:util'

const { PRIORITY_NORMAL: ordinary } = constants.priority

/**
 * Gives all threads but this one the ordinary priority, if the process has a higher one. Linux alone has a priority for each
 * thread. Resolves when it is done, or could not be done.
 *
 * Another program does it: a unit may end a process that tries.
 */
export async function lowerHelperThreads(): Promise<void> {
  if (process.platform !== 'linux' || getPriority() >= ordinary) return
  try {
    const helpers = readdirSync('/proc/self/task').filter((thread) => thread !== String(process.pid))
    await promisify(execFile)('renice', [String(ordinary), '-p', ...helpers])
  } catch {
    // It serves all the same, as it did before there was a priority to give back.
  }
}
