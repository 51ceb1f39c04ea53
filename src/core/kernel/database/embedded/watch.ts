/**
 * Restarts the server while a process holds it: after the kernel killed it for memory, after a
 * panic on a full disk as soon as space is free again, or after a `pg_ctl stop`. Every holder
 * watches the server; the turn (locks.ts) lets one of them act.
 */

export interface Watch {
  /** Ends the watching; resolves when no attempt is under way any more. */
  stop(): Promise<void>
}

const beatMilliseconds = 1_000

/** Calls `bringUp` when `isUp` is false, at every beat until it succeeds. `note` gets each new failure once. */
export function watch(isUp: () => Promise<boolean>, bringUp: () => Promise<void>, note: (line: string) => void): Watch {
  let stopped = false
  let lastSaid: string | undefined
  let timer: NodeJS.Timeout
  let heartbeats: Promise<void> = Promise.resolve()

  async function heartbeat(): Promise<void> {
    try {
      if (!(await isUp()) && !stopped) await bringUp()
      lastSaid = undefined
    } catch (error) {
      const said = (error as Error).message
      if (said !== lastSaid) note(said)
      lastSaid = said
    }
    if (!stopped) schedule()
  }

  function schedule(): void {
    timer = setTimeout(() => {
      heartbeats = heartbeat()
    }, beatMilliseconds).unref() // watching alone does not keep the process alive
  }

  schedule()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await heartbeats
    },
  }
}
