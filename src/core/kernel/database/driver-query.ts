/**
 * Sends a query of the driver sooner than the driver would, and takes its answer without the promise that the query is.
 *
 * The driver keeps less than 1,024 bytes back until the turn of the event loop ends. A busy turn takes some milliseconds, and
 * PostgreSQL could have worked for so long. So they leave when the code that runs has sent what it can send without an answer
 * (docs/decisions/0511).
 *
 * The driver gives each query two functions of its own, and V8 makes functions that are written as a property where old
 * objects are. So until the old memory is collected they keep the query, its values and the answer that its promise has: all of
 * it was copied there, and collected once a second, for which the thread stopped (docs/decisions/0498). Here the promise stays
 * open, and a query that was answered names nothing any more.
 */

/** As far as this module knows it. */
interface DriverQuery {
  /** Whether it was sent; the driver sends it otherwise where it is awaited. */
  executed: boolean
  active: boolean
  handler: (query: DriverQuery) => void
  resolve: (answer: never) => void
  reject: (error: unknown) => void
  args: readonly unknown[]
  parameters: readonly unknown[]
}

/** Sends it at once. Either function is called, once. */
export function sendQuery<T>(query: object, answered: (answer: T) => void, failed: (error: unknown) => void): void {
  const sent = query as DriverQuery
  const resolve = (answer: T) => {
    end(sent)
    sent.args = sent.parameters = none
    answered(answer)
  }
  const reject = (error: unknown) => {
    end(sent)
    failed(error)
  }
  sent.resolve = resolve as (answer: never) => void
  sent.reject = reject
  sent.executed = true
  // The driver asks for the end of the turn by this function, within this call.
  globalThis.setImmediate = soon as typeof setImmediate
  try {
    sent.handler(sent)
  } finally {
    globalThis.setImmediate = atTurnEnd
  }
}

const atTurnEnd = setImmediate

/** Writes when all promises that can go on have gone on, unless the driver has written until then. */
function soon(write: () => void): NodeJS.Immediate {
  const due = atTurnEnd(write)
  process.nextTick(() => {
    // The driver clears it when it writes.
    if (!due.hasRef()) return
    clearImmediate(due)
    write()
  })
  return due
}

const none: readonly unknown[] = []
const nothing = () => {}

/** The driver may say twice how it ended. */
function end(query: DriverQuery): void {
  query.active = false
  query.resolve = query.reject = nothing
}
