/**
 * The labels of a container: its vocabulary.
 *
 *    in it ──DELETE──▶ out of it ──:restore──▶ in it
 *
 * A deletion writes only the label's row. Entries keep their labels and show those that are in
 * the vocabulary, so a restored label appears where it was. Names are unique among the labels in
 * the vocabulary; :restore is refused if another label has taken the name.
 *
 * Spec: Structure: labels; Resources, Label; decision 0112.
 */

import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import { type Label, mostOfAKind, type labelOperations as ops } from '../../../contract/structure/operations.ts'
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { EventName } from '../../../kernel/outbox/event-row.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { caseFold } from '../../../kernel/values/case-fold.ts'
import { newId } from '../../../kernel/values/id.ts'
import { writableContainer } from '../../access/access.ts'
import { changedMembers } from '../changed-members.ts'

type LabelRow = Label & { readonly deleted_at: string | null }

/** Refuses not_found, auth.role_required, container.archived, label.name_taken, structure.full. */
export async function createLabel(ctx: Ctx, { containerId, body }: Received<typeof ops.createLabel>): Promise<Label> {
  const { tenantId } = ctx.account
  await together(writableContainer(ctx, containerId, 'MEMBER'), refuseFull(ctx, containerId))

  const [label] = await ctx.tx<[Label]>`
    insert into label (tenant_id, id, container_id, name, name_fold, color_token, description)
    values (${tenantId}, ${newId()}, ${containerId}, ${body.name}, ${caseFold(body.name)}, ${body.color_token}, ${body.description ?? null})
    returning id, container_id, name, color_token, description, created_at, updated_at, version`

  return recorded(ctx, label, 'work.label.created')
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, label.name_taken. */
export async function updateLabel(
  ctx: Ctx,
  { containerId, labelId, body }: Received<typeof ops.updateLabel>,
): Promise<Label> {
  const row = await lockLabel(ctx, containerId, labelId)
  if (row.deleted_at !== null) refuse('not_found')
  ctx.unchanged(row.version)
  const next = {
    name: body.name ?? row.name,
    color_token: body.color_token ?? row.color_token,
    description: body.description === undefined ? row.description : body.description,
  }
  const members = changedMembers<Label>(row, next)
  if (members.length === 0) return row

  const [label] = await ctx.tx<[Label]>`
    update label set name = ${next.name}, name_fold = ${caseFold(next.name)}, color_token = ${next.color_token},
           description = ${next.description}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${labelId}
    returning id, container_id, name, color_token, description, created_at, updated_at, version`

  return recorded(ctx, label, 'work.label.changed', { members })
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function deleteLabel(ctx: Ctx, { containerId, labelId }: Received<typeof ops.deleteLabel>): Promise<void> {
  const row = await lockLabel(ctx, containerId, labelId)
  if (row.deleted_at !== null) refuse('not_found')
  ctx.unchanged(row.version)

  const [label] = await ctx.tx<[Label]>`
    update label set deleted_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${labelId}
    returning id, container_id, name, color_token, description, created_at, updated_at, version`

  await recorded(ctx, label, 'work.label.deleted')
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, label.name_taken, structure.full. */
export async function restoreLabel(
  ctx: Ctx,
  { containerId, labelId }: Received<typeof ops.restoreLabel>,
): Promise<Label> {
  const row = await lockLabel(ctx, containerId, labelId)
  ctx.unchanged(row.version)
  if (row.deleted_at === null) return row
  await refuseFull(ctx, containerId)

  const [label] = await ctx.tx<[Label]>`
    update label set deleted_at = null, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${labelId}
    returning id, container_id, name, color_token, description, created_at, updated_at, version`

  return recorded(ctx, label, 'work.label.restored')
}

/**
 * Locks the label, deleted or not, in a writable container.
 * Refuses not_found, auth.role_required, container.archived.
 */
async function lockLabel(ctx: Ctx, containerId: string, labelId: string): Promise<LabelRow> {
  const [, [row]] = await together(
    writableContainer(ctx, containerId, 'MEMBER'),
    ctx.tx<LabelRow[]>`
      select id, container_id, name, color_token, description, created_at, updated_at, version, deleted_at from label
      where tenant_id = ${ctx.account.tenantId} and container_id = ${containerId} and id = ${labelId} for no key update`,
  )
  return row ?? refuse('not_found')
}

/** The count is exact: a lock serialises concurrent calls. Refuses structure.full. */
async function refuseFull(ctx: Ctx, containerId: string): Promise<void> {
  const { tenantId } = ctx.account
  void ctx.tx`select pg_advisory_xact_lock(${lockClasses.labels}, hashtext(${tenantId + containerId}))`
  const [row] = await ctx.tx<{ count: number }[]>`
    select count(*)::int as count from label
    where tenant_id = ${tenantId} and container_id = ${containerId} and deleted_at is null`
  if ((row?.count ?? 0) >= mostOfAKind) refuse('structure.full', { limit: mostOfAKind })
}

type LabelEvent = Extract<EventName, `work.label.${string}`>

async function recorded(
  ctx: Ctx,
  label: Label,
  event: LabelEvent,
  params: Readonly<Record<string, unknown>> = {},
): Promise<Label> {
  await ctx.record(event, label, { container_id: label.container_id, ...params })
  return label
}
