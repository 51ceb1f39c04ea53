import { constants, setPriority } from 'node:os'

/**
 * Gives what measures the highest priority: it is little work, and must not wait here behind what it measures. In a thread that
 * is not the first, the system changes that of this thread only.
 */
export function goFirst(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST)
  } catch {
    process.stderr.write("no higher priority is allowed here, so the neighbour's latencies include its own waits\n")
  }
}
