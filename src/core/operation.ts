/**
 * What an operation is.
 *
 * An operation is data: where it is served, what it takes and answers, who may call it.
 * The route, the gate, the request's validation, the OpenAPI document, the command
 * line's client and the tests' matrices are all derived from that one declaration, so
 * none of them can disagree.
 *
 * Declared in the `contract.ts` of its area, carried out by the rule of the same name
 * (handlers.ts). Spec: What the service does, general conventions.
 */
import type { z } from 'zod'
import type { ProblemCode } from './problem.ts'
import type { Role, Scope } from './schema.ts'

/** Who may call. The gate and its whole test matrix are derived from this. */
export type Needs =
  /** Nobody has to say who they are; so each source is held to a rate. */
  | { readonly caller: 'anyone'; readonly rate: AnonymousRate }
  /** Any valid credential, for the account's own affairs; its scopes are not asked for. */
  | {
      readonly caller: 'account'
      readonly stepUp?: StepUp
      /** Served also while a second factor is demanded that the account has not: what it takes to get one. */
      readonly withoutSecondFactor?: true
    }
  /**
   * The workspace's own people. `within`: the role is asked for in the container that the call is about, so the
   * gate lets everybody in who has it anywhere, and the rule asks again (containers/access.ts).
   */
  | {
      readonly caller: 'workspace'
      readonly scope: Scope
      readonly role: Role
      readonly within?: 'container'
      readonly stepUp?: StepUp
    }
  /**
   * A workspace's people act for their workspace; a credential that carries `admin:tenants`
   * acts for the installation, and its bearer must be in the register.
   */
  | { readonly caller: 'workspace or operator'; readonly scope: Scope; readonly role: Role }
  /** The installation's operators: scope `admin:tenants` and the register. */
  | {
      readonly caller: 'operator'
      readonly stepUp?: StepUp
      readonly mode?: 'multi'
      readonly whileRegisterEmpty?: 'scope alone'
    }

/** So many calls at once, and then at the pace of so many in so many seconds. */
export interface CallBound {
  readonly calls: number
  readonly seconds: number
}

/** How often strangers may call: those of one source address, and where each call leaves something behind, all of them. */
export interface AnonymousRate {
  readonly perSource: CallBound
  readonly inAll?: CallBound
}

/** A step-up is demanded always, or of the bodies that `when` answers true for. */
export type StepUp = true | { readonly says: string; readonly when: (body: never) => boolean }

export interface Operation {
  readonly id: string
  readonly area: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/api/v1`, with `{params}`. */
  readonly path: string
  readonly summary: string
  /** Where the specification or the decisions say so. */
  readonly spec: string
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** The media type of the body; a merge-patch tells an absent member from null. */
  readonly patch?: 'merge'
  readonly success: {
    readonly status: 200 | 201 | 202 | 204
    readonly answer?: z.ZodType
    /** Where a created thing is found afterwards, from the answer; below `/api/v1`. */
    readonly location?: (answer: never) => string
    /** Without `cursor` and `size` the whole list is answered, streamed page by page. */
    readonly whole?: 'streamed'
  }
  readonly needs: Needs
  readonly refuses?: readonly ProblemCode[]
  /** Accepts `Idempotency-Key`. */
  readonly idempotent?: true
  /** Accepts `If-Match`. */
  readonly ifMatch?: true
  /** The answer holds something that is shown once: it is stored sealed, if at all. */
  readonly secret?: true
  /** Whether `svc --recovery` may do it directly on the database; if not, why. */
  readonly recovery: 'allowed' | { readonly refused: string }
  /** What the specification leaves open and we decided. */
  readonly assumed?: readonly string[]
}

type Shape = Omit<Operation, 'id' | 'area'>
export type Declared<T extends Record<string, Shape>> = {
  readonly [Id in keyof T & string]: T[Id] & { readonly id: Id; readonly area: string }
}

/** Declares the operations of one area; each gets its id from its name. */
export function defineOperations<const T extends Record<string, Shape>>(area: string, shapes: T): Declared<T> {
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

/** What a rule receives: path and query members by name, the parsed body as `body`. */
export type Received<O> = Members<O, 'params'> & Members<O, 'query'> & Body<O>

/** What a caller sends: the same, before parsing, and the headers by name. */
export type Sent<O> = MembersSent<O, 'params'> & MembersSent<O, 'query'> & BodySent<O> & SentHeaders

export interface SentHeaders {
  readonly idempotencyKey?: string | undefined
  readonly ifMatch?: string | undefined
  readonly stepUp?: string | undefined
}

/** What a rule answers; undefined where the operation answers 204. */
export type Answer<O> = O extends { readonly success: { readonly answer: infer S extends z.ZodType } }
  ? z.output<S>
  : undefined

/** Whether the operation demands a step-up for this (parsed) body. */
export function needsStepUp(operation: Operation, body: unknown): boolean {
  const stepUp = 'stepUp' in operation.needs ? operation.needs.stepUp : undefined
  return stepUp === undefined ? false : stepUp === true || stepUp.when(body as never)
}

/** Whether the operation changes nothing, and may run in a read-only transaction. */
export const isRead = (operation: Operation) => operation.method === 'GET'

/** Whether the operation is served also to an account that lacks a second factor which is demanded of it. */
export const isServedWithoutFactor = (needs: Needs) =>
  needs.caller === 'anyone' || (needs.caller === 'account' && needs.withoutSecondFactor === true)
