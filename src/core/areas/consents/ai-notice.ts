/**
 * What people are told of the AI model of their workspace (art. 21(4)), as versions that follow the model, and who has seen which.
 *
 *    model chosen, replaced, changed by its operator ──▶ one more version, and a mail to everybody ──:noticed──▶ a row SEEN
 *
 * A version tells name, processor and jurisdiction. Who has not seen what is told of the model in use asks it nothing: that is
 * compared by the hash of what was told, so that it holds from the moment at which a model changes, whatever version is written
 * when. Spec: Keeping, 2, N10, N11; docs/decisions/0475.
 */
import { createHash } from 'node:crypto'
import { noticeKind } from '../../contract/privacy/consents.ts'
import { refuse } from '../../contract/problem.ts'
import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { isRestricted } from '../access/restriction.ts'

/** What is told of a model. */
export interface ToldModel {
  readonly id: string
  readonly display_name: string
  readonly processor: string
  readonly jurisdiction: string
}

export const hashOfModel = ({ id, display_name, processor, jurisdiction }: ToldModel): string =>
  createHash('sha256')
    .update(JSON.stringify([id, display_name, processor, jurisdiction]))
    .digest('hex')

interface NoticeRow {
  readonly version: number
  readonly texts: ToldModel
}

/** The last version; undefined: nothing was ever told. */
export async function findNotice({ tx }: Pick<Ctx, 'tx'>, tenantId: string): Promise<NoticeRow | undefined> {
  const [row] = await tx<NoticeRow[]>`
    select version, texts from consent_text where tenant_id = ${tenantId} and kind = ${noticeKind} order by version desc limit 1`
  return row
}

/** The version that tells of this model, in a transaction that may write none: the next one where it was not written yet. */
export const versionOf = (notice: NoticeRow | undefined, model: ToldModel): number =>
  notice !== undefined && hashOfModel(notice.texts) === hashOfModel(model) ? notice.version : (notice?.version ?? 0) + 1

/** Writes the version that tells of this model, unless it is the last one. Answers it, and the entry of the trail of a new one. */
export async function tellOf(
  ctx: Ctx,
  tenantId: string,
  { id, display_name, processor, jurisdiction }: ToldModel,
): Promise<{ readonly version: number; readonly noticeId: string | undefined }> {
  const { tx } = ctx
  const model = { id, display_name, processor, jurisdiction }
  void tx`select pg_advisory_xact_lock(${lockClasses.consents}, hashtext(${tenantId}))`
  const last = await findNotice(ctx, tenantId)
  const version = versionOf(last, model)
  if (version === last?.version) return { version, noticeId: undefined }
  void tx`
    insert into consent_text (tenant_id, kind, version, texts) values (${tenantId}, ${noticeKind}, ${version}, ${tx.json(model)})`
  const params = { version, model_id: id, model: display_name, processor, jurisdiction }
  const noticeId = await ctx.audit('ai_notice.changed', { subject: { kind: 'tenant', id: tenantId }, params })
  return { version, noticeId }
}

export interface Seen {
  readonly n: number
  readonly version: number
  readonly sha256: string | null
  readonly at: string
}

/** What an account has seen last. */
export async function findSeen(
  { tx }: Pick<Ctx, 'tx'>,
  tenantId: string,
  accountId: string,
): Promise<Seen | undefined> {
  const [row] = await tx<Seen[]>`
    select n, version, sha256, at from consent
    where tenant_id = ${tenantId} and account_id = ${accountId} and kind = ${noticeKind} order by n desc limit 1`
  return row
}

/** One more row for the caller, whose account is locked, and its entry. */
export async function noteSeen(ctx: Ctx, version: number, model: ToldModel, last: Seen | undefined): Promise<void> {
  const { tenantId, accountId, bearerId } = ctx.account
  const n = (last?.n ?? 0) + 1
  void ctx.tx`
    insert into consent (tenant_id, account_id, kind, n, act, version, sha256, credential_id)
    values (${tenantId}, ${accountId}, ${noticeKind}, ${n}, 'SEEN', ${version}, ${hashOfModel(model)}, ${bearerId})`
  await ctx.audit('ai_notice.seen', { subject: { kind: 'account', id: accountId }, params: { version } })
}

/** Refuses ai.notice_due, unless the caller has seen what is told of this model, or is no person. */
export async function demandNoticed(ctx: Ctx, model: ToldModel): Promise<void> {
  const { tenantId, accountId } = ctx.account
  const [account] = await ctx.tx<{ kind: string }[]>`
    select kind from account where tenant_id = ${tenantId} and id = ${accountId}`
  if (account?.kind !== 'PERSON') return
  const seen = await findSeen(ctx, tenantId, accountId)
  if (seen?.sha256 !== hashOfModel(model))
    refuse('ai.notice_due', { version: versionOf(await findNotice(ctx, tenantId), model) })
}

/** Whether the texts of the account `a` go to no model: it objects, or is restricted. */
export const isKeptFromAi = (tx: Pick<Tx, 'part'>): Part => tx.part`(${isRestricted(tx)} or exists (
  select from consent c where c.tenant_id = a.tenant_id and c.account_id = a.id and c.kind = 'ai_content' and c.act = 'WITHDRAWN'
    and not exists (
      select from consent d where d.tenant_id = c.tenant_id and d.account_id = c.account_id and d.kind = c.kind and d.n > c.n)))`
