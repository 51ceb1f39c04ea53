/**
 * Performs an operation: the same path for the daemon and for `svc --recovery`.
 *
 *    parse → spend the step-up → transaction (idempotency → ceiling → rule) → parse the answer
 *
 * The caller is already known (gate.ts, or the operating system's user). Two entries: `perform`
 * answers what is sent over HTTP, `performForAnswer` answers a value for programs.
 *
 * Spec: decisions 1, "Checks come in this order".
 */

import { spendStepUp } from '../areas/auth/step-up.ts'
import { ceilingOf, isElevatedFor } from '../areas/auth/token/ceiling.ts'
import {
  type Answer,
  type BytesAnswer,
  isRead,
  isServedWithoutFactor,
  needsStepUp,
  type Operation,
  type Sent,
  takesStepUp,
} from '../contract/operation.ts'
import { Problem, problemOf, refuse } from '../contract/problem.ts'
import { uuid } from '../contract/vocabulary.ts'
import { DatabaseUnavailable } from '../kernel/database/unavailable.ts'
import { LedgerUnavailable } from '../kernel/ledger/ledger.ts'
import { answerOf } from '../kernel/request/answer-shape.ts'
import { fingerprintOf, once, refusalAnswer, type StoredAnswer, storedRefusal } from '../kernel/request/idempotency.ts'
import { readIdempotencyKey } from '../kernel/request/idempotency-key.ts'
import { type Request, requestOf } from '../kernel/request/request.ts'
import { receive } from '../kernel/request/validation.ts'
import { spanned } from '../kernel/tracing/tracing.ts'
import type { Ctx } from '../kernel/transaction/context.ts'
import { isServedWhileGated } from '../kernel/transaction/gate.ts'
import { type Entry, type Installation, type RunAsRule, workspaceOf } from '../kernel/transaction/installation.ts'
import { together } from '../kernel/transaction/together.ts'
import { type Actor, actsForInstallation, isAccount } from '../kernel/values/actor.ts'
import { etagOf, isIfMatch } from '../kernel/values/etag.ts'
import { JsonText, readJson, writeJson } from '../kernel/values/json.ts'
import { Queued } from '../kernel/values/queued.ts'
import { handlers } from './handlers.ts'

export type { Request } from '../kernel/request/request.ts'

interface Handler {
  /** Work that takes long and needs no transaction, or several. Its result is the rule's third argument. */
  readonly prepare?: (installation: Installation, actor: Actor, received: unknown, run: RunAsRule) => Promise<unknown>
  /**
   * A query that depends on nothing, sent in the transaction's first packet. Its answer is the rule's third argument.
   */
  readonly ask?: (ctx: Ctx) => Promise<unknown>
  readonly rule: (ctx: Ctx, received: unknown, prepared: unknown) => Promise<unknown>
  readonly isSnapshot?: boolean
}

const handlerOf = (operation: Operation): Handler => {
  const handler = handlers[operation.id as keyof typeof handlers] as Handler | Handler['rule']
  return typeof handler === 'function' ? { rule: handler } : handler
}

/** Whether all of the operation's work is one transaction, which can begin with the check of its caller. */
export const isOneTransaction = (operation: Operation): boolean =>
  !('stepUp' in operation.needs) && handlerOf(operation).prepare === undefined

/**
 * Carries the request out as the actor. Refuses what the operation's rule and its `needs` refuse. `entry`: the check of
 * the caller, for an operation of one transaction (`isOneTransaction`).
 */
