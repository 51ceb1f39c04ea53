/**
 * What waits to be told to people: a row for each notifiable event, written by the statement of the event.
 *
 *    record ──▶ row of the outbox, entry of the trail, and this one ──commit──▶ the notifier takes it (areas/notifications)
 *
 * An event that names nobody but its own actor writes none, so most changes of one's own work cost nothing. The row names
 * accounts, an item or a group, never content; who they are and what they may see is read by the notifier.
 * Spec: people 3, "A notifiable event queues one job in its transaction"; docs/decisions/0430.
 */
import { type EventData, type EventDeclaration, pathOf, subjectOf } from '../../contract/event.ts'
import { catalog, type NewEvent } from '../../contract/event-catalog.ts'
import type { NotificationCategory, Told, Whom } from '../../contract/notifications/categories.ts'
import type { Part } from '../database/statement.ts'
import type { Tx } from '../database/transaction.ts'
import { newId } from '../values/id.ts'
import type { EventRow } from './event-row.ts'

/** Whom a category tells; the notifier reads each of them. */
export interface ToldGroup {
  readonly category: NotificationCategory
  readonly has_own_mail?: true
  readonly accounts?: readonly string[]
  /** Who made or joined it. */
  readonly people_of_item?: string
  readonly author_of_comment?: string
  readonly members_of_group?: string
  /** Owners and administrators of the workspace. */
  readonly administrators?: true
}

export interface Notice {
  readonly tenant_id: string
  readonly id: string
  readonly event_id: string
  /** The full type; of what has no event, the kind of its mail. */
  readonly event_type: string
  readonly at: string
  /** Who is not told. */
  readonly actor_id: string | null
  readonly subject: string
  readonly item_id: string | null
  readonly container_id: string | null
  readonly text: string | null
  readonly told: readonly ToldGroup[]
}

/** What waits after these events. `rows`: theirs, in the same order. `params`: of the trail's entry. */
export function noticesOf(
  events: readonly NewEvent[],
  rows: readonly EventRow[],
  actorId: string | null,
  params: Readonly<Record<string, unknown>> = {},
): readonly Notice[] {
  return rows.flatMap((row, n) => {
    const event = events[n] as NewEvent
    const declared: EventDeclaration = catalog[event.name]
    const { notifies } = declared
    if (notifies === undefined) return []
    const data = event.data as EventData
    const told = notifies.tells.flatMap((one) => toldBy(one, data, params, actorId) ?? [])
    if (told.length === 0) return []
    const subject = notifies.about === undefined ? subjectOf(declared, data) : pathOf(notifies.about, data)
    return [
      {
        ...{ tenant_id: row.tenant_id, id: newId(), event_id: row.id, event_type: row.type, at: row.occurred_at },
        ...{ actor_id: actorId, subject, item_id: itemOf(subject), container_id: row.container_id, text: null, told },
      },
    ]
  })
}

const itemPath = /^\/items\/([0-9a-f-]{36})$/

/** The item that a subject names. */
const itemOf = (subject: string): string | null => itemPath.exec(subject)?.[1] ?? null

/** Undefined: nobody but the actor. */
function toldBy(
  { category, whom, hasOwnMail }: Told,
  data: EventData,
  params: Readonly<Record<string, unknown>>,
  actorId: string | null,
): ToldGroup | undefined {
  const accounts = new Set<string>()
  const others: { -readonly [Name in 'people_of_item' | 'author_of_comment' | 'members_of_group']?: string } = {}
  for (const one of whom) {
    if (typeof one === 'string' || 'param' in one)
      for (const id of idsIn(typeof one === 'string' ? memberOf(data, one) : params[one.param])) accounts.add(id)
    else {
      const [name, member] = readLater(one)
      const [id] = idsIn(memberOf(data, member))
      if (id !== undefined) others[name] = id
    }
  }
  if (actorId !== null) accounts.delete(actorId)
  if (accounts.size === 0 && Object.keys(others).length === 0) return undefined
  return { category, ...(hasOwnMail ? { has_own_mail: true } : {}), accounts: [...accounts], ...others }
}

type ReadLater = Exclude<Whom, string | { readonly param: string }>

function readLater(one: ReadLater): ['people_of_item' | 'author_of_comment' | 'members_of_group', string] {
  if ('peopleOfItem' in one) return ['people_of_item', one.peopleOfItem]
  if ('authorOfComment' in one) return ['author_of_comment', one.authorOfComment]
  return ['members_of_group', one.membersOfGroup]
}

/** `previous.member_ids` is a member of a member. */
const memberOf = (data: EventData, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as EventData | undefined)?.[name], data)

const idsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string')

/** The statement that writes them, at least one: alone, or as a part of another one. */
export function insertNotices(tx: Pick<Tx, 'part' | 'json' | 'rows'>, notices: readonly Notice[]): Part {
  const rows = notices.map((notice) => ({ ...notice, told: tx.json(notice.told) }))
  return tx.part`
    insert into notification_pending
    ${tx.rows(rows, 'tenant_id', 'id', 'event_id', 'event_type', 'at', 'actor_id', 'subject', 'item_id', 'container_id', 'text', 'told')}`
}
