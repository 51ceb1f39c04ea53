/**
 * JSON Schemas of the contracts, with what has a name as a component.
 *
 * A schema is one thing on its way in and another on its way out (a default is optional
 * in a request and always there in an answer); where the two differ, the one on its way
 * in gets a twin, `BucketInput`.
 *
 * The numbers of int64 are bigint here: the document is written by core/json.ts, exactly.
 */
import { z } from 'zod'

export interface JsonSchema {
  type?: string
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  $ref?: string
  $defs?: Record<string, JsonSchema>
  [keyword: string]: unknown
}

type Direction = 'input' | 'output'

export interface Schemas {
  /** The schema, or a reference to it where it has a name. */
  of(schema: z.ZodType, direction: Direction): JsonSchema
  /** Every component that was referred to so far, by name. */
  components(): Record<string, JsonSchema>
}

export function openSchemas(): Schemas {
  const components = new Map<string, JsonSchema>()
  /** As zod converted them, by component name: what tells whether two are one. */
  const sources = new Map<string, string>()

  /** The name that a named schema goes by. */
  const nameOf = (id: string, schema: JsonSchema, direction: Direction): string => {
    const source = JSON.stringify(schema)
    const isTwin = sources.has(id) && sources.get(id) !== source
    const name = isTwin ? `${id}${direction === 'input' ? 'Input' : 'Answer'}` : id
    sources.set(name, source)
    return name
  }

  const convert = (schema: z.ZodType, direction: Direction): JsonSchema => {
    const {
      $schema: _,
      $defs = {},
      id,
      ...converted
    } = z.toJSONSchema(schema, { io: direction, unrepresentable: 'any' }) as JsonSchema
    const named: Record<string, JsonSchema> = typeof id === 'string' ? { ...$defs, [id]: converted } : $defs
    const names = new Map(
      Object.entries(named).map(([name, definition]) => [name, nameOf(name, definition, direction)]),
    )
    for (const [name, definition] of Object.entries(named))
      components.set(names.get(name) ?? name, rewritten(definition, names) as JsonSchema)
    return typeof id === 'string'
      ? { $ref: `#/components/schemas/${names.get(id)}` }
      : (rewritten(converted, names) as JsonSchema)
  }

  return {
    of: convert,
    components: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** A converted schema in our own words: references to components, under the names those got, and our own vocabulary. */
function rewritten(node: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(node)) return node.map((member) => rewritten(member, names))
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([keyword, value]) => {
    const [, id] = keyword === '$ref' ? (/^#\/\$defs\/(.+)$/.exec(String(value)) ?? []) : []
    return [keyword, id === undefined ? rewritten(value, names) : `#/components/schemas/${names.get(id) ?? id}`]
  })
  return inOurVocabulary(Object.fromEntries(entries))
}

/** What core/schema.ts means, where zod's conversion says too much or too little. */
function inOurVocabulary(schema: JsonSchema): JsonSchema {
  const { allOf, anyOf, pattern, ...rest } = schema
  switch (schema['format']) {
    case 'int64':
      return { ...rest, maximum: 9223372036854775807n }
    case 'uuid':
      return { ...rest, pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' }
    // The format says it; zod's patterns for these are hundreds of characters long.
    case 'date-time':
    case 'email':
      return rest
    default:
      return schema
  }
}
