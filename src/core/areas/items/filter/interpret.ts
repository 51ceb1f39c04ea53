/**
 * Whether a filter holds for an item in memory: true, false, or undefined where it is unknown.
 *
 * It says the same as the compiler (compile.ts) and shares none of its code: test/items/filter/agreement.test.ts compares
 * the two over random filters and items. What asks for items in the database uses the compiler; what has the item already
 * uses this.
 *
 * Spec: Work on boards, 2, Meaning; docs/decisions/0210.
 */
import type { Item } from '../../../contract/items/operations.ts'
import type { FieldValue } from '../../structure/custom-fields/value.ts'
import type { Checked, CustomField, Leaf, Operand } from './checked.ts'
import { foldOf } from './keys.ts'
import type { Period } from './periods.ts'

/** What a filter asks besides the item. */
export interface Facts {
  /** The hub that holds a collection; null: none. */
  readonly hubOf: (containerId: string) => string | null
  /** Whether an item has children that are not deleted. */
  readonly hasChildren: (itemId: string) => boolean
  /** Whether an item carries files. */
  readonly hasAttachments: (itemId: string) => boolean
  /** Whether an account is ACTIVE or INVITED and sees a container. */
  readonly hasAccess: (accountId: string, containerId: string) => boolean
}

type Truth = boolean | undefined

export function holds(filter: Checked, item: Item, facts: Facts): Truth {
  if ('unknown' in filter) return undefined
  if ('leaf' in filter) return leafHolds(filter.leaf, item, facts)
  if ('not' in filter) return opposite(holds(filter.not, item, facts))
  if ('all' in filter) return allOf(filter.all.map((one) => holds(one, item, facts)))
  return anyOf(filter.any.map((one) => holds(one, item, facts)))
}

const opposite = (truth: Truth): Truth => (truth === undefined ? undefined : !truth)
const allOf = (truths: readonly Truth[]): Truth =>
  truths.includes(false) ? false : truths.includes(undefined) ? undefined : true
const anyOf = (truths: readonly Truth[]): Truth =>
  truths.includes(true) ? true : truths.includes(undefined) ? undefined : false

/** A value of an item; null: it has none. */
type Value = FieldValue | null

function leafHolds({ field, op, operand }: Leaf, item: Item, facts: Facts): Truth {
  const value = 'custom' in field ? valueShown(field.custom, item) : memberOf(field.item, item, facts)
  if (op === 'is_empty') return isEmpty(value)
  if (op === 'is_not_empty') return !isEmpty(value)
  if (op === 'has_no_access')
    return [value ?? []].flat().some((one) => !facts.hasAccess(String(one), item.container_id))
  switch (field.kind) {
    case 'TEXT':
      return textHolds(op, value, operand)
    case 'NUMBER':
      return numberHolds(op, value, operand)
    case 'MOMENT':
      return dateHolds(op, value === null ? null : Date.parse(String(value)), operand, momentEnds)
    case 'DAY':
      return dateHolds(op, value === null ? null : String(value), operand, dayEnds)
    case 'FLAG':
      return value === null && 'custom' in field ? false : isSet(value) === operand.flag
    default:
      return setHolds(op, value, operand)
  }
}

const isEmpty = (value: Value): boolean => value === null || (Array.isArray(value) && value.length === 0)
/** A flag of an item may be a moment, which says since when. */
const isSet = (value: Value): boolean => value !== null && value !== false

function memberOf(
  field: { readonly member: string; readonly of?: unknown; readonly anyOf?: 'children' | 'attachments' },
  item: Item,
  { hubOf, hasChildren, hasAttachments }: Facts,
): Value {
  if (field.anyOf) return field.anyOf === 'children' ? hasChildren(item.id) : hasAttachments(item.id)
  if (field.of === 'hub') return hubOf(item.container_id)
  return (item[field.member as keyof Item] ?? null) as Value
}

/** The value under the field's key, if it is this field's. */
function valueShown({ key, collection_id, shadowed_in }: CustomField, item: Item): Value {
  const isOf = collection_id === null ? !shadowed_in.includes(item.container_id) : collection_id === item.container_id
  return isOf && Object.hasOwn(item.custom_fields, key) ? (item.custom_fields[key] ?? null) : null
}

function setHolds(op: Leaf['op'], value: Value, { values = [], hasGone = false }: Operand): Truth {
  const has = Array.isArray(value) ? value : value === null ? [] : [String(value)]
  const gone: Truth[] = hasGone ? [undefined] : []
  const each = values.map((one): Truth => has.includes(one))
  switch (op) {
    case 'is':
    case 'in':
    case 'has_any':
      return anyOf([...each, ...gone])
    case 'is_not':
    case 'not_in':
    case 'has_none':
      return opposite(anyOf([...each, ...gone]))
    case 'has_all':
      return allOf([...each, ...gone])
    default:
      throw unexpected(op)
  }
}

function textHolds(op: Leaf['op'], value: Value, { text = '' }: Operand): Truth {
  const fold = value === null ? undefined : foldOf(String(value))
  switch (op) {
    case 'is':
      return fold === text
    case 'is_not':
      return fold !== text
    case 'starts_with':
      return fold?.startsWith(text) ?? false
    case 'contains':
      return fold?.includes(text) ?? false
    default:
      throw unexpected(op)
  }
}

function numberHolds(op: Leaf['op'], value: Value, { numbers: [a = 0, b = 0] = [] }: Operand): Truth {
  if (value === null) return op === 'is_not'
  const number = Number(value)
  switch (op) {
    case 'is':
      return number === a
    case 'is_not':
      return number !== a
    case 'lt':
      return number < a
    case 'lte':
      return number <= a
    case 'gt':
      return number > a
    case 'gte':
      return number >= a
    case 'between':
      return a <= number && number <= b
    default:
      throw unexpected(op)
  }
}

type Ends<T> = (period: Period) => readonly [from: T, until: T]
const momentEnds: Ends<number> = ({ from, until }) => [from, until]
const dayEnds: Ends<string> = ({ firstDay, nextDay }) => [firstDay, nextDay]

function dateHolds<T extends number | string>(op: Leaf['op'], at: T | null, { periods = [] }: Operand, ends: Ends<T>) {
  const [first, last = first] = periods
  if (at === null || first === undefined || last === undefined) return false
  const [from, until] = ends(first)
  switch (op) {
    case 'on':
      return from <= at && at < until
    case 'before':
      return at < from
    case 'after':
      return at >= until
    case 'between':
      return from <= at && at < ends(last)[1]
    default:
      throw unexpected(op)
  }
}

const unexpected = (op: string) => new Error(`${op} passed the check of a filter and no case of its kind`)
