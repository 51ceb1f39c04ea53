/** Who sees an item that was found. */
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { visibleContainerIds } from '../access/access.ts'

/**
 * Whether the caller sees the container of the item `i`. `is true` keeps PostgreSQL from making a join of it: the containers are
 * looked up once, and not for each candidate.
 */
export const isInSight = (ctx: Ctx): Part => ctx.tx.part`(i.container_id in (${visibleContainerIds(ctx)})) is true`
