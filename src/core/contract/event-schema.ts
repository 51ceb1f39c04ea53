/** The JSON Schema of an event's data for the API and docs/events.md: one self-contained document. */
import { z } from 'zod'

export interface DataSchema {
  readonly [member: string]: unknown
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
}

export function dataSchemaOf(data: z.ZodType): DataSchema {
  const { $ref, $defs, ...schema } = z.toJSONSchema(data, { io: 'output', unrepresentable: 'any' })
  if ($ref === undefined || $defs === undefined) return { ...schema, ...($defs && { $defs }) }

  // zod puts a named representation behind a reference; for readers it is moved to the top.
  const { [$ref.slice('#/$defs/'.length)]: named, ...others } = $defs
  const { id: _, ...members } = (named ?? {}) as Record<string, unknown>
  return { ...schema, ...members, ...(Object.keys(others).length > 0 && { $defs: others }) }
}
