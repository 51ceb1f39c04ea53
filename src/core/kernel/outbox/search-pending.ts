/**
 * What an event may have changed of the words by which things are found.
 *
 * A row for each change, so that no change waits for another one. It is written by the statement of the event. The indexer
 * reads the rows and removes them (areas/search). Spec: Work on boards, 2, N4; docs/decisions/0230.
 */
import { hash } from 'node:crypto'
import { type EventData, type EventDeclaration, trailSubjectOf } from '../../contract/event.ts'
import { catalog, type NewEvent } from '../../contract/event-catalog.ts'
import type { SearchSubject } from '../../contract/search/kinds.ts'
import type { Part } from '../database/statement.ts'
import type { Tx } from '../database/transaction.ts'
import { newId } from '../values/id.ts'

export interface SearchPending {
  readonly tenant_id: string
  readonly id: string
  readonly subject: SearchSubject
  readonly subject_id: string
}

/** What waits to be indexed after these events. */
export function searchPendingOf(tenantId: string, events: readonly NewEvent[]): readonly SearchPending[] {
  return events.flatMap(({ name, data }) => {
    const declared: EventDeclaration = catalog[name]
    if (declared.searched === undefined) return []
    const ids = declared.searchedBy?.map((member) => String((data as EventData)[member]))
    return [searchPending(tenantId, declared.searched, ids ?? [trailSubjectOf(declared, data as EventData).id])]
  })
}

/** `ids`: the id, or those that name it together, as in the column `media_reference.id`. */
export const searchPending = (tenantId: string, subject: SearchSubject, ids: readonly string[]): SearchPending => ({
  ...{ tenant_id: tenantId, id: newId(), subject },
  subject_id: ids.length === 1 ? String(ids[0]) : hash('md5', ids.join('')),
})

/** The statement that writes them, at least one, as a part of another one. A subject of several is written once. */
export function insertSearchPending(tx: Pick<Tx, 'part' | 'rows'>, pending: readonly SearchPending[]): Part {
  const once = [...new Map(pending.map((row) => [`${row.subject} ${row.subject_id}`, row])).values()]
  return tx.part`insert into search_pending ${tx.rows(once, 'tenant_id', 'id', 'subject', 'subject_id')}`
}
