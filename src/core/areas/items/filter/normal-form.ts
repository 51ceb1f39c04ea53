/**
 * A filter in the form that it is carried out in: each `not` is carried down to the conditions, and conditions on one field share
 * the look-up of its key.
 *
 *    any [title contains a, title contains b]        a key of the title that has a or b
 *    not any [title contains a, state is DONE]       all [not state is DONE, no key of the title that has a]
 *
 * Above the conditions are then only `and` and `or`, so that what is unknown may be written as false. A look-up costs several
 * times what a comparison costs, and a filter may have fifty words of one title.
 * Spec: Work on boards, 2, Meaning and Cost.
 */
import type { FilterOperator } from '../../../contract/items/filter-fields.ts'
import type { Checked, Leaf, LeafField, Operand } from './checked.ts'
import { titleField } from './keys.ts'

export type Normal =
  | { readonly all: readonly Normal[] }
  | { readonly any: readonly Normal[] }
  | { readonly holds: Condition; readonly isNegated: boolean }
  | { readonly key: KeyLookUp }

interface Condition {
  readonly field: LeafField
  /** Never one of `opposites`. */
  readonly op: FilterOperator
  readonly operand: Operand
}

/** Whether the item has a key of the field that meets one of the conditions, or all of them; or has none. */
export interface KeyLookUp {
  readonly field: LeafField
  readonly conditions: readonly Pick<Condition, 'op' | 'operand'>[]
  readonly isAny: boolean
  readonly isNegated: boolean
}

const nothing: Normal = { any: [] }

/** Operators that are the opposite of another one. */
const opposites: Partial<Readonly<Record<FilterOperator, FilterOperator>>> = {
  is_not: 'is',
  not_in: 'in',
  has_none: 'has_any',
  is_not_empty: 'is_empty',
}

export function normalForm(filter: Checked, isNegated = false): Normal {
  if ('unknown' in filter) return nothing
  if ('not' in filter) return normalForm(filter.not, !isNegated)
  if ('leaf' in filter) return normalLeaf(filter.leaf, isNegated)
  const parts = ('all' in filter ? filter.all : filter.any).map((one) => normalForm(one, isNegated))
  const isAny = 'all' in filter === isNegated
  const shared = shareLookUps(parts, isAny)
  return isAny ? { any: shared } : { all: shared }
}

function normalLeaf({ field, op: sent, operand }: Leaf, isNegatedAbove: boolean): Normal {
  const op = opposites[sent] ?? sent
  const isNegated = isNegatedAbove !== (op !== sent)
  // What is in none of the values that are left may be in one that is gone.
  const isOpen = operand.hasGone === true && (op === 'has_all' ? !isNegated : isNegated)
  if (isOpen) return nothing
  if (!isKeyed(field) || op === 'is_empty' || op === 'has_all') return { holds: { field, op, operand }, isNegated }
  return { key: { field, conditions: [{ op, operand }], isAny: true, isNegated } }
}

/** Whether the field is compared by typed keys. */
export const isKeyed = (field: LeafField): boolean => 'custom' in field || field.kind === 'TEXT'

/** The field whose keys are read. */
export const keyedField = (field: LeafField): string => ('custom' in field ? field.custom.id : titleField)

function shareLookUps(parts: readonly Normal[], isAny: boolean): Normal[] {
  const shared = new Map<string, KeyLookUp>()
  const others: Normal[] = []
  for (const part of parts) {
    if (!('key' in part) || !canShare(part.key, isAny)) {
      others.push(part)
      continue
    }
    const { field, conditions, isNegated } = part.key
    const name = `${keyedField(field)} ${isNegated}`
    const before = shared.get(name)?.conditions ?? []
    shared.set(name, { field, conditions: [...before, ...conditions], isAny: isAny !== isNegated, isNegated })
  }
  // PostgreSQL evaluates an `or` as it is written, and what looks nothing up is cheaper.
  return [...others, ...[...shared.values()].map((key) => ({ key }))]
}

/**
 * A or B may always be asked of one key. A and B only where an item has at most one key of the field; of a MULTI_SELECT it has
 * several.
 */
function canShare({ field, isNegated }: KeyLookUp, isAny: boolean): boolean {
  const isSingle = !('custom' in field && field.custom.kind === 'MULTI_SELECT')
  return isAny !== isNegated || isSingle
}
