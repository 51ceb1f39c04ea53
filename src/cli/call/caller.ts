/**
 * How a command reaches an installation: over HTTP with a token, or directly on the
 * database. A command passes the operation and need not know which of the two it has:
 * paths, methods and types come from the operation's data.
 */

import type { GateState } from '../../core/areas/recovery/gate.ts'
import type { LedgerStatus } from '../../core/areas/recovery/ledger/ledger-status.ts'
import type { Answer, Operation, Sent } from '../../core/contract/operation.ts'
import type { Backlog } from '../../core/kernel/transaction/sweep.ts'
import type { Shown } from '../input/second-factor-input.ts'

/** The secrets that prove that the account's owner makes the call. */
export type Proof = { readonly password: string } & Shown

/** What the database tells of an installation beside its operations. */
export interface Inspected {
  readonly gate: GateState
  readonly ledger: LedgerStatus
  readonly sweeps: readonly Backlog[]
  readonly clockAheadMs: number
}

/** What is sent beside the bytes. */
type TransferOf<O extends Operation> = Omit<Sent<O>, 'bytes'>

interface Piece {
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
}

interface Transferred {
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
}

export interface Caller {
  /** For people: `http://… as ada@…`, or `the embedded installation in …`. */
  readonly where: string
  /** The URL for others to reach the installation; undefined at the database. */
  readonly apiUrl?: string
  /** Known only at the database. */
  readonly mode?: 'multi' | 'single'
  /** Over the API a token stands for an account; at the database there is no account. */
  readonly way: 'api' | 'database'
  /** Carries the operation out. Throws a Problem if it is refused, a Failure if the installation is not reached. */
  call<O extends Operation>(operation: O, sent: Sent<O>): Promise<Answer<O>>
  /** Sends or reads a piece of a file, for an operation that takes or answers bytes. Only over HTTP. */
  transfer?<O extends Operation>(operation: O, sent: TransferOf<O>, piece: Piece): Promise<Transferred>
  /** Exchanges the secrets for a proof, which is valid for one call. Only over HTTP. */
  stepUp?(operation: Operation, targetId: string | undefined, proof: Proof): Promise<string>
  /** The workspace of a job. Only at the database. */
  workspaceOfJob?(jobId: string): Promise<string | undefined>
  /** Runs an export, a backup, a verification or a restore in this process. Only at the database, where there may be no daemon to run it. */
  work?(tenantId: string, jobId: string): Promise<void>
  /** Runs all queued reseal jobs in this process. Only at the database. */
  reseal?(): Promise<void>
  /** Looks at what no operation answers, and asks every backup target for its copy of the ledger. Only at the database. */
  inspect?(): Promise<Inspected>
  /** What a daemon does with queued mail, for people; known only at the database. */
  readonly mailGoes?: string
  close(): Promise<void>
}

interface Page {
  readonly next_cursor: string | null
}

/** Yields the pages of a list in order. */
export async function* pagesOf<O extends Operation>(
  caller: Caller,
  operation: O,
  sent: Sent<O>,
): AsyncGenerator<Answer<O>> {
  let cursor: string | null = null
  do {
    const page: Answer<O> = await caller.call(operation, { ...sent, ...(cursor === null ? {} : { cursor }) })
    yield page
    cursor = (page as unknown as Page).next_cursor ?? null
  } while (cursor !== null)
}

/** Prints a line for people, on stderr. */
export type Tell = (line: string) => void
