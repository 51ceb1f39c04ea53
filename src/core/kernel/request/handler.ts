/**
 * Handlers: the rule behind each operation, and what runs before its transaction.
 *
 * An area lists its handlers in `handlers.ts`, checked by `satisfies HandlersOf<typeof …Operations>`;
 * app/handlers.ts spreads the areas. A missing handler does not compile, nor does a rule
 * whose parameters or answer differ from the declaration of its operation.
 */
import type { Answer, Received } from '../../contract/operation.ts'
import type { Problem } from '../../contract/problem.ts'
import type { Ctx } from '../transaction/context.ts'
import type { Installation, RunAsRule } from '../transaction/installation.ts'
import type { Actor } from '../values/actor.ts'
import type { JsonText } from '../values/json.ts'
import type { Queued } from '../values/queued.ts'

type MayQueue = { readonly success: { readonly queued: unknown } }
// biome-ignore lint/suspicious/noConfusingVoidType: a rule that answers nothing is an async function without a return
type Nothing<O> = Answer<O> extends undefined ? void : never
type Answered<O> = Promise<Answer<O> | Nothing<O> | (O extends MayQueue ? Queued : never) | Problem | JsonText>
type Rule<O> = (ctx: Ctx, received: Received<O>) => Answered<O>
/** A rule with work before it that takes long and needs no transaction, or several. */
interface Prepared<O> {
  readonly prepare: (
    installation: Installation,
    actor: Actor,
    received: Received<O>,
    run: RunAsRule,
  ) => Promise<unknown>
  // The handed-on value concerns only its own rule; `withWork` and `asking` check the two types against each other.
  readonly rule: (ctx: Ctx, received: Received<O>, prepared: never) => Answered<O>
}
/**
 * A rule with a query that depends on nothing: it is sent in the transaction's first packet, beside that of the key.
 */
interface Asking<O> {
  readonly ask: (ctx: Ctx) => Promise<unknown>
  readonly rule: (ctx: Ctx, received: Received<O>, asked: never) => Answered<O>
}
/** A rule of a read whose statements all see the same moment. */
interface OfOneMoment<O> {
  readonly rule: Rule<O>
  readonly isSnapshot: true
}
export type Handler<O> = Rule<O> | Prepared<O> | Asking<O> | OfOneMoment<O>

type RuleWith<O, P> = (ctx: Ctx, received: Received<O>, handed: P) => Answered<O>
export const withWork = <O, P>(
  prepare: (installation: Installation, actor: Actor, received: Received<O>, run: RunAsRule) => Promise<P>,
  rule: RuleWith<O, P>,
): Prepared<O> => ({ prepare, rule })
export const asking = <O, P>(ask: (ctx: Ctx) => Promise<P>, rule: RuleWith<O, P>): Asking<O> => ({ ask, rule })
export const ofOneMoment = <O>(rule: Rule<O>): OfOneMoment<O> => ({ rule, isSnapshot: true })

/** A handler for each operation of an area, by its name. */
export type HandlersOf<Area extends object> = { readonly [Id in keyof Area]: Handler<Area[Id]> }
