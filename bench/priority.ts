import { constants, setPriority } from 'node:os'

/**
 * Gives what measures the highest priority: it is little work, and must not wait here behind what it measures. In a thread that
 * is not the first, the system changes that of this thread only. Answers what gives it back; processes that are started
 * before then inherit it.
 */
export function goFirst(): () => void {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST)
    return () => setPriority(constants.priority.PRIORITY_NORMAL)
  } catch {
    process.stderr.write('no higher priority is allowed here, so latencies include the waits of what measures\n')
    return () => {}
  }
}
