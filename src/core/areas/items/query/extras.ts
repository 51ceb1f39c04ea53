/** Counts beside the items of an answer, which no item holds: they change while its version stays. Spec: items 2, N3. */
import type { ItemQueryAnswer } from '../../../contract/items/operations.ts'
import type { ItemQuery } from '../../../contract/items/query.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'

type Extras = NonNullable<ItemQueryAnswer['extras']>
type Answered = Pick<ItemQueryAnswer, 'data' | 'groups'>

/** Of the items that the caller was found to see; nothing where nothing is asked for. */
export async function extrasOf(
  ctx: Ctx,
  include: ItemQuery['include'],
  { data, groups = [] }: Answered,
): Promise<{ extras?: Extras }> {
  if (!include.includes('COMMENTS')) return {}
  const ids = [...new Set([...data, ...groups.flatMap((group) => group.data)].map(({ id }) => id))]
  const { tx } = ctx
  const counts = await tx<{ id: string; comments: number }[]>`
    select k.item_id as id, count(*)::int as comments from comment k
    where k.tenant_id = ${ctx.account.tenantId} and k.item_id in ${tx.list(ids)} and k.deleted_at is null
    group by k.item_id`
  const found = new Map(counts.map(({ id, comments }) => [id, comments]))
  return { extras: Object.fromEntries(ids.map((id) => [id, { comments: found.get(id) ?? 0 }])) }
}