export async function perform(
  installation: Installation,
  operation: Operation,
  caller: Actor,
  request: Request,
  entry?: Entry,
): Promise<StoredAnswer> {
  const received = receive(operation, request)
  const ifMatch = readIfMatch(operation, request.ifMatch)
  const key =
    operation.idempotent && request.idempotencyKey !== undefined
      ? readIdempotencyKey(request.idempotencyKey)
      : undefined
  const actor = await stepUp(installation, operation, caller, request, received)
  if ('mode' in operation.needs && operation.needs.mode === 'multi' && installation.config.mode === 'single')
    refuse('admin.multi_mode_required')

  const { prepare, ask, rule, isSnapshot = false } = handlerOf(operation)
  const options = { ...transactionFor(operation, actor, ifMatch), isSnapshot, ...(entry ? { entry } : {}) }
  const prepared = await prepare?.(installation, actor, received, (work) =>
    installation.transaction(actor, options, work).catch(asProblem),
  )
  const transaction = installation.transaction(actor, options, (ctx) => {
    const asked = ask?.(ctx)
    asked?.catch(() => {}) // the rule gets the rejection, if it runs
    const ruling = () =>
      beneath(ctx, ceilingOf(ctx, operation, received), async () => rule(ctx, received, asked ? await asked : prepared))
    const work = async () => written(operation, await spanned('rule', operation.id, ruling))
    return key === undefined ? work() : once(ctx, operation, key, fingerprintOf(operation, { received, ifMatch }), work)
  })
  // Also what the commit tells of statements that the rule did not await.
  const answer = await transaction.catch(asProblem)
  const refusal = storedRefusal(answer)
  const replayed = 'replayed' in answer && answer.replayed === true
  if (refusal) throw replayed ? refusal.withHeaders(replayedHeader) : refusal
  return replayed ? { ...answer, headers: { ...answer.headers, ...replayedHeader } } : answer
}

/**
 * Runs the rule in the packet that asks for the ceiling: the rule gets no answer of the database before the ceiling has been
 * kept, and a refusal of the ceiling comes before one of the rule.
 */
async function beneath<T>(ctx: Ctx, ceiling: Promise<void> | undefined, rule: () => Promise<T>): Promise<T> {
  if (!ceiling) return rule()
  ctx.tx.withhold(ceiling)
  const [, answer] = await together(ceiling, rule())
  return answer as T
}

/**
 * An error of the database is our refusal if the problem table has it (a name that is taken, a value it cannot hold).
 * What is unavailable stays what it is: whoever performs an operation without HTTP distinguishes it.
 */
function asProblem(error: unknown): never {
  if (error instanceof DatabaseUnavailable || error instanceof LedgerUnavailable) throw error
  throw problemOf(error) ?? error
}

const replayedHeader = { 'idempotency-replayed': 'true' }

/** Performs the operation and answers the representation; whole lists are read page by page. */
export async function performForAnswer<O extends Operation>(
  installation: Installation,
  operation: O,
  actor: Actor,
  sent: Sent<O>,
): Promise<Answer<O>> {
  const request = requestOf(operation, sent)
  if (isWholeList(operation, request)) return (await wholeList(installation, operation, actor, request)) as Answer<O>
  const { body } = await perform(installation, operation, actor, request)
  return (body === undefined ? undefined : readJson(body)) as Answer<O>
}

/** Whether the operation answers its whole list: it can, and the request asks for no page. */
export function isWholeList(operation: Operation, request: Request): boolean {
  const query = (request.query ?? {}) as Record<string, unknown>
  return operation.success.whole === 'streamed' && query['cursor'] === undefined && query['size'] === undefined
}

/** The first page is small, so that the caller soon has its first byte. */
const firstStreamedPage = 100
const streamedPage = 500

/** A whole list's rows, in pages: no transaction stays open while a slow reader reads. */
export async function* pagesOf(
  installation: Installation,
  operation: Operation,
  actor: Actor,
  request: Request,
): AsyncGenerator<readonly unknown[]> {
  let cursor: string | null | undefined
  do {
    const place = cursor ? { size: streamedPage, cursor } : { size: firstStreamedPage }
    const query = { ...(request.query as object), ...place }
    const page = await readPage(installation, operation, actor, { ...request, query })
    yield page.data
    cursor = page.next_cursor
  } while (cursor !== null)
}

/** The same as `perform` for a read, but without the answer as text: a stream writes it row by row. */
async function readPage(installation: Installation, operation: Operation, actor: Actor, request: Request) {
  const received = receive(operation, request)
  const { rule } = handlerOf(operation)
  const { answer: schema } = operation.success
  const answer = await installation.transaction(actor, transactionFor(operation, actor, undefined), async (ctx) => {
    const page = await rule(ctx, received, undefined).catch(asProblem)
    return schema && answerOf(schema, page)
  })
  return answer as { readonly data: readonly unknown[]; readonly next_cursor: string | null }
}

