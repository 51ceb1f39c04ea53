/** What `POST /items:query` takes and answers. Spec: Work on boards, 2. */
import { z } from 'zod'
import { count, longestCursor, text, uuid } from '../vocabulary.ts'
import { Filter } from './filter.ts'
import { itemSorts, periodUnits } from './filter-fields.ts'

/** Which items a list shows: those on the board, those in the archive, or both. */
export const shelf = z.enum(['EXCLUDE', 'INCLUDE', 'ONLY']).default('EXCLUDE')

export const customKey = /^custom\.[a-z][a-z0-9_]{0,49}$/
const sortBy = z
  .enum(Object.keys(itemSorts) as [keyof typeof itemSorts])
  .or(z.string().regex(customKey))
  .describe('`board` is the order of one collection; `custom.<key>` that of a value')
const sortKey = z.strictObject({ by: sortBy, order: z.enum(['ASC', 'DESC']).default('ASC') })
export const sortKeys = z.array(sortKey).min(1).max(2)

export const groupBy = z.strictObject({
  by: z
    .enum(['bucket', 'state', 'assignee', 'label', 'due'])
    .or(z.string().regex(customKey))
    .describe('of custom fields: a SELECT'),
  unit: z.enum(periodUnits).optional().describe('for `due`'),
})

/** How many matches are counted, and how many are sorted where no index has the order. */
export const mostMatches = 10_000
/** Groups that an answer has at most. */
export const mostGroups = 50
/** Items of one group in the first answer. */
export const mostOfGroup = 20

export const ItemQuery = z
  .strictObject({
    filter: Filter.optional().describe('absent: every item'),
    view_id: uuid
      .optional()
      .describe('a view: its filter holds beside this one; its collection, order and groups where none are sent'),
    container_id: uuid.optional().describe('one collection; its own custom fields come first'),
    archived: shelf.describe('whether archived items are looked at'),
    sort: sortKeys.optional().describe("absent: the view's, else `board` in one collection, else `created`"),
    group_by: groupBy.optional(),
    include: z
      .array(z.enum(['CHILDREN', 'COMMENTS', 'ATTACHMENTS']))
      .max(3)
      .default([])
      .describe('what `extras` says of each item of the answer'),
    count: z.boolean().default(false).describe('whether `total` is asked for'),
    time_zone: text(1, 64).optional().describe("IANA; absent: the workspace's"),
    cursor: z.string().max(longestCursor).nullish(),
    size: count(1, 200).default(50).describe(`items of the page; of each group at most ${mostOfGroup}`),
  })
  .meta({ id: 'ItemQuery' })
export type ItemQuery = z.output<typeof ItemQuery>

export const unknownConditions = (where: string) =>
  z
    .array(z.object({ pointer: z.string(), code: z.literal('reference.unknown') }))
    .describe(`conditions, or values of them, on what is gone or not seen; ${where}`)

/** What is counted for `include`, by the id of an item: a count in the item would change while its version stays. */
const extras = z
  .record(
    uuid,
    z.object({
      children: z.int().optional().describe('those that are not in the trash'),
      children_done: z.int().optional().describe('of these, those that are done'),
      comments: z.int().optional().describe('those that are not deleted'),
      attachments: z.int().optional().describe('the files that it carries'),
    }),
  )
  .describe('by the id of each item of the answer; there if `include` asks for something')

/** `item` comes from operations.ts, which names this module. */
export const itemQueryAnswer = <Item extends z.ZodType>(item: Item) => {
  const next_cursor = z.string().nullable().describe('null alone ends a list: a page may be short, or empty, before')
  const group = z
    .object({
      key: z.string().nullable().describe('an id, a state, an option, or the first day of a period; null: none'),
      count: z.int(),
      count_capped: z.boolean().describe('there may be more'),
      data: z.array(item),
      next_cursor: next_cursor.describe('of the same request: it answers the next items of this group'),
    })
    .meta({ id: 'ItemGroup' })
  return z
    .object({
      data: z.array(item),
      next_cursor,
      unknown: unknownConditions('those of a view at `/view_id`'),
      extras: extras.optional(),
      total: z.int().optional(),
      total_capped: z.boolean().optional().describe('there may be more'),
      groups: z.array(group).optional(),
    })
    .meta({ id: 'ItemQueryAnswer' })
}
