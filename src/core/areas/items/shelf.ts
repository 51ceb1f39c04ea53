/**
 * Which items a list shows: those on the board, those in the archive, or both.
 *
 * Both kinds have indexes of their own (migration 0040), so a list of both reads each in the list's order and joins the
 * two. Spec: items 1; docs/decisions/0202.
 */
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

export type Archived = 'EXCLUDE' | 'INCLUDE' | 'ONLY'

/** A condition on the item `i`: it is on the board. */
export const onBoard = ({ tx }: Ctx): Part => tx.part`i.deleted_at is null and i.archived_at is null`

/** A condition on the item `i`: it is in the archive. */
export const inArchive = ({ tx }: Ctx): Part => tx.part`i.deleted_at is null and i.archived_at is not null`

/** The one of these that a list shows that does not show both. */
export const shelfOf = (ctx: Ctx, archived: Archived): Part => (archived === 'ONLY' ? inArchive(ctx) : onBoard(ctx))

/** A condition on the item `i`, for what no index of a shelf leads to: it is on one that is shown. */
export const inShelf = (ctx: Ctx, archived: Archived): Part =>
  archived === 'INCLUDE' ? ctx.tx.part`i.deleted_at is null` : shelfOf(ctx, archived)

/** The order of a bucket. On the board no two items have one rank; in the archive the id decides. */
export const byRank = ({ tx }: Ctx, archived: Archived): Part =>
  archived === 'EXCLUDE' ? tx.part`rank` : tx.part`rank, id`

/** The same, of rows that are answers. */
export const byPosition = ({ tx }: Ctx, archived: Archived): Part =>
  archived === 'EXCLUDE' ? tx.part`position` : tx.part`position, id`
