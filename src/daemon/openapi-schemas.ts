/**
 * JSON Schemas of the contracts; named schemas become components.
 *
 * A schema can differ between requests and answers: a member with a default is optional in a
 * request and always present in an answer. If the two differ, the schema for requests gets
 * its own component, `BucketInput`.
 *
 * int64 values are bigint here, and kernel/values/json.ts writes them exactly.
 */
import { z } from 'zod'
import { writeJson } from '../core/kernel/values/json.ts'

export interface JsonSchema {
  type?: string
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  $ref?: string
  $defs?: Record<string, JsonSchema>
  [keyword: string]: unknown
}

/** `input` is of a path or a query; its defaults stay beside it. */
type Direction = 'body' | 'input' | 'output'

export interface Schemas {
  /** The schema, or a reference to it if it has a name. */
  of(schema: z.ZodType, direction: Direction): JsonSchema
  /** Every component that was referred to so far, by name. */
  components(): Record<string, JsonSchema>
}

export function openSchemas(): Schemas {
  const components = new Map<string, JsonSchema>()
  /** The schemas as zod converted them, by component name, to find out whether two are equal. */
  const sources = new Map<string, string>()

  /** The name of a named schema. */
  const nameOf = (id: string, schema: JsonSchema, direction: Direction): string => {
    const source = writeJson(schema)
    const isTwin = sources.has(id) && sources.get(id) !== source
    const name = isTwin ? `${id}${direction === 'output' ? 'Answer' : 'Input'}` : id
    sources.set(name, source)
    return name
  }

  const convert = (schema: z.ZodType, direction: Direction): JsonSchema => {
    const {
      $schema: _,
      $defs = {},
      id,
      ...converted
    } = inOurVocabulary(
      z.toJSONSchema(schema, { io: direction === 'output' ? 'output' : 'input', unrepresentable: 'any' }),
      direction,
    ) as JsonSchema
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
    components: () =>
      Object.fromEntries(
        [...components]
          .flatMap(withNamedParts)
          .flatMap(withOwnParts)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
  }
}

/** A part that has a name (`id`) becomes a component, also where a schema states it as plain JSON Schema. */
function withNamedParts([name, schema]: readonly [string, JsonSchema]): [string, JsonSchema][] {
  const parts = new Map<string, JsonSchema>()
  const hoisted = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(hoisted)
    if (typeof node !== 'object' || node === null) return node
    const { id, ...rest } = Object.fromEntries(
      Object.entries(node).map(([keyword, value]) => [keyword, hoisted(value)]),
    )
    if (typeof id !== 'string') return id === undefined ? rest : { id, ...rest }
    parts.set(id, rest)
    return { $ref: `#/components/schemas/${id}` }
  }
  return [[name, hoisted(schema) as JsonSchema], ...parts]
}

/**
 * A part of a union that refers back to the union becomes a component of its own, because generators of clients resolve
 * circles of components only: `FilterAll` for `{ all: [Filter] }`.
 */
function withOwnParts([name, schema]: readonly [string, JsonSchema]): [string, JsonSchema][] {
  const parts: [string, JsonSchema][] = []
  const members = (schema['anyOf'] as readonly JsonSchema[] | undefined)?.map((part) => {
    if (!writeJson(part).includes(`"#/components/schemas/${name}"`)) return part
    const [member = ''] = Object.keys(part.properties ?? {})
    const own = `${name}${member.charAt(0).toUpperCase()}${member.slice(1)}`
    parts.push([own, part])
    return { $ref: `#/components/schemas/${own}` }
  })
  return [[name, members === undefined ? schema : { ...schema, anyOf: members }], ...parts]
}

/** The schema with references to components under their final names. */
function rewritten(node: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(node)) return node.map((member) => rewritten(member, names))
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([keyword, value]) => {
    const [, id] = keyword === '$ref' ? (/^#\/\$defs\/(.+)$/.exec(String(value)) ?? []) : []
    return [keyword, id === undefined ? rewritten(value, names) : `#/components/schemas/${names.get(id) ?? id}`]
  })
  return Object.fromEntries(entries)
}

const hex = { body: '[0-9a-fA-F]', input: '[0-9a-fA-F]', output: '[0-9a-f]' }

/** Corrects a schema and its parts to the meaning in contract/vocabulary.ts, where zod's conversion is too strict or too loose. */
function inOurVocabulary(node: unknown, direction: Direction): unknown {
  if (Array.isArray(node)) return node.map((member) => inOurVocabulary(member, direction))
  if (typeof node !== 'object' || node === null) return node
  // zod writes `readOnly` for what TypeScript may not change; in OpenAPI it would forbid the member in a request.
  const kept = Object.entries(node).filter(([keyword, value]) => keyword !== 'readOnly' || value !== true)
  const entries = kept.map(([keyword, value]) => [keyword, inOurVocabulary(value, direction)])
  const schema = said(Object.fromEntries(entries), direction)
  return direction === 'body' ? defaultInWords(schema) : schema
}

/**
 * Generators of clients count a member with a default as one that is always there, also in a body, where it may be absent.
 * So a body says its defaults in words.
 */
function defaultInWords({ default: preset, ...schema }: JsonSchema): JsonSchema {
  if (preset === undefined) return schema
  const words = `Absent: \`${writeJson(preset)}\`.`
  return { ...schema, description: schema.description === undefined ? words : `${schema.description}. ${words}` }
}

function said(schema: JsonSchema, direction: Direction): JsonSchema {
  const { allOf, anyOf, pattern, ...rest } = schema
  switch (schema['format']) {
    case 'int64':
      return { ...rest, maximum: 9223372036854775807n }
    case 'uuid':
      return { ...rest, pattern: `^${[8, 4, 4, 4, 12].map((digits) => `${hex[direction]}{${digits}}`).join('-')}$` }
    // The format is sufficient; zod's patterns for these are hundreds of characters long.
    case 'date-time':
    case 'email':
      return rest
    default:
      return schema
  }
}
