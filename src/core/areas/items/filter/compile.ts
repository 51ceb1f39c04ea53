/**
 * A filter as a condition of SQL on the item `i`, with bound parameters alone.
 *
 * It is written in its normal form: above the conditions are only `and` and `or`, so a comparison with a value that is not there
 * may be false. The opposite of a condition is `(…) is not true`, which holds where there is no value.
 *
 * Each condition is true or false of the item, never of a row that is joined to it. Values and titles are compared by their
 * typed keys (keys.ts). Where items may lack theirs, `isLoose` lets such an item pass every condition that needs them, and
 * whoever asks looks at it again (unkeyed.ts).
 *
 * What belongs to an item is looked up for each item that is looked at: `offset 0` keeps PostgreSQL from reading all such rows
 * of the workspace first, once for each condition.
 *
 * Spec: Work on boards, 2, Meaning and Cost; docs/decisions/0210 and 0211.
 */
import type { FilterOperator, ItemField } from '../../../contract/items/filter-fields.ts'
import { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { hasAccess } from '../../access/account-access.ts'
import type { Checked, CustomField, Operand } from './checked.ts'
import { beginningOf, numberKey } from './keys.ts'
import { isKeyed, type KeyLookUp, keyedField, type Normal, normalForm } from './normal-form.ts'
import type { Period } from './periods.ts'

interface Compiling {
  /** Some items may lack their typed keys. */
  readonly isLoose: boolean
}

/** Planned for the call and not kept: a statement with a filter has as many texts as there are filters. */
export const once = ({ strings, values }: Part): Part => new Part(strings, values, false)

/** The condition. */
export const compile = (ctx: Ctx, filter: Checked, options: Compiling): Part =>
  once(compiled(ctx, normalForm(filter), options))

function compiled(ctx: Ctx, filter: Normal, options: Compiling): Part {
  if ('key' in filter) return loosely(ctx, options, keyHolds(ctx, filter.key))
  if ('holds' in filter) {
    const { field, op, operand } = filter.holds
    const holds =
      'custom' in field ? customHolds(ctx, field.custom, op, operand) : itemHolds(ctx, field.item, op, operand)
    const condition = filter.isNegated ? ctx.tx.part`(${holds}) is not true` : holds
    return isKeyed(field) ? loosely(ctx, options, condition) : condition
  }
  const parts = ('all' in filter ? filter.all : filter.any).map((one) => compiled(ctx, one, options))
  return 'all' in filter ? allOf(ctx, parts) : anyOf(ctx, parts)
}

const loosely = ({ tx }: Ctx, { isLoose }: Compiling, condition: Part): Part =>
  isLoose ? tx.part`(i.without_keys or ${condition})` : condition

const allOf = ({ tx }: Ctx, parts: readonly Part[]): Part =>
  parts.length === 0 ? tx.part`true` : tx.part`(${parts.reduce((all, one) => tx.part`${all} and ${one}`)})`
const anyOf = ({ tx }: Ctx, parts: readonly Part[]): Part =>
  parts.length === 0 ? tx.part`false` : tx.part`(${parts.reduce((all, one) => tx.part`${all} or ${one}`)})`

/** Whether the item has such a key and shows it. */
function keyHolds(ctx: Ctx, { field, conditions, isAny, isNegated }: KeyLookUp): Part {
  const { tx } = ctx
  const parts = conditions.map(({ op, operand }) =>
    'custom' in field ? keyIs(ctx, field.custom, op, operand) : textKeyIs(ctx, op, operand),
  )
  const has = hasKey(ctx, keyedField(field), isAny ? anyOf(ctx, parts) : allOf(ctx, parts))
  const holds = 'custom' in field ? tx.part`(${has} and ${isShown(ctx, field.custom)})` : has
  return isNegated ? tx.part`(${holds}) is not true` : holds
}

/** A column of the item. The names are those of the contract's table, and part of the text. */
function column(name: string): Part {
  if (!/^[a-z_]+$/.test(name)) throw new TypeError(`${name} is no name of a column`)
  return new Part([`i.${name}`], [], true)
}

function itemHolds(ctx: Ctx, field: ItemField, op: FilterOperator, operand: Operand): Part {
  const { tx } = ctx
  if (field.kind === 'TEXT') return tx.part`false` // only `is_empty` comes here, and there is no item without a title
  if (field.rows) return rowsHold(ctx, field.rows, op, operand)
  if ('of' in field && field.of === 'hub') return inHub(ctx, op, operand)
  if (field.anyOf) return tx.part`${hasAny[field.anyOf](ctx)} = ${operand.flag === true}`
  const value = column(field.member)
  if (op === 'is_empty') return tx.part`${value} is null`
  if (op === 'has_no_access') return tx.part`(${value} is not null and ${lacksAccess(ctx, value)})`
  if (field.kind === 'FLAG') return tx.part`(${value} is not null) = ${operand.flag === true}`
  if (field.kind === 'MOMENT') return dateIs(ctx, value, op, operand, momentEnds)
  return oneOf(ctx, value, operand)
}

const hasAny: Readonly<Record<NonNullable<ItemField['anyOf']>, (ctx: Ctx) => Part>> = {
  children: ({ tx, account: { tenantId } }) => tx.part`exists (
    select from item x where x.tenant_id = ${tenantId} and x.parent_id = i.id and x.deleted_at is null offset 0)`,
  attachments: ({ tx, account: { tenantId } }) => tx.part`exists (
    select from media_reference x where x.tenant_id = ${tenantId} and x.item_id = i.id offset 0)`,
}

const oneOf = ({ tx }: Ctx, value: Part, { values = [] }: Operand): Part => {
  const [first] = values
  if (first === undefined) return tx.part`false`
  return values.length === 1 ? tx.part`${value} = ${first}` : tx.part`${value} in ${tx.list(values)}`
}

function inHub(ctx: Ctx, op: FilterOperator, operand: Operand): Part {
  const { tx } = ctx
  const hub = tx.part`x.parent_id`
  const condition = op === 'is_empty' ? tx.part`${hub} is null` : oneOf(ctx, hub, operand)
  return tx.part`exists (
    select from container x where x.tenant_id = ${ctx.account.tenantId} and x.id = i.container_id and ${condition})`
}

function rowsHold(ctx: Ctx, rows: { table: string; column: string }, op: FilterOperator, operand: Operand): Part {
  const { tx } = ctx
  const { values = [] } = operand
  const has = (condition: Part) => hasRow(ctx, rows.table, condition)
  const of = rows.table === 'item_label' ? tx.part`x.label_id` : tx.part`x.account_id`
  if (op === 'is_empty') return tx.part`not ${has(tx.part`true`)}`
  if (op === 'has_no_access') return has(lacksAccess(ctx, of))
  if (op === 'has_all')
    return allOf(
      ctx,
      values.map((one) => has(tx.part`${of} = ${one}`)),
    )
  return has(oneOf(ctx, of, operand))
}

const lacksAccess = ({ tx, account: { tenantId } }: Ctx, accountId: Part): Part =>
  tx.part`not ${hasAccess(tx, tenantId, accountId, tx.part`i.container_id`)}`

/** Of the labels of an item only those count that it shows: its container's, and not deleted. */
function hasRow(ctx: Ctx, table: string, condition: Part): Part {
  const { tenantId } = ctx.account
  const { tx } = ctx
  if (table === 'item_label')
    return tx.part`exists (
      select from item_label x join label v on v.tenant_id = x.tenant_id and v.id = x.label_id
      where x.tenant_id = ${tenantId} and x.item_id = i.id and ${condition}
        and v.container_id = i.container_id and v.deleted_at is null offset 0)`
  return tx.part`exists (
    select from item_member x where x.tenant_id = ${tenantId} and x.item_id = i.id and ${condition} offset 0)`
}

/** `is_empty` and `has_all`, which no key of its own meets. */
function customHolds(ctx: Ctx, field: CustomField, op: FilterOperator, operand: Operand): Part {
  const { tx } = ctx
  const { values = [] } = operand
  const has = (condition: Part) => tx.part`(${hasKey(ctx, field.id, condition)} and ${isShown(ctx, field)})`
  if (op === 'is_empty') return tx.part`not ${has(tx.part`true`)}`
  return allOf(
    ctx,
    values.map((one) => has(tx.part`k.key = ${one}`)),
  )
}

const hasKey = (ctx: Ctx, fieldId: string, condition: Part): Part => ctx.tx.part`exists (
  select from item_field_key k
  where k.tenant_id = ${ctx.account.tenantId} and k.field_id = ${fieldId} and k.item_id = i.id and ${condition} offset 0)`

/** Whether the item shows values of the field: it is of a type that carries it, and in a container where it is in force. */
export function isShown(ctx: Ctx, { key, collection_id, applies_to, shadowed_in }: CustomField): Part {
  const { tx } = ctx
  const isOfType = tx.part`i.type in ${tx.list(applies_to)}`
  if (collection_id !== null) return tx.part`${isOfType} and i.container_id = ${collection_id}`
  if (shadowed_in.length === 0) return isOfType
  return tx.part`${isOfType} and not exists (
    select from custom_field s
    where s.tenant_id = ${ctx.account.tenantId} and s.collection_id = i.container_id and s.key = ${key} and s.deleted_at is null)`
}

/** The condition on a typed key `k` of the field. */
function keyIs(ctx: Ctx, { kind }: CustomField, op: FilterOperator, operand: Operand): Part {
  const { tx } = ctx
  if (op === 'has_no_access')
    return lacksAccess(ctx, tx.part`(case when k.key ~ '^[0-9a-f-]{36}$' then k.key end)::uuid`)
  switch (kind) {
    case 'TEXT':
    case 'URL':
      return textKeyIs(ctx, op, operand)
    case 'NUMBER':
      return numberKeyIs(ctx, op, operand)
    case 'DATE':
      return dateIs(ctx, tx.part`k.key`, op, operand, dayEnds)
    case 'BOOL':
      return tx.part`k.key = ${String(operand.flag === true)}`
    default:
      return oneOf(ctx, tx.part`k.key`, operand)
  }
}

/** The key leads to the row, and the whole text decides. */
function textKeyIs({ tx }: Ctx, op: FilterOperator, { text = '' }: Operand): Part {
  const key = beginningOf(text)
  switch (op) {
    case 'is':
      return tx.part`k.key = ${key} and coalesce(k.whole, k.key) = ${text}`
    case 'starts_with':
      return tx.part`k.key ^@ ${key} and starts_with(coalesce(k.whole, k.key), ${text})`
    default:
      return tx.part`strpos(coalesce(k.whole, k.key), ${text}) > 0`
  }
}

function numberKeyIs({ tx }: Ctx, op: FilterOperator, { numbers: [a = 0, b = 0] = [] }: Operand): Part {
  const key = numberKey(a)
  switch (op) {
    case 'lt':
      return tx.part`k.key < ${key}`
    case 'lte':
      return tx.part`k.key <= ${key}`
    case 'gt':
      return tx.part`k.key > ${key}`
    case 'gte':
      return tx.part`k.key >= ${key}`
    case 'between':
      return tx.part`k.key >= ${key} and k.key <= ${numberKey(b)}`
    default:
      return tx.part`k.key = ${key}`
  }
}

type Ends = (period: Period) => readonly [from: string, until: string]
const momentEnds: Ends = ({ from, until }) => [new Date(from).toISOString(), new Date(until).toISOString()]
const dayEnds: Ends = ({ firstDay, nextDay }) => [firstDay, nextDay]

function dateIs({ tx }: Ctx, value: Part, op: FilterOperator, { periods = [] }: Operand, ends: Ends): Part {
  const [first, last = first] = periods
  if (first === undefined || last === undefined) throw new TypeError(`${op} has no period`)
  const [from, until] = ends(first)
  if (op === 'before') return tx.part`${value} < ${from}`
  if (op === 'after') return tx.part`${value} >= ${until}`
  return tx.part`(${value} >= ${from} and ${value} < ${ends(last)[1]})`
}
