/**
 * Idempotency-Key: a repeated request gets the first one's answer for 24 hours.
 *
 * The transaction of the work writes the record and commits both together, so the effect
 * never exists without the record. A concurrent request with the same key waits for that
 * commit (lock_timeout, 2 s) and then replays the answer. If the wait takes longer, it is
 * refused because the first request is still running.
 *
 * A refusal after the work has begun is stored, too: the work is rolled back to a savepoint,
 * and the record stays. 5xx and 429 are never stored. Answers with secrets that are shown
 * only once are sealed.
 *
 * Spec: decisions 1, Idempotency-Key.
 */
import { createHash } from 'node:crypto'
import type { BytesAnswer, Operation } from '../../contract/operation.ts'
import { Problem, problemOf, refuse } from '../../contract/problem.ts'
import { installationScope } from '../../contract/vocabulary.ts'
import type { Ctx } from '../transaction/context.ts'
import { openSealed, storeSealed } from '../transaction/sealed-values.ts'
import { accountIdOf, scopeOf } from '../values/actor.ts'
import { newId } from '../values/id.ts'
import { writeJson } from '../values/json.ts'

/** An answer as it is sent, first or again. A stored refusal is kept in the same form. */
export interface StoredAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body's JSON text; undefined where there is none. */
  readonly body: string | undefined
  /** A file instead of a body; never stored, because no operation that answers one takes a key. */
  readonly bytes?: BytesAnswer
}

interface RecordRow {
  readonly id: string
  readonly fingerprint: Buffer
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | null
  readonly is_sealed: boolean
}

interface Slot {
  readonly tenantId: string
  readonly accountId: string
  readonly operation: string
  readonly key: string
}

/** SHA-256 of the request; the order of members in the body does not count. */
export const fingerprintOf = (operation: Operation, request: unknown) =>
  createHash('sha256')
    .update(`${operation.id}\n${canonical(request)}`)
    .digest()

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return writeJson(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
    .join(',')}}`
}

/**
 * Runs `work` under the key, or returns the answer of the first run.
 * Refuses idempotency.key_reused, idempotency.in_progress.
 */
export async function once(
  ctx: Ctx,
  operation: Operation,
  key: string,
  fingerprint: Buffer,
  work: () => Promise<StoredAnswer>,
): Promise<StoredAnswer & { readonly replayed: boolean }> {
  const slot = {
    tenantId: scopeOf(ctx.actor),
    accountId: accountIdOf(ctx.actor) ?? installationScope,
    operation: operation.id,
    key,
  }
  const id = await claim(ctx, slot, fingerprint)
  if (id === undefined) return { ...(await replay(ctx, slot, fingerprint)), replayed: true }

  // A refusal of a statement that the work did not await is stored, too.
  const settled = () => work().then((done) => ctx.tx.settled().then(() => done))
  const answer = await ctx.savepoint(settled).catch((thrown: unknown) => {
    const error = problemOf(thrown) ?? thrown
    const storable = error instanceof Problem && error.status < 500 && error.status !== 429
    if (!storable) throw error
    return refusalAnswer(error)
  })
  keep(ctx, slot, id, answer, operation.secret === true)
  return { ...answer, replayed: false }
}

/**
 * Takes the slot. Returns the record's id, or undefined if another request had it first. An expired record keeps its
 * id, so that its sealed answer is replaced, too.
 */
async function claim(ctx: Ctx, slot: Slot, fingerprint: Buffer): Promise<string | undefined> {
  try {
    const [taken] = await ctx.tx<{ id: string }[]>`
      insert into idempotency_record (tenant_id, account_id, operation, key, id, fingerprint)
      values (${slot.tenantId}, ${slot.accountId}, ${slot.operation}, ${slot.key}, ${newId()}, ${fingerprint})
      on conflict (tenant_id, account_id, operation, key) do update
      set fingerprint = excluded.fingerprint, status = null, headers = null, body = null,
          is_sealed = false, created_at = excluded.created_at
      where idempotency_record.created_at <= excluded.created_at - interval '24 hours'
      returning id`
    return taken?.id
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } }
    if (cause?.code === '55P03') throw new Problem('idempotency.in_progress', {}, { headers: { 'retry-after': '1' } })
    throw error
  }
}

async function replay(ctx: Ctx, slot: Slot, fingerprint: Buffer): Promise<StoredAnswer> {
  const [row] = await ctx.tx<RecordRow[]>`
    select id, fingerprint, status, headers, body, is_sealed from idempotency_record
    where tenant_id = ${slot.tenantId} and account_id = ${slot.accountId} and operation = ${slot.operation} and key = ${slot.key}`
  if (!row) throw new Problem('idempotency.in_progress', {}, { headers: { 'retry-after': '1' } })
  if (!row.fingerprint.equals(fingerprint)) refuse('idempotency.key_reused')
  const body = row.is_sealed
    ? await openSealed(ctx, { tenantId: slot.tenantId, kind: 'idempotency.answer', ownerId: row.id })
    : row.body
  return { status: row.status, headers: row.headers, body: body ?? undefined }
}

/** Not awaited: it is sent with the commit, which fails if this fails. */
function keep(ctx: Ctx, slot: Slot, id: string, answer: StoredAnswer, holdsSecret: boolean): void {
  const isSealed = holdsSecret && answer.body !== undefined && answer.status < 300
  void ctx.tx`
    update idempotency_record
    set status = ${answer.status}, headers = ${ctx.tx.json(answer.headers)}, body = ${isSealed ? null : (answer.body ?? null)}, is_sealed = ${isSealed}
    where tenant_id = ${slot.tenantId} and account_id = ${slot.accountId} and operation = ${slot.operation} and key = ${slot.key}`
  if (isSealed)
    void storeSealed(ctx, { tenantId: slot.tenantId, kind: 'idempotency.answer', ownerId: id }, answer.body ?? '')
}

/** A refusal as it is stored: without `instance`, which names the request that is answered. */
export const refusalAnswer = (problem: Problem): StoredAnswer => ({
  status: problem.status,
  headers: { ...problem.headers, 'x-svc-refusal': '1' },
  body: writeJson({ code: problem.code, params: problem.params, errors: problem.errors }),
})

/** The refusal a stored answer stands for, or undefined when it is an answer. */
export function storedRefusal({ headers, body, status }: StoredAnswer): Problem | undefined {
  if (headers['x-svc-refusal'] === undefined || body === undefined) return undefined
  const { code, params, errors } = JSON.parse(body) as Pick<Problem, 'code' | 'params' | 'errors'>
  const { 'x-svc-refusal': _, ...rest } = headers
  return new Problem(code, params, { headers: rest, status, ...(errors ? { errors } : {}) })
}