async function wholeList(
  installation: Installation,
  operation: Operation,
  actor: Actor,
  request: Request,
): Promise<{ data: unknown[] }> {
  const data: unknown[] = []
  for await (const page of pagesOf(installation, operation, actor, request)) data.push(...page)
  return { data }
}

/**
 * Answers the caller, proven where a step-up was spent. The step-up is spent after the schema has passed, in its own
 * transaction, so that a refusal does not give it back. An operator on probation is refused every operation that takes
 * a step-up, except those that set up a second factor: otherwise an account that can enter operators could lock people
 * out of their workspace (docs/decisions/0130).
 */
async function stepUp(
  installation: Installation,
  operation: Operation,
  actor: Actor,
  request: Request,
  received: Record<string, unknown>,
): Promise<Actor> {
  if (!isAccount(actor) || !takesStepUp(operation, received['body'], actor)) return actor
  const { probationUntil: until } = actor
  if (until && !isServedWithoutFactor(operation.needs)) refuse('admin.operator_on_probation', { until })
  const isNeeded = needsStepUp(operation, received['body'], actor) && !isElevatedFor(operation, actor, received)
  if (request.stepUp === undefined && !isNeeded) return actor
  // What has no id, such as a rule by its kind, is no target: a proof for one target does not serve it.
  const [named] = Object.keys(operation.params?.shape ?? {})
  const target = named === undefined ? undefined : uuid.safeParse(received[named]).data
  await spendStepUp(installation, actor, request.stepUp, {
    operation: operation.id,
    targetId: target,
  })
  return { ...actor, isProven: true }
}

function transactionFor(operation: Operation, actor: Actor, ifMatch: string | undefined) {
  const tenantId = servesInstallation(operation, actor) ? undefined : workspaceOf(actor)
  const gateAccess = isAccount(actor)
    ? { gateAccess: { isServed: isServedWhileGated(operation.needs, actor), epoch: actor.epoch } }
    : {}
  return {
    readOnly: isRead(operation),
    ifMatch,
    admits: !isRead(operation),
    beginsAsInstallation: operation.actsOn !== undefined, // it asks for the ceiling first
    ...gateAccess,
    ...(tenantId === undefined ? {} : { tenantId }),
  }
}

function servesInstallation({ needs: { caller } }: Operation, actor: Actor): boolean {
  if (caller === 'workspace or operator') return actsForInstallation(actor)
  return caller === 'operator' || caller === 'anyone'
}

/** The answer as it is sent. Members that the schema lacks are dropped, so a row may be an answer. */
function written(operation: Operation, result: unknown): StoredAnswer {
  // A rule returns a refusal, and does not throw it, if changes must stay: a counted failure, a revoked session.
  if (result instanceof Problem) return refusalAnswer(result)
  const { status, answer: schema, location, bytes, queued } = operation.success
  if (queued && result instanceof Queued)
    return { status: 202, headers: {}, body: writeJson(answerOf(queued, result.answer)) }
  if (bytes) return { status, headers: {}, body: undefined, bytes: result as BytesAnswer }
  if (!schema) return { status, headers: {}, body: undefined }
  if (result instanceof JsonText) return { status, headers: {}, body: result.text }
  const answer = answerOf(schema, result) as { version?: unknown }
  const headers = {
    ...(typeof answer.version === 'number' ? { etag: etagOf(answer.version) } : {}),
    ...(location ? { location: `/api/v1${location(answer as never)}` } : {}),
  }
  return { status, headers, body: writeJson(answer) }
}

function readIfMatch(operation: Operation, header: string | undefined): string | undefined {
  if (!operation.ifMatch || header === undefined) return undefined
  if (!isIfMatch(header))
    refuse('request.malformed', undefined, {
      errors: [{ parameter: 'If-Match', code: 'value.format', params: { format: 'etag' } }],
    })
  return header
}
