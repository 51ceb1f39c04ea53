/** What a kind of results says of itself: which rows it has, which texts, and who sees them. */
import type { SearchKind, SearchSubject } from '../../contract/search/kinds.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Weight } from './vector.ts'

/** A text of something that is found. */
export interface Text {
  readonly member: string
  readonly weight: Weight
  readonly text: string
}

export interface Named {
  /** That of the document. */
  readonly id: string
  /** What is answered: of an attachment the id of its file. */
  readonly shown_id: string
  readonly item_id: string | null
  readonly container_id: string
  readonly changed_at: string
  readonly title: string
  /** In the order in which they are shown. */
  readonly texts: readonly Text[]
}

export interface KindOfDocument {
  /** The ids behind one, in their order, that have a document: those that are not deleted. */
  readonly idsBehind: (tx: Tx, tenantId: string, after: string, most: number) => Part
  /** `Named` of the one with this id, unless it is deleted. */
  readonly named: (tx: Tx, tenantId: string, id: Part) => Part
  /** Of a subject that many documents name: the ids behind one, in their order, that name it. */
  readonly naming?: (tx: Tx, tenantId: string, of: NamedSubject, after: string, most: number) => Part
  /**
   * Those of the hits `h` that the caller sees: kind, id, container_id, assignee_id, state, type, score. `score` is in terms
   * of `h`.
   */
  readonly seen: (ctx: Ctx, asked: Seeing, score: Part) => Part
  /**
   * Brings documents of other kinds to where these are now, before theirs are written anew: a statement. `written`: rows of a
   * generation and an id.
   */
  readonly follow?: (tx: Tx, tenantId: string, written: Part) => Part
  /** Whether a filter may take it; else none is found where one is sent. */
  readonly takesFilter: boolean
}

export interface NamedSubject {
  readonly subject: Exclude<SearchSubject, SearchKind>
  readonly id: string
}

export interface Seeing {
  readonly archived: 'EXCLUDE' | 'INCLUDE' | 'ONLY'
  /** A condition on the item `i`. */
  readonly filter: Part
}
