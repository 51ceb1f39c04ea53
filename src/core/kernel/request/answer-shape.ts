/**
 * Checks the members of an answer and their JSON types.
 *
 * A row may be an answer. So members that the schema does not have are dropped, and an answer
 * with a missing member or a wrong type is not sent. Patterns, formats and bounds were checked
 * when the value was received, and by its column; checking them again for every row of a page
 * took longer than the page's statements (docs/decisions/0121). The contract's fuzz test still
 * compares every answer with its whole schema.
 */
import { z } from 'zod'

const shapes = new WeakMap<z.ZodType, z.ZodType>()

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
