/**
 * The first faults of a value, in the order in which its members were sent.
 *
 * The schema library checks every member and element and reports every fault: a hundred
 * thousand unknown members took half a second. This module walks the value together with its
 * schema, and stops when there are more faults than a problem lists. It handles lists, objects
 * and records itself. The library checks all other values, and the rules of a whole object
 * after its parts are valid.
 *
 * Faults of missing members come after those of present members. Spec: decisions 7, Bounds at the door.
 */
import { z } from 'zod'
import { mostErrors, type Violation } from '../../contract/problem.ts'
import { pointerOf, reporting, violationsOf } from './violations.ts'

/** One more than a problem lists, which tells that there are more. */
const enough = mostErrors + 1

type Path = readonly PropertyKey[]

/** The first faults of the value, by position. Empty if only a rule of a whole object may be violated. */
export function firstFaults(schema: z.ZodType, value: unknown): readonly Violation[] {
  const found: Violation[] = []
  look(schema, value, [], found)
  return found
}

function look(given: z.ZodType, value: unknown, path: Path, found: Violation[]): void {
  const schema = within(given, value)
  if (schema === undefined) return
  if (schema instanceof z.ZodObject && isPlain(value)) lookIntoObject(schema, value, path, found)
  else if (schema instanceof z.ZodRecord && isPlain(value)) lookIntoRecord(schema, value, path, found)
  else if (schema instanceof z.ZodArray && Array.isArray(value) && value.length > 0)
    lookIntoList(schema, value, path, found)
  else ask(schema, value, path, found)
}

/** The schema of a present value; undefined if the value is absent or null and the schema allows that. */
function within(schema: z.ZodType, value: unknown): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return value === undefined ? undefined : within(schema.unwrap() as z.ZodType, value)
  if (schema instanceof z.ZodNullable) return value === null ? undefined : within(schema.unwrap() as z.ZodType, value)
  return schema
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function lookIntoObject(schema: z.ZodObject, value: Record<string, unknown>, path: Path, found: Violation[]): void {
  const members = schema.shape as Record<string, z.ZodType>
  const others = schema.def.catchall as z.ZodType | undefined
  for (const name of Object.keys(value)) {
    const member = Object.hasOwn(members, name) ? members[name] : others
    if (member instanceof z.ZodNever) add(found, [...path, name], 'member.unknown')
    else if (member) look(member, value[name], [...path, name], found)
    if (found.length >= enough) return
  }
  for (const [name, member] of Object.entries(members)) {
    if (!Object.hasOwn(value, name)) look(member, undefined, [...path, name], found)
    if (found.length >= enough) return
  }
}

function lookIntoRecord(schema: z.ZodRecord, value: Record<string, unknown>, path: Path, found: Violation[]): void {
  const name = schema.keyType as unknown as z.ZodType
  const member = schema.valueType as unknown as z.ZodType
  for (const [key, sent] of Object.entries(value)) {
    if (!name.safeParse(key).success) add(found, [...path, key], 'value.invalid')
    else look(member, sent, [...path, key], found)
    if (found.length >= enough) return
  }
}

/** A list that is too long is refused for that; its elements are not checked. */
function lookIntoList(schema: z.ZodArray, value: readonly unknown[], path: Path, found: Violation[]): void {
  const maximum = longestOf(schema)
  if (maximum !== undefined && value.length > maximum) {
    add(found, path, 'list.maximum', { maximum })
    return
  }
  for (const [at, element] of value.entries()) {
    look(schema.element as z.ZodType, element, [...path, at], found)
    if (found.length >= enough) return
  }
}

function longestOf(schema: z.ZodArray): number | undefined {
  for (const check of schema.def.checks ?? []) {
    const { check: kind, maximum } = check._zod.def as { check: string; maximum?: number }
    if (kind === 'max_length') return maximum
  }
  return undefined
}

function ask(schema: z.ZodType, value: unknown, path: Path, found: Violation[]): void {
  const parsed = schema.safeParse(value, reporting)
  if (parsed.success) return
  for (const { pointer, ...rest } of violationsOf(parsed.error))
    found.push({ pointer: `${pointerOf(path)}${pointer}`, ...rest })
}

const add = (found: Violation[], path: Path, code: string, params: Record<string, unknown> = {}) => {
  found.push({ pointer: pointerOf(path), code, params })
}
