/**
 * Checks the members of an answer and their JSON types.
 *
 * A row may be an answer. So members that the schema does not have are dropped, and an answer
 * with a missing member or a wrong type is not sent. Patterns, formats and bounds were checked
 * when the value was received, and by its column; checking them again for every row of a page
 * took longer than the page's statements (docs/decisions/0121). The contract's fuzz test still
 * compares every answer with its whole schema.
 *
 *    schema ──▶ shape: the schema without patterns, formats and bounds
 *                └──▶ pick: the same check as plain code, which makes no object for each member
 *
 * What the pick does not take, the shape decides, and says what is wrong.
 */
import { z } from 'zod'

const shapes = new WeakMap<z.ZodType, z.ZodType>()
const picks = new WeakMap<z.ZodType, Pick>()

/** The answer without what its schema does not name. Throws ZodError. */
export function answerOf(schema: z.ZodType, answer: unknown): unknown {
  const picked = pickOf(schema)(answer)
  return picked === unfit ? shapeOf(schema).parse(answer) : picked
}

/** The schema without patterns, formats and bounds; made once for each. */
export function shapeOf(schema: z.ZodType): z.ZodType {
  const known = shapes.get(schema)
  if (known) return known
  const shape = withoutChecks(schema)
  shapes.set(schema, shape)
  return shape
}

function withoutChecks(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) return z.string()
  if (schema instanceof z.ZodNumber) return z.number()
  if (schema instanceof z.ZodArray) return z.array(inner(schema.element))
  if (schema instanceof z.ZodNullable) return z.nullable(inner(schema.unwrap()))
  if (schema instanceof z.ZodOptional) return z.optional(inner(schema.unwrap()))
  if (schema instanceof z.ZodObject) return objectShape(schema)
  if (schema instanceof z.ZodRecord && schema.keyType instanceof z.ZodString)
    return z.record(z.string(), inner(schema.valueType))
  // Literals distinguish the branches of a union, so they are still checked.
  if (schema instanceof z.ZodDiscriminatedUnion) return schema
  if (schema instanceof z.ZodUnion) return z.union(schema.options.map(inner))
  return schema
}

function objectShape(schema: z.ZodObject): z.ZodType {
  const members = Object.entries(schema.shape).map(([name, member]) => [name, inner(member)])
  const shape = z.object(Object.fromEntries(members))
  const { catchall } = schema.def
  return catchall ? shape.catchall(inner(catchall)) : shape
}

/** The library's types declare schemas of its core here; they are the same objects. */
const inner = (schema: unknown): z.ZodType => shapeOf(schema as z.ZodType)

/** Answers what is sent of a value, or `unfit`. */
type Pick = (value: unknown) => unknown
const unfit = Symbol('unfit')

function pickOf(schema: z.ZodType): Pick {
  const known = picks.get(schema)
  if (known) return known
  const pick = pickFor(shapeOf(schema))
  picks.set(schema, pick)
  return pick
}

/** Of the kinds of which rows consist; all others are the library's. */
function pickFor(shape: z.ZodType): Pick {
  if (shape instanceof z.ZodString) return (value) => (typeof value === 'string' ? value : unfit)
  if (shape instanceof z.ZodNumber) return (value) => (Number.isFinite(value) ? value : unfit)
  if (shape instanceof z.ZodBoolean) return (value) => (typeof value === 'boolean' ? value : unfit)
  if (shape instanceof z.ZodEnum) {
    const options = new Set<unknown>(shape.options)
    return (value) => (options.has(value) ? value : unfit)
  }
  if (shape instanceof z.ZodNullable) {
    const pick = innerPick(shape.unwrap())
    return (value) => (value === null ? null : pick(value))
  }
  if (shape instanceof z.ZodArray) return pickEach(innerPick(shape.element))
  if (shape instanceof z.ZodObject && !shape.def.catchall) return pickMembers(shape)
  if (shape instanceof z.ZodUnion && !(shape instanceof z.ZodDiscriminatedUnion))
    return pickFirst(shape.options.map(innerPick))
  if (shape instanceof z.ZodRecord && shape.keyType instanceof z.ZodString) return pickNamed(innerPick(shape.valueType))
  return (value) => {
    const { success, data } = shape.safeParse(value)
    return success ? data : unfit
  }
}

const innerPick = (shape: unknown): Pick => pickOf(shape as z.ZodType)

const pickEach =
  (pick: Pick): Pick =>
  (value) => {
    if (!Array.isArray(value)) return unfit
    const picked: unknown[] = []
    for (const one of value) {
      const of = pick(one)
      if (of === unfit) return unfit
      picked.push(of)
    }
    return picked
  }

const pickFirst =
  (picks: readonly Pick[]): Pick =>
  (value) => {
    for (const pick of picks) {
      const picked = pick(value)
      if (picked !== unfit) return picked
    }
    return unfit
  }

const pickNamed =
  (pick: Pick): Pick =>
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return unfit
    const picked: Record<string, unknown> = {}
    for (const [name, member] of Object.entries(value)) {
      const of = pick(member)
      if (of === unfit) return unfit
      picked[name] = of
    }
    return picked
  }

function pickMembers(shape: z.ZodObject): Pick {
  const members = Object.entries(shape.shape).map(([name, member]) => [name, innerPick(member)] as const)
  // A copy has room for all members at once; an object that gets them one by one grows eight times for an item.
  const blank = Object.fromEntries(members.map(([name]) => [name, undefined]))
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return unfit
    const row = value as Record<string, unknown>
    const picked: Record<string, unknown> = { ...blank }
    for (const [name, pick] of members) {
      const member = pick(row[name])
      if (member === unfit) return unfit
      picked[name] = member
    }
    return picked
  }
}
