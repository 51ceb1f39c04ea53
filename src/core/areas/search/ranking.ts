/**
 * The statement of a search: candidates by their words, joined back to what the caller sees, then counted and shown.
 *
 *    search_ids()  the newest documents with the words, in the containers that the caller sees      at most 10,001
 *    hits          the first 10,000 of them
 *    seen          those that are there, that the caller sees now, and that the filter takes
 *    page          the best of these behind the cursor
 *    named         their texts
 *
 * `seen` and `named` look each one up by its id: how many there are, PostgreSQL cannot know when it plans.
 *
 * The score is the rank of the words, by the weight of where they are, divided by one more than the document's age in years.
 * Nothing outside of `seen` is counted: whether there are more candidates is asked of the containers that the caller sees.
 *
 * Spec: Work on boards, 2, N4 and 10, 3; docs/decisions/0230.
 */
import { type SearchKind, searchKinds } from '../../contract/search/kinds.ts'
import { type SearchFacet, searchBounds } from '../../contract/search/operations.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { seesAll, visibleContainerIds } from '../access/access.ts'
import { once } from '../items/filter/compile.ts'
import type { Named, Seeing } from './kind.ts'
import { kindsOfDocuments } from './kinds.ts'

export interface Searching extends Seeing {
  readonly kinds: readonly SearchKind[]
  readonly generation: string
  readonly tsquery: string
  readonly facets: readonly SearchFacet[]
  /** The moment that ages are counted to. */
  readonly now: string
  readonly after: { readonly score: string; readonly id: string } | undefined
  readonly size: number
}

export interface Ranked extends Named {
  readonly kind: SearchKind
  readonly score: number
}

interface Found {
  readonly candidates: number
  readonly page: readonly Ranked[]
  readonly facets: Partial<Record<SearchFacet, readonly { key: string | null; count: number }[]>>
}

export async function rank(ctx: Ctx, searching: Searching): Promise<Found> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const { kinds, generation, tsquery, after, size } = searching
  const score = tx.part`
    h.rank / (1 + greatest(extract(epoch from ${searching.now}::timestamptz - h.changed_at)::float8, 0) / 31557600)`
  const seen = kinds.map((kind) => kindsOfDocuments[kind].seen(ctx, searching, score))
  const named = kinds.map((kind) => {
    const one = kindsOfDocuments[kind].named(tx, tenantId, tx.part`p.id`)
    return tx.part`
      select p.kind, p.score, n.* from (select * from page where kind = ${kind}) p cross join lateral (${one} offset 0) n`
  })
  const behind = after ? tx.part`(s.score, s.id) < (${after.score}::float8, ${after.id}::uuid)` : tx.part`true`
  const containers = seesAll(ctx) ? tx.part`null::uuid[]` : tx.part`array(${visibleContainerIds(ctx)})`
  const statement = tx.part`
    with candidate as materialized (
      select f.* from search_ids(${tenantId}::uuid, ${generation}::bigint, array(select jsonb_array_elements_text(${tx.json(kinds)})),
        ${containers}, ${tsquery}::tsquery, ${searchBounds.candidates + 1}::int) with ordinality f (kind, id, rank, changed_at, n)),
    hits as (select * from candidate where n <= ${searchBounds.candidates}),
    seen as materialized (${joined(ctx, seen)}),
    page as materialized (
      select s.kind, s.id, s.score from seen s where ${behind} order by s.score desc, s.id desc limit ${size + 1}),
    named as (${joined(ctx, named)})
    select (select count(*)::int from candidate) as candidates,
           ${facetsOf(ctx, searching.facets)} as facets,
           coalesce((select jsonb_agg(to_jsonb(n) order by n.score desc, n.id desc) from named n), '[]'::jsonb) as page`
  // The usual question has few forms, so it is planned once: that takes six times as long as to find a rare word.
  const isUsual = kinds.length === searchKinds.length && searching.facets.length === 0
  const [row] = await tx<Found[]>`${isUsual ? statement : once(statement)}`
  return row ?? { candidates: 0, page: [], facets: {} }
}

const joined = ({ tx }: Ctx, parts: readonly Part[]): Part =>
  parts.reduce((all, one) => tx.part`${all} union all ${one}`)

/** The values of what was found, the most frequent first. */
function facetsOf(ctx: Ctx, facets: readonly SearchFacet[]): Part {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const values: Readonly<Record<SearchFacet, Part>> = {
    container: tx.part`select s.container_id::text as key from seen s`,
    assignee: tx.part`select s.assignee_id::text as key from seen s where s.kind = 'ITEM'`,
    state: tx.part`select s.state as key from seen s where s.kind = 'ITEM'`,
    type: tx.part`select s.type as key from seen s where s.kind = 'ITEM'`,
    label: tx.part`
      select l.label_id::text as key from seen s
      join item_label l on l.tenant_id = ${tenantId} and l.item_id = s.id
      join label v on v.tenant_id = l.tenant_id and v.id = l.label_id and v.container_id = s.container_id and v.deleted_at is null
      where s.kind = 'ITEM'`,
  }
  const counted = [...new Set(facets)].map(
    (facet) => tx.part`
      ${facet}::text, coalesce((
        select jsonb_agg(jsonb_build_object('key', c.key, 'count', c.count) order by c.count desc, c.key)
        from (select key, count(*)::int as count from (${values[facet]}) v group by key
              order by count desc, key limit ${searchBounds.facetValues}) c), '[]'::jsonb)`,
  )
  if (counted.length === 0) return tx.part`'{}'::jsonb`
  return tx.part`jsonb_build_object(${counted.reduce((all, one) => tx.part`${all}, ${one}`)})`
}
