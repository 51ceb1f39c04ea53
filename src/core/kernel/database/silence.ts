/**
 * Silence: an answer is due and no byte of it arrives.
 *
 * It is counted in checks by the pool and not in milliseconds, so that a process that was
 * suspended does not take its own pause for the server's. For each statement only a counter
 * changes; a check reads the number of bytes that the socket has received.
 *
 * A count of n checks is a silence of more than n - 1 intervals.
 */

/** The time between two beats, in ms. */
export const heartbeatMs = 250
/** How much later the server may report that a statement took too long, in ms. */
const graceMs = 250

/** The patience, in beats, with a server that ends each statement after `statementMs`. */
export const heartbeatsOf = (statementMs: number) => Math.ceil((statementMs + graceMs) / heartbeatMs)

export class Silence {
  /** How many answers are due. */
  due = 0
  private bytesHeard = 0
  private beats = 0

  /** Counts one beat, and returns how many have passed in silence. */
  heartbeat(bytesRead: number): number {
    this.beats = this.due > 0 && bytesRead === this.bytesHeard ? this.beats + 1 : 0
    this.bytesHeard = bytesRead
    return this.beats
  }
}
