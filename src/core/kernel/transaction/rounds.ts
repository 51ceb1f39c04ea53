/**
 * Rounds: in every daemon that works, one of each kind looks for workspaces with something to do, and takes turns at them.
 *
 *    look ──▶ workspace ─ turn ─ rest ─ turn … (at most 200 ms) ──▶ the next one ──▶ look again, at once or half a second later
 *
 * It holds one connection, and rests after each turn for as long as that took: half of a processor at most. Several daemons
 * share the work: a lock of the workspace lets one of them take a turn. The rows are the truth, so one that is killed is gone
 * on with by any other. Spec: docs/decisions/0231, 0430.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../contract/problem.ts'

export interface Rounds {
  /** Waits for the turn under way, 5 s at most, and starts no other. */
  close(): Promise<void>
}

export interface RoundsOf {
  /** The workspaces with something to do. */
  look(): Promise<readonly string[]>
  /** Does a portion; answers whether there may be more. A refusal says that the workspace waits. */
  turn(tenantId: string): Promise<boolean>
  failed(what: 'look' | 'turn', error: unknown): void
}

const lookMs = 500
/** Behind a failure, of one workspace or of the look: so that the log is not filled twice a second. */
const failedMs = 5_000
const drainMs = 5_000
const shareMs = 200
const longestRestMs = 100

export function startRounds(rounds: RoundsOf): Rounds {
  const closing = new AbortController()
  const running = run(rounds, closing.signal)
  return {
    async close() {
      closing.abort()
      // What the database does not answer by then is not committed; another look finds it.
      await Promise.race([running, pause(drainMs, undefined, { ref: false })])
    },
  }
}

async function run(rounds: RoundsOf, closing: AbortSignal): Promise<void> {
  /** Workspaces whose turn failed, and until when they rest. */
  const resting = new Map<string, number>()
  while (!closing.aborted) {
    let restMs = lookMs
    try {
      for (const tenantId of await rounds.look()) {
        if (closing.aborted) return
        if ((resting.get(tenantId) ?? 0) > performance.now()) continue
        resting.delete(tenantId)
        if (await work(rounds, tenantId, closing, resting)) restMs = 1
      }
    } catch (error) {
      restMs = failedMs
      rounds.failed('look', error)
    }
    await pause(restMs, undefined, { signal: closing }).catch(() => {})
  }
}

/** Takes turns at one workspace; answers whether there may be more to do. */
async function work(
  rounds: RoundsOf,
  tenantId: string,
  closing: AbortSignal,
  resting: Map<string, number>,
): Promise<boolean> {
  const until = performance.now() + shareMs
  try {
    while (performance.now() < until && !closing.aborted) {
      const began = performance.now()
      if (!(await rounds.turn(tenantId))) return false
      await pause(Math.min(performance.now() - began, longestRestMs))
    }
    return true
  } catch (error) {
    // Suspended since the look, or behind a closed gate: it waits.
    if (error instanceof Problem) return false
    resting.set(tenantId, performance.now() + failedMs)
    rounds.failed('turn', error)
    return false
  }
}
