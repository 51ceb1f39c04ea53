/**
 * Checks a filter against what it names, and makes of it what the compiler and the interpreter carry out.
 * Spec: Work on boards, 2; docs/decisions/0210.
 */
import { type Condition, type Filter, kindFaults, type Path } from '../../../contract/items/filter.ts'
import { type FilterKindName, findItemField, kindOfCustom } from '../../../contract/items/filter-fields.ts'
import { type Fault, fault } from '../../../contract/items/filter-value.ts'
import { Problem } from '../../../contract/problem.ts'
import { pointerOf } from '../../../kernel/request/violations.ts'
import type { Checked, LeafField, Operand, Unknown } from './checked.ts'
import { foldOf } from './keys.ts'
import { type Names, namedBy } from './names.ts'
import { type Around, type DateValue, periodOf } from './periods.ts'

export interface CheckedFilter {
  readonly checked: Checked
  readonly unknown: readonly Unknown[]
}

export interface Means extends Around {
  readonly names: Names
  /** The account that `me` means; undefined where nobody asks, which refuses it. */
  readonly me: string | undefined
}

interface Check extends Means {
  readonly unknown: Unknown[]
  readonly faults: Fault[]
}

/** `at`: where the filter is in the request. Refuses request.invalid at the pointer: filter.op, filter.value. */
export function checkFilter(filter: Filter, at: Path, means: Means): CheckedFilter {
  const check: Check = { ...means, unknown: [], faults: [] }
  const checked = look(filter, at, check)
  if (check.faults.length > 0) {
    const errors = check.faults.map(({ path, code, params }) => ({ pointer: pointerOf(path), code, params }))
    throw new Problem('request.invalid', {}, { errors })
  }
  return { checked, unknown: check.unknown }
}

function look(filter: Filter, at: Path, check: Check): Checked {
  if ('all' in filter) return { all: filter.all.map((one, n) => look(one, [...at, 'all', n], check)) }
  if ('any' in filter) return { any: filter.any.map((one, n) => look(one, [...at, 'any', n], check)) }
  if ('not' in filter) return { not: look(filter.not, [...at, 'not'], check) }
  return lookAt(filter, at, check)
}

function lookAt(condition: Condition, at: Path, check: Check): Checked {
  const { op, value } = condition
  const item = findItemField(condition.field)
  if (item)
    return {
      leaf: { field: { kind: item.kind, item }, op, operand: operandOf({ kind: item.kind, item }, value, at, check) },
    }
  const custom = check.names.field(condition.field)
  if (custom === undefined) {
    check.unknown.push({ pointer: pointerOf([...at, 'field']), code: 'reference.unknown' })
    return { unknown: true }
  }
  const kind = kindOfCustom[custom.kind]
  const faults = kindFaults(kind, op, value, at)
  check.faults.push(...faults)
  const field = { kind, custom }
  return { leaf: { field, op, operand: faults.length > 0 ? {} : operandOf(field, value, at, check) } }
}

function operandOf(field: LeafField, value: unknown, at: Path, check: Check): Operand {
  if (value === undefined) return {}
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  switch (field.kind) {
    case 'TEXT':
      return { text: folded(String(value), at, check) }
    case 'NUMBER':
      return { numbers: values as number[] }
    case 'MOMENT':
    case 'DAY':
      return { periods: (values as DateValue[]).map((one) => periodOf(one, check)) }
    case 'FLAG':
      return { flag: value === true }
    case 'CHOICE':
    case 'OPTION':
    case 'OPTIONS':
      return { values: values as string[] }
    default:
      return idsOf(field, values as string[], { at, isList: Array.isArray(value) }, check)
  }
}

/** A text of nothing but accents folds to none, which every text contains. */
function folded(text: string, at: Path, { faults }: Check): string {
  const fold = foldOf(text)
  if (fold === '') faults.push(fault([...at, 'value'], 'filter.value', { takes: 'TEXT' satisfies FilterKindName }))
  return fold
}

function idsOf(
  field: LeafField,
  values: readonly string[],
  { at, isList }: { readonly at: Path; readonly isList: boolean },
  check: Check,
): Operand {
  const of = 'item' in field && 'of' in field.item ? field.item.of : undefined
  const named = namedBy(field.kind, of)
  const found: string[] = []
  for (const [n, sent] of values.entries()) {
    const path = isList ? [...at, 'value', n] : [...at, 'value']
    if (sent === 'me') {
      if (check.me === undefined) check.faults.push(fault(path, 'filter.value', { takes: field.kind }))
      else found.push(check.me)
      continue
    }
    const id = sent.toLowerCase()
    if (named !== undefined && check.names.has(named, id)) found.push(id)
    else check.unknown.push({ pointer: pointerOf(path), code: 'reference.unknown' })
  }
  return { values: found, hasGone: found.length < values.length }
}

/** The filter as it is kept: a custom field by its id, so that a field which is defined anew under the key is another one. */
export function storedFilter(filter: Filter, names: Names): Filter {
  if ('all' in filter) return { all: filter.all.map((one) => storedFilter(one, names)) }
  if ('any' in filter) return { any: filter.any.map((one) => storedFilter(one, names)) }
  if ('not' in filter) return { not: storedFilter(filter.not, names) }
  const custom = names.field(filter.field)
  return custom === undefined ? filter : { ...filter, field: `custom:${custom.id}` }
}
