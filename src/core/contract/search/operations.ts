/** Search by words, and making its documents anew. Spec: Work on boards, 2, N4 and N5. */
import { z } from 'zod'
import { Filter } from '../items/filter.ts'
import { JobRef } from '../jobs/operations.ts'
import { defineOperations } from '../operation.ts'
import { count, longestCursor, text, uuid } from '../vocabulary.ts'
import { searchKinds } from './kinds.ts'

const searchFacets = ['container', 'label', 'assignee', 'state', 'type'] as const
export type SearchFacet = (typeof searchFacets)[number]

export const searchBounds = {
  /** Characters of a question, and its words. */
  characters: 200,
  words: 16,
  /** The newest documents that have the words; the ranks among them are exact. */
  candidates: 10_000,
  /** Results of all pages. */
  results: 1_000,
  /** Values of one facet. */
  facetValues: 50,
} as const

const SearchRequest = z
  .strictObject({
    query: text(1, searchBounds.characters).describe(
      'all of the words; `"in this order"`; `-without`; the last word may be the beginning of one',
    ),
    kinds: z.array(z.enum(searchKinds)).min(1).max(searchKinds.length).optional().describe('absent: all'),
    filter: Filter.optional().describe(
      'what items have to be, also those of comments and files; a container meets none',
    ),
    facets: z.array(z.enum(searchFacets)).max(searchFacets.length).optional(),
    archived: z.enum(['EXCLUDE', 'INCLUDE', 'ONLY']).default('EXCLUDE'),
    cursor: z.string().max(longestCursor).nullish(),
    size: count(1, 50).default(20),
  })
  .meta({ id: 'SearchRequest' })
export type SearchRequest = z.output<typeof SearchRequest>

const SearchMatch = z.object({
  member: z
    .string()
    .describe(
      '`title`, `name`, `label`, `description`, `custom.<key>`, `body` of a comment, `filename` or `alt` of a file',
    ),
  excerpt: z.string().describe('plain text, as it was written'),
  ranges: z.array(z.array(z.int())).describe('where the words are in the excerpt: `[from, behind]`, in code points'),
})
export type SearchMatch = z.output<typeof SearchMatch>

const SearchResult = z
  .object({
    kind: z.enum(searchKinds),
    id: uuid,
    item_id: uuid.nullable().describe('the item that it is, or belongs to'),
    container_id: uuid.describe('the container that it is, or lies in'),
    title: z.string().describe('its own; of a comment that of its item, of a file the name that it has there'),
    matches: z.array(SearchMatch),
  })
  .meta({ id: 'SearchResult' })
export type SearchResult = z.output<typeof SearchResult>

const facetValues = z.array(
  z.object({ key: z.string().nullable().describe('an id, or a value; null: none'), count: z.int() }),
)

const SearchAnswer = z
  .object({
    data: z.array(SearchResult).describe('the best first'),
    next_cursor: z.string().nullable(),
    capped: z
      .boolean()
      .describe(`more than ${searchBounds.candidates} have the words, of which the newest were looked at`),
    is_behind: z.boolean().describe('changes wait for more than 10 s, or the documents are not all made yet'),
    unknown: z
      .array(z.object({ pointer: z.string(), code: z.literal('reference.unknown') }))
      .describe('conditions of the filter on what is gone or not seen'),
    facets: z
      .object(
        Object.fromEntries(searchFacets.map((facet) => [facet, facetValues.optional()])) as {
          [Facet in SearchFacet]: z.ZodOptional<typeof facetValues>
        },
      )
      .optional()
      .describe(`of all that was found: the ${searchBounds.facetValues} most frequent values of each`),
  })
  .meta({ id: 'SearchAnswer' })
export type SearchAnswer = z.output<typeof SearchAnswer>

export const searchOperations = defineOperations('items', {
  search: {
    method: 'POST',
    path: '/search',
    summary: 'Find items, comments, files and containers by their words',
    spec: 'Work on boards, 2, N4',
    body: SearchRequest,
    reads: true,
    success: { status: 200, answer: SearchAnswer },
    needs: { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' },
    refuses: ['cursor.invalid'],
    recovery: { refused: "content is the workspace's own; `:export` is the operator's way" },
    assumed: [
      'kinds served: ITEM, COMMENT, MEDIA and CONTAINER; JUMBLE comes with its area',
      'a file is found on each item that carries it, as the item is; one that nothing carries is in `GET /media` alone',
      'a comment is found as its item is: where it lies, archived or not, and by a filter of it; facets but `container` count items alone',
      'more than 16 words are 422 at /query; a question without a word, or of `-without` alone, finds nothing',
      'a filter is about items, so with one no container is found',
      '`unknown` as in `POST /items:query`; the zone of its dates is the workspace’s',
      'of values of custom fields those of texts, addresses, options and numbers are found',
      'an item of an archived container is found as it is listed; `archived` asks of a container whether it or its hub is archived',
    ],
  },
  reindexSearch: {
    method: 'POST',
    path: '/search:reindex',
    summary: 'Make the documents of search anew, beside those that answer until then',
    spec: 'Work on boards, 2, N5',
    body: z
      .strictObject({ tenant_id: uuid.optional().describe('for operators: one workspace; absent: all') })
      .meta({ id: 'SearchReindex' }),
    success: { status: 202, answer: JobRef, location: (answer: { job_id: string }) => `/jobs/${answer.job_id}` },
    needs: { caller: 'workspace or operator', scope: 'workspace:admin', role: 'ADMIN' },
    refuses: ['not_found'],
    recovery: 'allowed',
    assumed: [
      "a workspace's ADMIN may name the own workspace; another one is 404",
      'asked again while it is under way: the same job, and no second entry',
      'of all workspaces: a job of the installation, whose progress counts workspaces; those that are not ACTIVE are left out, and of one that is suspended on the way nobody waits for the end',
      'the entry is in the trail of the workspace, and for operators in the journal as well',
    ],
  },
})
