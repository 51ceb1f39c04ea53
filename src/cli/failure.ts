/** How a command ends. Spec: decisions 6, exit codes; docs/decisions/0250. */

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  /** Not allowed, or a step-up is needed. */
  notAllowed: 4,
  /** A conflict, or a failed precondition. */
  conflict: 5,
  rateLimited: 6,
  /** The server or the database was not reached. */
  unreached: 7,
  /** The command finished and found something that needs attention. */
  findings: 8,
  /** Ctrl-C, also at a question; what a shell says of a program that the signal ends. */
  interrupted: 130,
} as const

export type Ending = keyof typeof exitCodes

/** A refusal by the command line: what happened, and what to do about it. Each is one line without secrets. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly ending: Ending
  readonly remedy: string | undefined

  constructor(ending: Ending, message: string, remedy?: string) {
    super(message)
    this.ending = ending
    this.remedy = remedy
  }
}

/** The ending for the HTTP status of a problem. */
export function endingOf(status: number): Ending {
  if (status === 404 || status === 410) return 'notFound'
  if (status === 401 || status === 403) return 'notAllowed'
  if (status === 409 || status === 412) return 'conflict'
  if (status === 429) return 'rateLimited'
  if (status === 408 || (status > 500 && status < 600)) return 'unreached'
  return status === 500 ? 'failed' : 'usage'
}
