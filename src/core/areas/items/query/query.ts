/**
 * Asks for items by a filter. All statements see one moment.
 *
 * In the order of creation or of a board a page walks an index (walk.ts); by anything else the matches are gathered and
 * sorted (gather.ts). Where items lack their typed keys, the compiled filter lets these pass, and the interpreter decides
 * (docs/decisions/0211). Spec: Work on boards, 2, N3.
 */
import type { ItemQueryAnswer, itemOperations as ops } from '../../../contract/items/operations.ts'
import type { ItemQuery } from '../../../contract/items/query.ts'
import type { Received } from '../../../contract/operation.ts'
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { type Asked, asked as askedBy } from './asked.ts'
import { type Source, sourceOf } from './candidates.ts'
import { extrasOf } from './extras.ts'
import { countMatches, groupsOf, sortedPage } from './gather.ts'
import { exactSource, judged } from './unkeyed.ts'
import { type Page, walk } from './walk.ts'

/** Refuses not_found, request.invalid, cursor.invalid, gone, query.too_broad. */
export async function queryItems(ctx: Ctx, { body }: Received<typeof ops.queryItems>): Promise<ItemQueryAnswer> {
  const asked = await askedBy(ctx, body)
  const answer = await answerTo(ctx, body, asked)
  return { ...answer, ...(await extrasOf(ctx, body.include, answer)) }
}

async function answerTo(ctx: Ctx, body: ItemQuery, asked: Asked): Promise<ItemQueryAnswer> {
  const source = sourceOf(ctx, asked)
  const isGrouped = asked.group !== undefined && asked.inGroup === undefined
  const isPageWalked = !isGrouped && isWalked(asked)
  if (!source.isNarrow) awaitTurn(ctx)
  const exact = body.count || !isPageWalked ? await exactSource(ctx, asked, source) : source
  const total = body.count ? await countMatches(ctx, exact) : {}
  const about = { unknown: [...asked.unknown], ...total }
  if (isGrouped) return { data: [], next_cursor: null, ...about, ...(await grouped(ctx, asked, exact)) }
  const { items, next } = isPageWalked ? await walkedPage(ctx, asked, source) : await sortedPage(ctx, asked, exact)
  return { data: [...items], next_cursor: next ? asked.cursorAt(next) : null, ...about }
}

/**
 * A query to which no index leads keeps a processor busy for as long as it takes, and four of them every processor. So those of
 * one workspace run one after the other, in all daemons together (docs/decisions/0510).
 */
function awaitTurn({ tx, account: { tenantId } }: Ctx): void {
  void tx`select pg_advisory_xact_lock(${lockClasses.broadQueries}, hashtext(${tenantId}))`
}

/** A group is sorted in its first answer, so it goes on from there. Two archived items may have one place on a board. */
function isWalked({ group, archived, sorts: [sort, second] }: Asked): boolean {
  if (group || second !== undefined) return false
  return sort?.by === 'created' || (sort?.by === 'board' && archived === 'EXCLUDE')
}

/** The page is shorter by the items that the interpreter refuses; its cursor is that of all. */
async function walkedPage(ctx: Ctx, asked: Asked, source: Source): Promise<Page> {
  const { items, next } = await walk(ctx, asked, source)
  return { items: await judged(ctx, asked, items), next }
}

async function grouped(ctx: Ctx, asked: Asked, source: Source) {
  if (!asked.group) return {}
  const found = await groupsOf(ctx, asked, asked.group, source)
  const place = (key: string | null) => (key === null ? 'none' : `=${key}`)
  const groups = found.map(({ key, count, items }) => {
    const last = items.at(-1)
    // A group for which the answer had no room goes on from its beginning.
    const from = last ? [place(last.k1), place(last.k2), last.id] : []
    return {
      key,
      count,
      count_capped: false,
      data: [...items],
      next_cursor: count > items.length ? asked.cursorAt(from, { key }) : null,
    }
  })
  return { groups }
}
