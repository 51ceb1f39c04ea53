/**
 * What an event is.
 *
 * Like an operation, an event is data: its name, when it is written, the schema of its
 * `data` and an example. Each area declares its own in an `events.ts` beside its
 * contract; the catalog, the types of `ctx.emit`, `GET /meta/event-types` and
 * docs/events.md are derived.
 *
 * Spec: Events, 2 and 9; decisions 5.
 */
import type { z } from 'zod'

export interface EventDeclaration {
  /** A whole clause, for people: "a workspace was suspended". */
  readonly when: string
  /** Path of the resource below `/api/v1`; braces stand for ids. */
  readonly subject: string
  /** The representation after the change; what it does not name never leaves. */
  readonly data: z.ZodType
  /**
   * The member of `data` that names the container whose people may be told of it; null for an event of the whole
   * workspace. A member that is null says the same of one event.
   */
  readonly container: string | null
  readonly example: unknown
}

/** One area's events by name: `area.entity.verb`, without namespace and version. The example must fit its schema. */
export const defineEvents = <Data extends Record<string, z.ZodType>>(
  events: {
    readonly [Name in keyof Data]: Omit<EventDeclaration, 'data' | 'example' | 'container'> & {
      readonly data: Data[Name]
      readonly example: z.input<Data[Name]>
      readonly container: (keyof z.output<Data[Name]> & string) | null
    }
  },
) => Object.freeze(events)

/** Ids for examples: they look like ours and belong to nobody. */
export const exampleId = (n: number) => `0199c0de-0000-7000-8000-${String(n).padStart(12, '0')}`

/** `work.item.created` → `svc.work.item.created.v1`. */
export const typeOf = (namespace: string, name: string) => `${namespace}.${name}.v1`

/** The other way: the name, or undefined for a type of another namespace or version. It need not be in the catalog. */
export function nameOf(namespace: string, type: string): string | undefined {
  const isOurs = type.startsWith(`${namespace}.`) && type.endsWith('.v1')
  return isOurs ? type.slice(namespace.length + 1, -'.v1'.length) : undefined
}
