/**
 * What an operation is.
 *
 * An operation is data: where it is served, what it takes and answers, who may call it.
 * The route, the gate, the request's validation, the OpenAPI document, the command
 * line's client and the tests' matrices are all derived from that one declaration, so
 * none of them can disagree.
 *
 * It is declared in `contract/<area>/operations.ts`. The rule of the same name carries it out
 * (`areas/<area>/handlers.ts`). Spec: What the service does, general conventions.
 */
import type { z } from 'zod'
import type { Area } from './areas.ts'
import type { ProblemCode } from './problem.ts'
import type { Role, Scope } from './vocabulary.ts'

/** Who may call. The gate and its whole test matrix are derived from this. */
export type Needs =
  /** Anonymous calls are allowed; each source has a rate. */
  | { readonly caller: 'anyone'; readonly rate: AnonymousRate }
  /** Any valid credential, for the account's own data; scopes are checked only if the operation changes sign-in methods. */
  | {
      readonly caller: 'account'
      readonly stepUp?: StepUp
      /** Only a session serves: what is meant is that of a person who is there. */
      readonly credential?: 'session'
      /** The operation changes the account's sessions, tokens, factors or passwords: it needs a session, or a token with `workspace:admin`. */
      readonly changes?: 'ways in'
      /** Served even if the account lacks a required second factor, because setting one up needs it. */
      readonly withoutSecondFactor?: true
      /** The role on the workspace that it takes to act on another account (`actsOn`); absent: the rule finds no other. */
      readonly others?: Role
    }
  /**
   * The workspace's own people. `within`: the role is needed in the container of the call. The gate admits every
   * account that has the role in any container, and the rule checks the container (areas/access/access.ts).
   */
  | {
      readonly caller: 'workspace'
      readonly scope: Scope
      readonly role: Role
      readonly within?: 'container'
      readonly stepUp?: StepUp
      /** Instead of a token the query may bring a `ticket` (kernel/request/ticket.ts), which acts for the token it was made with. */
      readonly ticket?: true
    }
  /**
   * A workspace's people act for their workspace. A credential with `admin:tenants` acts for the
   * installation, and its account must be in the operator register.
   */
  | {
      readonly caller: 'workspace or operator'
      readonly scope: Scope
      readonly role: Role
      readonly within?: 'container'
      readonly stepUp?: StepUp
    }
  /** The installation's operators: scope `admin:tenants` and the register. */
  | {
      readonly caller: 'operator'
      readonly stepUp?: StepUp
      readonly mode?: 'multi'
      readonly whileRegisterEmpty?: 'scope alone'
    }

/** A burst of `calls`, and then a rate of `calls` in `seconds`. */
export interface CallBound {
  readonly calls: number
  readonly seconds: number
}

/** The rate of anonymous calls from one source address. */
export interface AnonymousRate {
  readonly perSource: CallBound
}

/**
 * A step-up is needed always, or for bodies for which `when` returns true. `'or elevated'`: an elevated session serves
 * instead, unless the call acts on the own account (`actsOn`), whose ways in always take a proof. With `'when sent'` it is optional and is spent
 * if it is sent; the rule reads whether it was (`AccountActor.isProven`). `asking` is the credential of the call; the
 * command line does not know it and omits it.
 */
export type StepUp =
  | true
  | 'when sent'
  | 'or elevated'
  | { readonly says: string; readonly when: (body: never, asking: Asking | undefined) => boolean }

/** The facts besides the body on which a step-up may depend. */
export interface Asking {
  readonly sessionId: string | null
  /** Whether somebody signed in to the session within the last 300 s. */
  readonly isSessionNew?: boolean
  readonly scopes: readonly Scope[]
  readonly expiresAt?: string | null
}

