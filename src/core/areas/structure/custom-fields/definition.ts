/**
 * Definitions of custom fields. The scope of each is one collection or the workspace.
 *
 *    in force ──DELETE──▶ deleted (the row stays, for the values that name it)
 *
 * The table guarantees that at most one definition in force has a key in its scope. Values name
 * a definition by its id, so a new definition under an old key shows none of the old values.
 * Nothing here writes an entry: if options are narrowed, a type is removed or a field becomes
 * required, values that were set before stay as they are.
 *
 * Elsewhere: what a value may be (value.ts). Spec: Structure: custom fields; decisions 3.
 */

import { type ItemType, isCapable } from '../../../contract/item-types.ts'
import type { Received } from '../../../contract/operation.ts'
import { refuse, refuseMember } from '../../../contract/problem.ts'
import {
  type CustomFieldDefinition,
  type FieldKind,
  mostFields,
  type customFieldOperations as ops,
} from '../../../contract/structure/custom-fields.ts'
import { rankOf } from '../../../contract/vocabulary.ts'
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { EventName } from '../../../kernel/outbox/event-row.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { newId } from '../../../kernel/values/id.ts'
import { findVisibleContainer, writableContainer } from '../../access/access.ts'
import { changedMembers } from '../changed-members.ts'

/** A definition's columns, as they are answered. */
export const columnsOf = ({ tx }: Ctx): Part => tx.part`
  id, collection_id, key, kind, options, is_required, applies_to, created_at, updated_at, version`

