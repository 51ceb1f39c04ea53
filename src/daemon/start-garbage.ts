/**
 * What the start of a daemon leaves behind is a tenth of its memory, and nothing would take it away until as much has come: one
 * collection does, as soon as the daemon serves and has nothing to do (docs/decisions/0492).
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookMs = 1_000
/** Of the time between two looks. The collection stops the process for as long as a slow answer takes. */
const mostBusy = 0.05

export function collectStartGarbage(): void {
  let last = performance.eventLoopUtilization()
  const looking = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    if (utilization > mostBusy) return
    clearInterval(looking)
    collect()
  }, lookMs)
  looking.unref()
}

/** As a flag of the process it would be there for every command; a context that is made behind the flag has the function. */
function collect(): void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as (options: object) => void
  setFlagsFromString('--no-expose-gc')
  gc({ type: 'major', execution: 'async', flavor: 'last-resort' })
}
