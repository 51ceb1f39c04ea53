/**
 * What an answer is held to on its way out: which members there are and of which JSON type.
 *
 * A row may be an answer, so what the schema does not name must be dropped, and a member that
 * is missing or of another type must not leave us. Patterns, formats and bounds were held to
 * when the value came in, and by the column it lies in; to match them again in every row of
 * a page took longer than the page's statements (docs/decisions/0121). The contract's fuzz
 * still compares every answer with its whole schema.
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
  // Of a union it is the literals that tell its branches apart, and those stay.
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

/** The library's own types speak of its core's schemas, which are these. */
const inner = (schema: unknown): z.ZodType => shapeOf(schema as z.ZodType)
