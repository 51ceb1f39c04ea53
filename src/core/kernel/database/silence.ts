/**
 * Silence: an answer is due and no byte of it arrives.
 *
 * It is counted in checks by the pool and not in milliseconds, so that a process that was
 * suspended does not take its own pause for the server's. For each statement only a counter
 * changes; a check reads the number of bytes that the socket has received.
 *
 * A count of n checks is a silence of more than n - 1 intervals.
 */

/** Between two beats, in ms. */
export const heartbeatMs = 250
/** By so much the server's word that a statement took too long may come later. */
const graceMs = 250

/** The patience with a server that ends each statement after `statementMs` by itself. */
export const heartbeatsOf = (statementMs: number) => Math.ceil((statementMs + graceMs) / heartbeatMs)

export class Silence {
  /** Answers that the server owes. */
  due = 0
  private bytesHeard = 0
  private beats = 0

  /** Counts one beat; answers how many have passed in silence. */
  heartbeat(bytesRead: number): number {
    this.beats = this.due > 0 && bytesRead === this.bytesHeard ? this.beats + 1 : 0
    this.bytesHeard = bytesRead
    return this.beats
  }
}
