/**
 * What an event is.
 *
 * Like an operation, an event is data: its name, when it is written, the schema of its
 * `data` and an example. Each area declares its own in an `events.ts` beside its
 * contract. The catalog, the types of `ctx.record` and `ctx.emit`, the event's subject,
 * its entry in the trail, `GET /meta/event-types` and docs/events.md are derived.
 *
 * Spec: Events, 2 and 9; decisions 5.
 */
import type { z } from 'zod'
import type { Notifies } from './notifications/categories.ts'
import type { SearchSubject } from './search/kinds.ts'

export interface EventDeclaration {
  /** A whole clause, for people: "a workspace was suspended". */
  readonly when: string
  /** Path of the resource below `/api/v1`. Braces name members of `data`; the last one is the id of the trail's subject. */
  readonly subject: string
  /** The kind of the trail's subject, such as `item`. */
  readonly kind: string
  /** The action in the trail, where it is not the name without its area. */
  readonly action?: string
  /** The representation after the change; what it does not name never leaves. */
  readonly data: z.ZodType
  /**
   * The member of `data` that names the container whose people may be told of it; null for an event of the whole
   * workspace. A member that is null says the same of one event.
   */
  readonly container: string | null
  readonly example: unknown
  /** What people find by words that it may have changed: its documents are written anew (areas/search). */
  readonly searched?: SearchSubject
  /** The members of `data` whose ids together are that of the document; absent: the subject's id is. */
  readonly searchedBy?: readonly string[]
  /** Which accounts are notified of it, and in which category (areas/notifications); absent: nobody. */
  readonly notifies?: Notifies
}

/** One area's events by name: `area.entity.verb`, without namespace and version. The example must fit its schema. */
export const defineEvents = <Data extends Record<string, z.ZodType>>(
  events: {
    readonly [Name in keyof Data]: Omit<EventDeclaration, 'subject' | 'data' | 'example' | 'container'> & {
      readonly subject: `${string}/{${keyof z.output<Data[Name]> & string}}`
      readonly data: Data[Name]
      readonly example: z.input<Data[Name]>
      readonly container: (keyof z.output<Data[Name]> & string) | null
    }
  },
) => Object.freeze(events)

/** The path of the resource that an event with this data is about. */
export const subjectOf = ({ subject }: Pick<EventDeclaration, 'subject'>, data: EventData): string =>
  pathOf(subject, data)

/** Paths cut at their braces: every other part names a member. There are as many as events and notices have. */
const cutPaths = new Map<string, readonly string[]>()

/** A path whose braces name members of the data. */
export function pathOf(path: string, data: EventData): string {
  const parts = cutPaths.get(path) ?? path.split(/\{([a-z_]+)\}/)
  cutPaths.set(path, parts)
  return parts.map((part, at) => (at % 2 === 0 ? part : String(data[part]))).join('')
}

/** What the entry of the trail is about: `/containers/{container_id}/labels/{id}` says the label, `id`. */
export const trailSubjectOf = ({ subject, kind }: Pick<EventDeclaration, 'subject' | 'kind'>, data: EventData) => ({
  kind,
  id: String(data[subject.slice(subject.lastIndexOf('{') + 1, -1)]),
})

/** `work.item.created` → `item.created`, unless the declaration has an action of its own. */
export const trailActionOf = (name: string, { action }: Pick<EventDeclaration, 'action'>): string =>
  action ?? name.slice(name.indexOf('.') + 1)

export type EventData = Readonly<Record<string, unknown>>

/** Ids for examples: they look like ours and belong to nobody. */
export const exampleId = (n: number) => `0199c0de-0000-7000-8000-${String(n).padStart(12, '0')}`

/** `work.item.created` → `svc.work.item.created.v1`. */
export const typeOf = (namespace: string, name: string) => `${namespace}.${name}.v1`

/** The other way: the name, or undefined for a type of another namespace or version. It need not be in the catalog. */
export function nameOf(namespace: string, type: string): string | undefined {
  const isOurs = type.startsWith(`${namespace}.`) && type.endsWith('.v1')
  return isOurs ? type.slice(namespace.length + 1, -'.v1'.length) : undefined
}
