/** A problem that a server returned, with its original document. */
import { Problem, type ProblemCode, type Violation } from '../../core/contract/problem.ts'

interface ProblemDocument {
  readonly code: string
  readonly params?: Problem['params']
  readonly errors?: readonly Violation[]
  readonly instance?: string
}

export class AnsweredProblem extends Problem {
  readonly document: object
  /** The id under which the server's log has the cause. */
  readonly requestId: string | undefined

  constructor(status: number, document: ProblemDocument, headers: Readonly<Record<string, string>>) {
    // A newer server may have codes that this release does not know; they are printed as they are.
    super(document.code as ProblemCode, document.params ?? {}, {
      status,
      headers,
      ...(document.errors ? { errors: document.errors } : {}),
    })
    this.document = document
    this.requestId = headers['x-request-id'] ?? document.instance?.replace('urn:uuid:', '')
  }
}

export const isProblemDocument = (value: unknown): value is ProblemDocument =>
  typeof (value as { code?: unknown } | null)?.code === 'string'