/** Refuses request.invalid, auth.role_required, container.archived, custom_field.key_taken, custom_field.type_not_supported, structure.full. */
export async function createCustomField(
  ctx: Ctx,
  { body }: Received<typeof ops.createCustomField>,
): Promise<CustomFieldDefinition> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const collectionId = body.collection_id ?? null
  const options = checkOptions(body.kind, body.options)
  checkTypes(body.applies_to)
  await together(refuseNoCollection(ctx, collectionId), demandAdmin(ctx, collectionId), refuseFull(ctx, collectionId))

  const [definition] = await tx<[CustomFieldDefinition]>`
    insert into custom_field (tenant_id, id, collection_id, key, kind, options, is_required, applies_to)
    values (${tenantId}, ${newId()}, ${collectionId}, ${body.key}, ${body.kind},
            ${options === null ? null : tx.json(options)}, ${body.is_required}, ${tx.json(body.applies_to)})
    returning ${columnsOf(ctx)}`

  return recorded(ctx, definition, 'work.custom_field.created')
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, request.invalid, custom_field.type_not_supported. */
export async function updateCustomField(
  ctx: Ctx,
  { fieldId, body }: Received<typeof ops.updateCustomField>,
): Promise<CustomFieldDefinition> {
  const { tx } = ctx
  const row = await lockDefinition(ctx, fieldId)
  if (body.options !== undefined) checkOptions(row.kind, body.options)
  if (body.applies_to !== undefined) checkTypes(body.applies_to)
  const next = {
    options: body.options ?? row.options,
    is_required: body.is_required ?? row.is_required,
    applies_to: body.applies_to ?? row.applies_to,
  }
  const members = changedMembers<CustomFieldDefinition>(row, next)
  if (members.length === 0) return row

  const [definition] = await tx<[CustomFieldDefinition]>`
    update custom_field set options = ${next.options === null ? null : tx.json(next.options)},
           is_required = ${next.is_required}, applies_to = ${tx.json(next.applies_to)},
           updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${fieldId}
    returning ${columnsOf(ctx)}`

  return recorded(ctx, definition, 'work.custom_field.changed', { members })
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function deleteCustomField(ctx: Ctx, { fieldId }: Received<typeof ops.deleteCustomField>): Promise<void> {
  await lockDefinition(ctx, fieldId)

  const [definition] = await ctx.tx<[CustomFieldDefinition]>`
    update custom_field set deleted_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${fieldId}
    returning ${columnsOf(ctx)}`

  await recorded(ctx, definition, 'work.custom_field.deleted')
}

/** The options as they are stored. Refuses request.invalid at /options. */
function checkOptions(kind: FieldKind, options: readonly string[] | undefined): readonly string[] | null {
  if (kind !== 'SELECT' && kind !== 'MULTI_SELECT')
    return options === undefined ? null : refuseMember('/options', 'value.not_taken')
  if (options === undefined) return refuseMember('/options', 'member.required')
  if (options.length === 0) refuseMember('/options', 'list.minimum', { minimum: 1 })
  if (new Set(options).size < options.length) refuseMember('/options', 'list.unique')
  return options
}

/** Refuses request.invalid at /applies_to, custom_field.type_not_supported. */
function checkTypes(types: readonly ItemType[]): void {
  if (types.length === 0) refuseMember('/applies_to', 'list.minimum', { minimum: 1 })
  if (new Set(types).size < types.length) refuseMember('/applies_to', 'list.unique')
  const wrong = types.findIndex((type) => !isCapable(type, 'CUSTOM_FIELDS'))
  const type = types[wrong]
  if (type !== undefined) {
    const errors = [{ pointer: `/applies_to/${wrong}`, code: 'value.not_taken', params: {} }]
    refuse('custom_field.type_not_supported', { type }, { errors })
  }
}

/** Refuses request.invalid at /collection_id. */
async function refuseNoCollection(ctx: Ctx, collectionId: string | null): Promise<void> {
  if (collectionId !== null && (await findVisibleContainer(ctx, collectionId))?.kind !== 'COLLECTION')
    refuseMember('/collection_id', 'reference.unknown')
}

/** The caller's right to define fields there. Refuses not_found, auth.role_required, container.archived. */
async function demandAdmin(ctx: Ctx, collectionId: string | null): Promise<void> {
  if (collectionId !== null) {
    await writableContainer(ctx, collectionId, 'ADMIN')
    return
  }
  const { role, isGuest } = ctx.account
  if (isGuest || rankOf[role] < rankOf.ADMIN) refuse('auth.role_required', { role: 'ADMIN' })
}

/**
 * Checks the right in the scope before it locks the row, because the container is always locked first.
 * Refuses not_found, auth.role_required, container.archived, precondition.failed.
 */
async function lockDefinition(ctx: Ctx, fieldId: string): Promise<CustomFieldDefinition> {
  const { tenantId } = ctx.account
  const [found] = await ctx.tx<{ collection_id: string | null }[]>`
    select collection_id from custom_field where tenant_id = ${tenantId} and id = ${fieldId}`
  if (!found) refuse('not_found')
  const [, [row]] = await together(
    demandAdmin(ctx, found.collection_id),
    ctx.tx<CustomFieldDefinition[]>`
      select ${columnsOf(ctx)}
      from custom_field where tenant_id = ${tenantId} and id = ${fieldId} and deleted_at is null for no key update`,
  )
  if (!row) refuse('not_found')
  ctx.unchanged(row.version)
  return row
}

/** The count is exact: a lock serialises concurrent calls. Refuses structure.full. */
async function refuseFull(ctx: Ctx, collectionId: string | null): Promise<void> {
  const { tenantId } = ctx.account
  void ctx.tx`select pg_advisory_xact_lock(${lockClasses.customFields}, hashtext(${tenantId + (collectionId ?? '')}))`
  const [row] = await ctx.tx<{ count: number }[]>`
    select count(*)::int as count from custom_field
    where tenant_id = ${tenantId} and collection_id is not distinct from ${collectionId} and deleted_at is null`
  if ((row?.count ?? 0) >= mostFields) refuse('structure.full', { limit: mostFields })
}

type FieldEvent = Extract<EventName, `work.custom_field.${string}`>

async function recorded(
  ctx: Ctx,
  definition: CustomFieldDefinition,
  event: FieldEvent,
  params: Readonly<Record<string, unknown>> = {},
): Promise<CustomFieldDefinition> {
  await ctx.record(event, definition, { collection_id: definition.collection_id, ...params })
  return definition
}
