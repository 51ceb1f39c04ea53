/**
 * Finds items, comments, files and containers by their words.
 *
 * The position of a cursor is the moment that ages are counted to, how many results there were before, and the score and the
 * id of the last one. It is bound to the question. Spec: Work on boards, 2, N4.
 */
import type { Filter } from '../../contract/items/filter.ts'
import type { Received } from '../../contract/operation.ts'
import { refuseMember } from '../../contract/problem.ts'
import { searchKinds } from '../../contract/search/kinds.ts'
import {
  type searchOperations as ops,
  type SearchAnswer,
  type SearchRequest,
  searchBounds,
} from '../../contract/search/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { dateNow } from '../../kernel/values/time.ts'
import { ownZone } from '../items/dates.ts'
import { checkFilter, storedFilter } from '../items/filter/check.ts'
import { compile } from '../items/filter/compile.ts'
import { hasWithoutKeys } from '../items/filter/keying.ts'
import { type Names, namesIn } from '../items/filter/names.ts'
import { needsKeys } from '../items/query/asked.ts'
import { exactSource } from '../items/query/unkeyed.ts'
import { mapInBreaths } from './breath.ts'
import { cutText, likeStems, matchesOf } from './excerpt.ts'
import { kindsOfDocuments } from './kinds.ts'
import { asksForWords, type Question, questionOf } from './question.ts'
import { type Ranked, rank } from './ranking.ts'
import { readStems, stemsIn, stemsOf } from './stems.ts'
import { type Stems, tsqueryOf } from './vector.ts'

/** What is asked for; the contract has checked the filter (contract/items/filter.ts). */
type Asked = Omit<SearchRequest, 'filter'> & { readonly filter?: Filter }

/** Refuses request.invalid, cursor.invalid, gone. */
export async function search(ctx: Ctx, received: Received<typeof ops.search>): Promise<SearchAnswer> {
  const body = received.body as Asked
  const question = questionOf(body.query)
  if (question.words > searchBounds.words)
    refuseMember('/query', 'text.too_many_words', { maximum: searchBounds.words })
  const [index, names, zone, lacksKeys] = await together(
    findIndex(ctx, question),
    namesIn(ctx, body.filter, undefined),
    ownZone(ctx),
    body.filter === undefined ? false : hasWithoutKeys(ctx, ctx.account.tenantId),
  )
  const place = placeOf(ctx, body, names, zone)
  const { filter, unknown } = await filterOf(ctx, body, { names, zone, now: place.now, lacksKeys })
  const kinds = kindsOf(body)
  if (!asksForWords(question) || index.generation === null || kinds.length === 0)
    return { data: [], next_cursor: null, capped: false, is_behind: index.is_behind, unknown, ...noFacets(body) }
  const size = Math.min(body.size, searchBounds.results - place.shown)
  const found = await rank(ctx, {
    ...{ kinds, filter, archived: body.archived, facets: body.facets ?? [], size },
    ...{ now: place.now, after: place.after, generation: index.generation },
    tsquery: tsqueryOf(index.generation, question, index.stems),
  })
  const page = found.page.slice(0, size)
  return {
    data: await resultsOf(ctx, page, question, index),
    next_cursor: found.page.length > page.length ? place.next(page) : null,
    capped: found.candidates > searchBounds.candidates,
    is_behind: index.is_behind,
    unknown,
    ...(body.facets ? { facets: found.facets as SearchAnswer['facets'] } : {}),
  }
}

/** In one order, so that the statement of all of them is one text. */
const kindsOf = ({ kinds, filter }: Asked) =>
  searchKinds.filter(
    (kind) => (kinds ?? searchKinds).includes(kind) && (filter === undefined || kindsOfDocuments[kind].takesFilter),
  )

const noFacets = ({ facets }: Asked) =>
  facets ? { facets: Object.fromEntries(facets.map((facet) => [facet, []])) } : {}

interface Index {
  /** Null: there is none yet. */
  readonly generation: string | null
  readonly language: string
  readonly is_behind: boolean
  readonly stems: Stems
}

/** The generation that answers, or the one that is built where there is no other; and the stems of the question in it. */
async function findIndex(ctx: Ctx, { terms }: Question): Promise<Index> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const words = terms.flatMap(({ stemmed }) => stemmed ?? [])
  const [row] = await tx<(Omit<Index, 'stems'> & { stems: Record<string, string | null> | null })[]>`
    select s.generation::text, coalesce(s.language, 'simple') as language,
           s.state is distinct from 'SERVING' or coalesce(p.is_late, false) as is_behind,
           case when s.language <> 'simple' then ${stemsIn(tx, tx.part`s.language`, words)} end as stems
    from (select 1) one
    left join lateral (
      select generation, language, state from search_index where tenant_id = ${tenantId} and state in ('SERVING', 'BUILDING')
      order by state desc limit 1) s on true
    left join lateral (
      select queued_at < now() - interval '10 seconds' as is_late from search_pending where tenant_id = ${tenantId}
      order by id limit 1) p on true`
  return {
    generation: row?.generation ?? null,
    language: row?.language ?? 'simple',
    is_behind: row?.is_behind ?? true,
    stems: stemsOf(row?.stems ?? {}),
  }
}

interface FilterMeans {
  readonly names: Names
  readonly zone: string
  readonly now: string
  readonly lacksKeys: boolean
}

async function filterOf(ctx: Ctx, { filter, archived }: Asked, { names, zone, now, lacksKeys }: FilterMeans) {
  if (filter === undefined) return { filter: ctx.tx.part`true`, unknown: [] }
  const around = { now: Date.parse(now), zone }
  const { checked, unknown } = checkFilter(filter, ['filter'], { ...around, names, me: ctx.account.accountId })
  const isLoose = lacksKeys && needsKeys(checked)
  const source = { where: compile(ctx, checked, { isLoose }) }
  const { where } = await exactSource(ctx, { filter: checked, isLoose, archived }, source)
  return { filter: where, unknown: [...unknown] }
}

/** Where the page begins. Refuses cursor.invalid, gone. */
function placeOf(ctx: Ctx, body: Asked, names: Names, zone: string) {
  const { query, kinds, archived, filter, cursor } = body
  const bound = { query, kinds, archived, zone, filter: filter && storedFilter(filter, names) }
  const position = cursor ? ctx.cursor.read('search', bound, cursor) : []
  const [now = dateNow().toISOString(), before = '0', score, id] = position
  const shown = Number(before)
  return {
    now,
    shown,
    after: score === undefined || id === undefined ? undefined : { score, id },
    /** The cursor behind a page; null behind the last result that is answered. */
    next(page: readonly Ranked[]): string | null {
      const last = page.at(-1)
      const all = shown + page.length
      if (!last || all >= searchBounds.results) return null
      return ctx.cursor.write('search', bound, [now, String(all), String(last.score), last.id])
    },
  }
}

async function resultsOf(ctx: Ctx, page: readonly Ranked[], question: Question, index: Index) {
  const cut = await mapInBreaths(page, ({ texts }) => texts.map(cutText))
  const like = likeStems(cut.flat(), question, index.stems)
  const stems = new Map([...(await readStems(ctx.tx, index.language, like)), ...index.stems])
  return mapInBreaths([...page.entries()], ([n, { kind, shown_id: id, item_id, container_id, title }]) => ({
    ...{ kind, id, item_id, container_id, title },
    matches: matchesOf(cut[n] ?? [], question, stems),
  }))
}
