/**
 * How a command reaches an installation: over HTTP with a token, or directly on the
 * database. A command passes the operation itself and does not know which of the two
 * it has; paths, methods and types come from the operation's data.
 */
import type { Answer, Operation, Sent } from '../../core/contract/operation.ts'
import type { Shown } from '../input/second-factor-input.ts'

/** What shows that the account's own person is at the keyboard. */
export type Proof = { readonly password: string } & Shown

export interface Caller {
  /** For people: `http://… as ada@…`, or `the embedded installation in …`. */
  readonly where: string
  /** What another person calls to get here; undefined at the database. */
  readonly apiUrl?: string
  /** Known at the database alone. */
  readonly mode?: 'multi' | 'single'
  /** The account's id is known only where a token is sent; at the database nobody has one. */
  readonly way: 'api' | 'database'
  /** Carries the operation out. Throws a Problem where it is refused, a Failure where nothing is reached. */
  call<O extends Operation>(operation: O, sent: Sent<O>): Promise<Answer<O>>
  /** Proves once more who is calling, for one call; answers the proof to send with it. Only over HTTP. */
  stepUp?(operation: Operation, targetId: string | undefined, proof: Proof): Promise<string>
  /** Works an export off in this process; only at the database, where no daemon may be running that would. */
  work?(tenantId: string, jobId: string): Promise<void>
  /** Works off what is queued to be resealed in this process, and answers when nothing is; only at the database. */
  reseal?(): Promise<void>
  /** Where mails end up, for people; known only at the database. */
  readonly mailGoes?: string
  close(): Promise<void>
}

interface Page {
  readonly next_cursor: string | null
}

/** The pages of a list, one after the other. */
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

/** Says a line to people, on stderr. */
export type Tell = (line: string) => void
