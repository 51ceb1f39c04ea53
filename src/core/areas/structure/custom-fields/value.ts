/**
 * Values of custom fields: which definitions apply in a container, and which values each kind takes.
 *
 * A value is checked when it is set, against the definition of that moment. Values that were set
 * before stay, even if the options were narrowed since (spec: custom fields, rule 3).
 *
 * A collection may define a key that the workspace defines too, because the two scopes are
 * independent. The collection's definition then applies to its items, because an item shows one
 * value under one key (decision 0112).
 *
 * Spec: Resources, Custom field definition; Structure: custom fields; decisions 3.
 */

import { type ItemType, isCapable } from '../../../contract/item-types.ts'
import { refuseMember } from '../../../contract/problem.ts'
import type { FieldKind } from '../../../contract/structure/custom-fields.ts'
import { text, uuid } from '../../../contract/vocabulary.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { isRestrictedFor } from '../../access/restriction.ts'

/** The definition that a value is checked against. */
export interface FieldDefinition {
  readonly id: string
  readonly collection_id: string | null
  readonly key: string
  readonly kind: FieldKind
  readonly options: readonly string[] | null
  readonly is_required: boolean
  readonly applies_to: readonly ItemType[]
}

/** The definitions in force for the items of a container, by key, one for each key. `containerId`: a query for the id. */
export async function definitionsFor(ctx: Ctx, containerId: Part): Promise<FieldDefinition[]> {
  const { tenantId } = ctx.account
  // `distinct on` takes the first: the container's definition comes before the workspace's of the same key.
  return ctx.tx<FieldDefinition[]>`
    select distinct on (key) id, collection_id, key, kind, options, is_required, applies_to
    from custom_field
    where tenant_id = ${tenantId} and (collection_id = ${containerId} or collection_id is null) and deleted_at is null
    order by key, collection_id nulls last`
}

/** Whether items of a type carry the field: it names the type, and the type is capable of custom fields. */
export const carries = ({ applies_to }: Pick<FieldDefinition, 'applies_to'>, type: ItemType) =>
  applies_to.includes(type) && isCapable(type, 'CUSTOM_FIELDS')

/** A value as it is stored and answered: exactly as it was sent. */
export type FieldValue = string | number | boolean | string[]

/** Code points of a TEXT, and of a URL. */
const longestText = 10_000
const longestUrl = 2_000

/**
 * Answers the value, if the definition's kind takes it. Null is not a value: callers clear a field without this check.
 * Whether a USER exists is a question to the database: `refuseUnknownUser`. Refuses request.invalid at the pointer.
 */
export function checkFieldValue(
  definition: Pick<FieldDefinition, 'kind' | 'options'>,
  value: unknown,
  pointer: string,
): FieldValue {
  switch (definition.kind) {
    case 'TEXT':
      return textOf(value, longestText, pointer)
    case 'NUMBER':
      return numberOf(value, pointer)
    case 'BOOL':
      return typeof value === 'boolean' ? value : refuseType('boolean', pointer)
    case 'DATE':
      return dateOf(value, pointer)
    case 'URL':
      return urlOf(value, pointer)
    case 'USER':
      return userOf(value, pointer)
    case 'SELECT':
      return offered(definition.options ?? [], value, pointer)
    case 'MULTI_SELECT':
      return allOffered(definition.options ?? [], value, pointer)
  }
}

/** Refuses request.invalid at the pointer for an account that the workspace does not have any more, or that is restricted. */
export async function refuseUnknownUser(ctx: Ctx, accountId: string, pointer: string): Promise<void> {
  const [found] = await ctx.tx`
    select 1 from account a
    where a.tenant_id = ${ctx.account.tenantId} and a.id = ${accountId} and a.state <> 'ERASED' and not ${isRestrictedFor(ctx)}`
  if (!found) refuseMember(pointer, 'reference.unknown')
}

const refuseType = (expected: string, pointer: string): never => refuseMember(pointer, 'value.type', { expected })
const refuseFormat = (format: string, pointer: string): never => refuseMember(pointer, 'value.format', { format })

/** Bounded in code points. Text that PostgreSQL or UTF-8 cannot represent is refused as in any other member. */
function textOf(value: unknown, longest: number, pointer: string): string {
  if (typeof value !== 'string') return refuseType('string', pointer)
  const [issue] = text(1, longest).safeParse(value).error?.issues ?? []
  if (issue?.code !== 'custom') return value
  const { rule, ...params } = issue.params as { rule: string }
  return refuseMember(pointer, rule, params)
}

/** Integers beyond 2^53 arrive as bigint, numbers that no double holds as NaN: neither could be answered as sent. */
function numberOf(value: unknown, pointer: string): number {
  if (typeof value === 'bigint') {
    return value > 0n
      ? refuseMember(pointer, 'value.maximum', { maximum: Number.MAX_SAFE_INTEGER })
      : refuseMember(pointer, 'value.minimum', { minimum: Number.MIN_SAFE_INTEGER })
  }
  if (typeof value !== 'number') return refuseType('number', pointer)
  return Number.isFinite(value) ? value : refuseFormat('number', pointer)
}

/** A day of the calendar, `YYYY-MM-DD`, from the year 1. */
function dateOf(value: unknown, pointer: string): string {
  if (typeof value !== 'string') return refuseType('string', pointer)
  const isDay = /^(?!0000)\d{4}-\d\d-\d\d$/.test(value) && new Date(`${value}T00:00:00Z`).toJSON()?.startsWith(value)
  return isDay ? value : refuseFormat('date', pointer)
}

/** The URL parser drops tabs, line feeds and outer blanks. The value is stored as sent, so these are refused. */
function urlOf(value: unknown, pointer: string): string {
  const url = textOf(value, longestUrl, pointer)
  const isPlain = /^https?:\/\/[^\s\p{Cc}]+$/iu.test(url)
  return isPlain && URL.canParse(url) ? url : refuseFormat('url', pointer)
}

function userOf(value: unknown, pointer: string): string {
  if (typeof value !== 'string') return refuseType('string', pointer)
  return uuid.safeParse(value).data ?? refuseFormat('uuid', pointer)
}

function offered(options: readonly string[], value: unknown, pointer: string): string {
  if (typeof value !== 'string') return refuseType('string', pointer)
  return options.includes(value) ? value : refuseMember(pointer, 'value.one_of', { values: options })
}

function allOffered(options: readonly string[], value: unknown, pointer: string): string[] {
  if (!Array.isArray(value)) return refuseType('array', pointer)
  if (value.length === 0) return refuseMember(pointer, 'list.minimum', { minimum: 1 })
  const chosen = value.map((one: unknown, index) => offered(options, one, `${pointer}/${index}`))
  return new Set(chosen).size === chosen.length ? chosen : refuseMember(pointer, 'list.unique')
}
