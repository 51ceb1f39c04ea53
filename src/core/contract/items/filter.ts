/**
 * A filter: conditions on items, joined by all, any and not.
 *
 *    {all: […]} | {any: […]} | {not: …} | {field, op, value?}
 *
 * The shape is checked here by one walk and not by a recursive schema: the bounds hold for the whole filter, and each fault
 * has a code of its own at its pointer. What depends on the workspace is checked when the filter is used
 * (areas/items/filter/check.ts): the kind of a custom field, and whether an id names something that the caller sees.
 *
 * Spec: Work on boards, 2; docs/decisions/0210.
 */
import { z } from 'zod'
import {
  bareOperators,
  type FilterKindName,
  type FilterOperator,
  filterBounds,
  filterKinds,
  filterOperators,
  findItemField,
  itemFields,
} from './filter-fields.ts'
import { conditionSchemas } from './filter-schema.ts'
import { type Fault, fault, valueFault } from './filter-value.ts'

export interface Condition {
  readonly field: string
  readonly op: FilterOperator
  readonly value?: unknown
}
export type Filter =
  | { readonly all: readonly Filter[] }
  | { readonly any: readonly Filter[] }
  | { readonly not: Filter }
  | Condition

export type Path = readonly (string | number)[]

/** A custom field as a filter names it: by the key that is shown, or by the id, which a later field of that key has not. */
export function customFieldOf(field: string): { readonly key: string } | { readonly id: string } | undefined {
  const [, key] = /^custom\.([a-z][a-z0-9_]{0,49})$/.exec(field) ?? []
  if (key !== undefined) return { key }
  const [, id] = /^custom:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.exec(field) ?? []
  return id === undefined ? undefined : { id: id.toLowerCase() }
}

interface Walk {
  readonly faults: Fault[]
  conditions: number
}

/** What is wrong with a filter, whatever the workspace; empty if nothing is. */
export function faultsOf(sent: unknown): readonly Fault[] {
  const walk: Walk = { faults: [], conditions: 0 }
  look(sent, [], 0, walk)
  if (walk.faults.length === 0 && bytesOf(sent) > filterBounds.bytes) walk.faults.push(tooLarge([], 'bytes'))
  return walk.faults
}

const bytesOf = (sent: unknown) => new TextEncoder().encode(JSON.stringify(sent)).length

const tooLarge = (path: Path, bound: 'depth' | 'conditions' | 'bytes') =>
  fault(path, 'filter.too_large', { bound, limit: filterBounds[bound] })

const joins = ['all', 'any', 'not'] as const

/** Ends at the first bound that is passed, so a filter of any size costs as much as the largest that is taken. */
function look(sent: unknown, path: Path, level: number, walk: Walk): void {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    walk.faults.push(fault(path, 'value.type', { expected: 'object' }))
    return
  }
  const members = sent as Readonly<Record<string, unknown>>
  const join = joins.find((name) => Object.hasOwn(members, name))
  if (join === undefined) {
    lookAtCondition(members, path, walk)
    return
  }
  const others = unknownIn(members, [join], path)
  if (others.length > 0) walk.faults.push(...others)
  else if (level >= filterBounds.depth) walk.faults.push(tooLarge(path, 'depth'))
  else if (join === 'not') look(members['not'], [...path, 'not'], level + 1, walk)
  else lookAtAll(members[join], [...path, join], level, walk)
}

const unknownIn = (members: object, known: readonly string[], path: Path): Fault[] =>
  Object.keys(members)
    .filter((name) => !known.includes(name))
    .map((name) => fault([...path, name], 'member.unknown'))

function lookAtAll(sent: unknown, path: Path, level: number, walk: Walk): void {
  if (!Array.isArray(sent)) walk.faults.push(fault(path, 'value.type', { expected: 'array' }))
  else if (sent.length === 0) walk.faults.push(fault(path, 'list.minimum', { minimum: 1 }))
  else
    for (const [at, one] of sent.entries()) {
      look(one, [...path, at], level + 1, walk)
      if (walk.faults.length > 0 && walk.conditions > filterBounds.conditions) return
    }
}

const conditionMembers = ['field', 'op', 'value']

function lookAtCondition(members: Readonly<Record<string, unknown>>, path: Path, walk: Walk): void {
  walk.conditions += 1
  if (walk.conditions > filterBounds.conditions) {
    walk.faults.push(tooLarge([], 'conditions'))
    return
  }
  const { field, op, value } = members
  const others = unknownIn(members, conditionMembers, path)
  const missing = ['field', 'op'].find((name) => members[name] === undefined)
  if (others.length > 0) walk.faults.push(...others)
  else if (missing !== undefined) walk.faults.push(fault([...path, missing], 'member.required'))
  else walk.faults.push(...conditionFaults(field, op, value, path))
}

function conditionFaults(field: unknown, op: unknown, value: unknown, path: Path): readonly Fault[] {
  const ofItem = typeof field === 'string' ? findItemField(field) : undefined
  if (ofItem) {
    const choices = 'values' in ofItem ? ofItem.values : undefined
    return kindFaults(ofItem.kind, op, value, path, choices)
  }
  if (typeof field !== 'string' || customFieldOf(field) === undefined)
    return [fault([...path, 'field'], 'filter.field', { fields: [...Object.keys(itemFields), 'custom.<key>'] })]
  const isOperator = filterOperators.some((one) => one === op)
  return isOperator ? [] : [fault([...path, 'op'], 'filter.op', { operators: filterOperators })]
}

/** What is wrong with the operator or the value of a condition on a field of this kind. */
export function kindFaults(
  kind: FilterKindName,
  op: unknown,
  value: unknown,
  path: Path,
  choices?: readonly string[],
): readonly Fault[] {
  const { operators } = filterKinds[kind]
  const operator = operators.find((one) => one === op)
  if (operator === undefined) return [fault([...path, 'op'], 'filter.op', { operators })]
  const at = [...path, 'value']
  if (bareOperators.includes(operator))
    return value === undefined ? [] : [fault(at, 'filter.value', { takes: 'NOTHING' })]
  return value === undefined ? [fault(at, 'member.required')] : valueFault(kind, operator, value, at, choices)
}

export const Filter = z
  .unknown()
  .check((context) => {
    for (const { path, code, params } of faultsOf(context.value))
      context.issues.push({ code: 'custom', params: { rule: code, ...params }, path: [...path], input: context.value })
  })
  .meta({
    id: 'Filter',
    description: `Conditions on items, joined by all, any and not: at most ${filterBounds.conditions} conditions and ${filterBounds.depth} levels in ${filterBounds.bytes / 1024} KiB. docs/api/filters.md says what each means.`,
    ...conditionSchemas,
  })