export interface Operation {
  readonly id: string
  readonly area: Area
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/api/v1`, with `{params}`. */
  readonly path: string
  readonly summary: string
  /** The section of the specification or the decisions. */
  readonly spec: string
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** Where the call names its workspace; on the workspace's own host, `Host` names it if the call does not (decisions 2). */
  readonly workspaceIn?: 'query' | 'body'
  /** The media type of the body; a merge-patch distinguishes an absent member from null. */
  readonly patch?: 'merge'
  /**
   * What the body is, where it is not an ordinary one. `large`: JSON within larger bounds (`boundsOf`). `bytes`: a file, of
   * any length, that the rule reads as a stream; the operation then has no `body`.
   */
  readonly takes?: 'large' | 'bytes'
  /** As how many requests of the workspace's rate a call counts, by the body as it came; absent: one. */
  readonly counts?: (body: unknown) => number
  /**
   * A POST that changes nothing: what it asks for does not fit into a query. It runs as a GET does, in a read-only
   * transaction without the workspace's lock, and takes no `Idempotency-Key`.
   */
  readonly reads?: true
  readonly success: {
    readonly status: 200 | 201 | 202 | 204
    readonly answer?: z.ZodType
    /** The path of the created resource, from the answer; relative to `/api/v1`. */
    readonly location?: (answer: never) => string
    /** Without `cursor` and `size` the whole list is streamed page by page. */
    readonly whole?: 'streamed'
    /**
     * Some bodies are done by a job: the rule then answers `Queued`, which is sent with 202 in this form
     * (kernel/values/queued.ts).
     */
    readonly queued?: z.ZodType
    /** The same for everybody while the daemon runs: made once, with its own ETag (daemon/prepared.ts). */
    readonly fixed?: true
    /** The answer is a file (`BytesAnswer`), of which a caller may ask a range; the operation then has no `answer`. */
    readonly bytes?: true
  }
  readonly needs: Needs
  /**
   * What of another account's the call may act on, named by `accountId`, `tokenId` or `membershipId` in its path, or by
   * `account_id` or `email` in its body. The ceiling is kept from this before the rule runs (areas/auth/token/ceiling.ts):
   * the account's role is not above the caller's, and only operators act on operators. `role` and `membership`: roles are
   * compared in their place, by the rule.
   */
  readonly actsOn?: 'account' | 'token' | 'role' | 'membership'
  readonly refuses?: readonly ProblemCode[]
  /** Accepts `Idempotency-Key`. */
  readonly idempotent?: true
  /** Accepts `If-Match`. */
  readonly ifMatch?: true
  /** The answer contains a secret that is shown only once; if it is stored, it is sealed. */
  readonly secret?: true
  /**
   * Served for clients of before: since which day clients should use another, and the path of that. Each answer says both
   * (`Deprecation`, `Link`).
   */
  readonly deprecated?: { readonly since: string; readonly successor: string }
  /** Whether `svc --recovery` may run it directly on the database; if not, the reason. */
  readonly recovery: 'allowed' | { readonly refused: string }
  /** Decisions of ours where the specification leaves something open. */
  readonly assumed?: readonly string[]
}

type Shape = Omit<Operation, 'id' | 'area'>
export type Declared<T extends Record<string, Shape>> = {
  readonly [Id in keyof T & string]: T[Id] & { readonly id: Id; readonly area: Area }
}

/** Declares the operations of one area; each gets its id from its name. */
export function defineOperations<const T extends Record<string, Shape>>(area: Area, shapes: T): Declared<T> {
  const entries = Object.entries(shapes).map(([id, shape]) => [id, Object.freeze({ ...shape, id, area })])
  return Object.freeze(Object.fromEntries(entries)) as Declared<T>
}

type Members<O, Key extends string> = O extends { readonly [K in Key]: infer S extends z.ZodType }
  ? z.output<S>
  : unknown
type MembersSent<O, Key extends string> = O extends { readonly [K in Key]: infer S extends z.ZodType }
  ? z.input<S>
  : unknown
type Body<O> = O extends { readonly body: infer S extends z.ZodType } ? { readonly body: z.output<S> } : unknown
type BodySent<O> = O extends { readonly body: infer S extends z.ZodType } ? { readonly body: z.input<S> } : unknown

/** What a rule needs of a stream; Node's `Readable` is one. */
interface ByteStream {
  iterator(options: { readonly destroyOnReturn: boolean }): AsyncIterable<Buffer>
}

/** The bytes that a call brings, and what its headers say of them. */
export interface SentBytes {
  /** Not destroyed by a rule that stops early: the answer leaves by the same connection. */
  readonly stream: ByteStream
  /** Content-Length; undefined: the end of the stream is the end of the bytes. */
  readonly length: number | undefined
  /** Content-Range, as it was sent. */
  readonly range: string | undefined
}

/** A file that is answered: its facts, and how its bytes are read. */
export interface BytesAnswer {
  readonly etag: string
  readonly contentType: string
  readonly sizeBytes: number
  readonly filename: string
  /** Whether a browser may show it; otherwise it is a download. */
  readonly isInline: boolean
  /** The bytes from `from` to `to`, both included. */
  open(from: number, to: number): Promise<AsyncIterable<Uint8Array>>
}

type TakesBytes<O> = O extends { readonly takes: 'bytes' } ? { readonly bytes: SentBytes } : unknown

/** What a rule receives: path and query members by name, the parsed body as `body`, or a file as `bytes`. */
export type Received<O> = Members<O, 'params'> & Members<O, 'query'> & Body<O> & TakesBytes<O>

/** What a caller sends: the same, before parsing, and the headers by name. */
export type Sent<O> = MembersSent<O, 'params'> & MembersSent<O, 'query'> & BodySent<O> & SentHeaders

export interface SentHeaders {
  readonly idempotencyKey?: string | undefined
  readonly ifMatch?: string | undefined
  readonly stepUp?: string | undefined
}

/** The answer of a rule; undefined if the operation answers 204. */
export type Answer<O> = O extends { readonly success: { readonly answer: infer S extends z.ZodType } }
  ? z.output<S>
  : O extends { readonly success: { readonly bytes: true } }
    ? BytesAnswer
    : undefined

/** What the operation says of a step-up, if anything. */
export const stepUpOf = (needs: Needs): StepUp | undefined => ('stepUp' in needs ? needs.stepUp : undefined)

/** Whether the operation needs a step-up for this (parsed) body and this credential, apart from an elevated session. */
export function needsStepUp(operation: Operation, body: unknown, asking?: Asking): boolean {
  const stepUp = stepUpOf(operation.needs)
  if (stepUp === undefined || stepUp === 'when sent') return false
  return stepUp === true || stepUp === 'or elevated' || stepUp.when(body as never, asking)
}

/** Whether a step-up is useful for this call: the operation needs it, or accepts one. */
export const takesStepUp = (operation: Operation, body: unknown, asking?: Asking): boolean =>
  stepUpOf(operation.needs) === 'when sent' || needsStepUp(operation, body, asking)

/** Whether the operation needs a session or a token with `workspace:admin`, because it changes the account's sign-in methods. */
export const changesWaysIn = (needs: Needs) => needs.caller === 'account' && needs.changes === 'ways in'

/** Whether the operation serves sessions alone. */
export const takesSessionOnly = (needs: Needs) => needs.caller === 'account' && needs.credential === 'session'

/** The maximum size of a body: in bytes, and in members and elements. */
export interface BodyBounds {
  readonly bytes: number
  readonly values: number
}

/** For anonymous calls; the largest body of such an operation has 27 kB. */
export const ofAnyone: BodyBounds = { bytes: 64 * 1024, values: 1_000 }
/** Room for an item of many long fields, or a thousand values of one. */
const usual: BodyBounds = { bytes: 256 * 1024, values: 5_000 }
/** Room for a thousand rows of ten members. */
export const largestBody: BodyBounds = { bytes: 1024 * 1024, values: 20_000 }

/** The maximum size of a body of this operation; `SVC_BODY_LIMIT_BYTES` may be smaller (decisions 7, Bounds at the door). */
export function boundsOf({ needs, takes }: Operation): BodyBounds {
  if (needs.caller === 'anyone') return ofAnyone
  return takes === 'large' ? largestBody : usual
}

/** Whether the operation changes nothing, and may run in a read-only transaction. */
export const isRead = ({ method, reads }: Operation) => method === 'GET' || reads === true

/** Whether the operation is served even if the account lacks a required second factor. */
export const isServedWithoutFactor = (needs: Needs) =>
  needs.caller === 'anyone' || (needs.caller === 'account' && needs.withoutSecondFactor === true)
