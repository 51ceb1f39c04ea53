/** Puts what members are, in words (contract/meanings), into a document whose schemas say nothing of them. */
import { keyOf, meanings } from '../core/contract/meanings/meanings.ts'
import type { JsonSchema } from './openapi-schemas.ts'

type Nodes = Readonly<Record<string, unknown>>

/** What `defaultInWords` says by itself; a member with nothing else is not described. */
const onlyDefault = /^Absent: `[^`]*`\.$/

/** A member or parameter of the document, with the path by which its meaning is looked up. */
export interface Member {
  readonly path: readonly string[]
  readonly schema: JsonSchema
}

/** Every member of every schema, and every parameter, is described where a meaning is known. */
export function explain(document: Nodes): void {
  for (const { path, schema } of membersOf(document)) {
    // A member with one possible value says what it is by that.
    if (schema['const'] !== undefined) continue
    const said = typeof schema.description === 'string' ? schema.description : ''
    const key = keyOf(path)
    const meaning = key === undefined ? idInWords(path.at(-1) ?? '') : meanings.get(key)
    const own = said === '' || onlyDefault.test(said) ? (meaning ?? '') : ''
    const sentences = [own, said].filter((text) => text !== '').map(sentence)
    if (sentences.length > 0) schema.description = sentences.join(' ')
  }
}

/** Every member and parameter, parts before the whole. */
export function membersOf(document: Nodes): Member[] {
  const { components, paths, webhooks } = document as Record<string, Nodes>
  return [
    ...Object.entries(components?.['schemas'] as Nodes).flatMap(([name, schema]) => within(schema, [name])),
    ...Object.values({ ...paths, ...webhooks }).flatMap((item) =>
      Object.values(item as Record<string, Nodes>).flatMap((operation) =>
        within(operation, [String(operation['operationId'])]),
      ),
    ),
  ]
}

function within(node: unknown, path: readonly string[]): Member[] {
  if (Array.isArray(node)) return node.flatMap((part) => within(part, path))
  if (typeof node !== 'object' || node === null) return []
  const { properties, example: _, parameters = [], ...rest } = node as Record<string, unknown>
  const named = [
    ...Object.entries((properties ?? {}) as Record<string, JsonSchema>),
    // Where a parameter has a name and a place, its schema describes nothing.
    ...(parameters as (JsonSchema & { name: string })[]).map((parameter) => [parameter.name, parameter] as const),
  ]
  return [
    ...named.flatMap(([name, schema]) => [...within(schema, [...path, name]), { path: [...path, name], schema }]),
    ...within(Object.values(rest), path),
  ]
}

/** `itemId` of a path is the id of the item. */
function idInWords(name: string): string | undefined {
  const [, thing] = /^([a-z]+)Id$/.exec(name) ?? []
  return thing && `the id of the ${thing === 'tenant' ? 'workspace' : thing}`
}

export const sentence = (text: string) => {
  const begun = /^[a-z]+[ ,;:]/.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text
  return /[.!?]$/.test(begun) ? begun : `${begun}.`
}
