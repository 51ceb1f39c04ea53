/** Types of TypeScript from the JSON Schemas of the OpenAPI document. */

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly format?: string
  readonly description?: string
}

/** The type that the schema describes; components by their names. */
export function typeOf(schema: Schema, indent = ''): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const parts = schema.anyOf ?? schema.oneOf
  if (parts) return unionOf(parts.map((part) => typeOf(part, indent)))
  if (schema.allOf) return schema.allOf.map((part) => typeOf(part, indent)).join(' & ')
  if (typeof schema.type === 'object') return unionOf(schema.type.map((type) => typeOf({ ...schema, type }, indent)))
  switch (schema.type) {
    case 'string':
      return 'string'
    case 'integer':
      return schema.format === 'int64' ? 'Int64' : 'number'
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return `readonly ${wrapped(typeOf(schema.items ?? {}, indent))}[]`
    case 'object':
      return objectOf(schema, indent)
    default:
      return 'unknown'
  }
}

const unionOf = (types: readonly string[]) =>
  [...new Set(types)].map((type) => (type.startsWith('readonly ') ? `(${type})` : type)).join(' | ')
const wrapped = (type: string) => (/[|&]|^readonly /.test(type) && !type.startsWith('{') ? `(${type})` : type)

function objectOf({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  const members = Object.entries(properties ?? {})
  if (members.length === 0) {
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown'
    return additionalProperties === false ? 'Readonly<Record<string, never>>' : `Readonly<Record<string, ${values}>>`
  }
  const inner = `${indent}  `
  const lines = members.flatMap(([name, schema]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    const optional = required.includes(name) ? '' : '?'
    return [...commentOf(schema.description, inner), `${inner}readonly ${key}${optional}: ${typeOf(schema, inner)}`]
  })
  return `{\n${lines.join('\n')}\n${indent}}`
}

/** A description as a comment above a member; nothing if there is none. */
export const commentOf = (text: string | undefined, indent: string): string[] =>
  text === undefined || text === ''
    ? []
    : [`${indent}/** ${text.replaceAll('*/', '*\\/').replace(/\s*\n\s*/g, ' ')} */`]
