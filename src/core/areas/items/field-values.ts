/**
 * Values of custom fields in items: which fields an item has, and setting one.
 *
 * A value is checked when it is set, against the definition of that time. Earlier values stay
 * unchanged. Spec: Structure: custom fields; Custom field definition; decisions 3.
 */

import type { ItemType } from '../../contract/item-types.ts'
import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { FieldKind } from '../../contract/structure/custom-fields.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import {
  carries,
  checkFieldValue,
  definitionsFor,
  type FieldDefinition,
  type FieldValue,
  refuseUnknownUser,
} from '../structure/custom-fields/value.ts'
import { keyValue } from './filter/keying.ts'
import { containerOf, lockItem, readItem, recordedAs, touch } from './item.ts'

export interface CheckedValue {
  readonly key: string
  readonly fieldId: string
  readonly kind: FieldKind
  readonly value: FieldValue
}

/**
 * The values of a new item. Refuses request.invalid: a key that its type does not carry, a wrong value, a required one
 * missing.
 */
export async function checkNewValues(
  ctx: Ctx,
  containerId: string,
  type: ItemType,
  sent: Readonly<Record<string, unknown>>,
): Promise<CheckedValue[]> {
  const fields = (await definitionsFor(ctx, ctx.tx.part`${containerId}::uuid`)).filter((field) => carries(field, type))
  const given = Object.entries(sent).filter(([, value]) => value !== null)
  const unknown = Object.keys(sent).find((key) => !fields.some((field) => field.key === key))
  if (unknown !== undefined) refuseMember(`/custom_fields/${unknown}`, 'reference.unknown')
  const missing = fields.find(({ key, is_required }) => is_required && !given.some(([name]) => name === key))
  if (missing) refuseMember(`/custom_fields/${missing.key}`, 'member.required')

  const checked: CheckedValue[] = []
  for (const [key, value] of given) {
    const field = fields.find((one) => one.key === key)
    if (field)
      checked.push({
        key,
        fieldId: field.id,
        kind: field.kind,
        value: await checkedValue(ctx, field, value, `/custom_fields/${key}`),
      })
  }
  return checked
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived, request.invalid. */
export async function setItemField(ctx: Ctx, { itemId, key, body }: Received<typeof ops.setItemField>): Promise<Item> {
  const [{ item }, fields] = await together(lockItem(ctx, itemId), definitionsFor(ctx, containerOf(ctx, itemId)))
  const field = fields.find((one) => one.key === key && carries(one, item.type))
  if (!field) refuse('not_found')
  if (body.value === null && field.is_required) refuseMember('/value', 'member.required')
  const value = body.value === null ? null : await checkedValue(ctx, field, body.value, '/value')
  const isChanged = value === null ? await cleared(ctx, itemId, field.id) : await written(ctx, itemId, field.id, value)
  if (!isChanged) return item

  keyValue(ctx, itemId, field.id, field.kind, value)
  void touch(ctx, itemId, 'values')

  // Read as the database keeps the value: another definition of the key may show behind a cleared one.
  const after = await readItem(ctx, itemId)
  await recordedAs(ctx, item, after, 'work.item.field_set', { field_id: field.id, key, is_cleared: value === null })
  return after
}

async function checkedValue(ctx: Ctx, field: FieldDefinition, sent: unknown, pointer: string): Promise<FieldValue> {
  const value = checkFieldValue(field, sent, pointer)
  if (field.kind === 'USER') await refuseUnknownUser(ctx, String(value), pointer)
  return value
}

/** Removes the value; answers whether there was one. */
async function cleared(ctx: Ctx, itemId: string, fieldId: string): Promise<boolean> {
  const { count } = await ctx.tx`
    delete from item_field_value
    where tenant_id = ${ctx.account.tenantId} and item_id = ${itemId} and field_id = ${fieldId}`
  return count === 1
}

/** Stores the value; answers whether it was changed. */
async function written(ctx: Ctx, itemId: string, fieldId: string, value: FieldValue): Promise<boolean> {
  const { tx } = ctx
  const { count } = await tx`
    insert into item_field_value as v (tenant_id, item_id, field_id, value)
    values (${ctx.account.tenantId}, ${itemId}, ${fieldId}, ${tx.json(value)})
    on conflict (tenant_id, item_id, field_id) do update set value = excluded.value where v.value <> excluded.value`
  return count === 1
}
