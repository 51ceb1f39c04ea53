/** Counts beside the items of an answer, which no item holds: they change while its version stays. Spec: items 2, N3. */
import type { ItemQueryAnswer } from '../../../contract/items/operations.ts'
import type { ItemQuery } from '../../../contract/items/query.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'

type Extras = NonNullable<ItemQueryAnswer['extras']>
type Answered = Pick<ItemQueryAnswer, 'data' | 'groups'>

/** Of the items that the caller was found to see; nothing where nothing is asked for. */
export async function extrasOf(
  ctx: Ctx,
  include: ItemQuery['include'],
  { data, groups = [] }: Answered,
): Promise<{ extras?: Extras }> {
  if (include.length === 0) return {}
  const ids = [...new Set([...data, ...groups.flatMap((group) => group.data)].map(({ id }) => id))]
  const asked = await together(...[...new Set(include)].map((one) => counts[one](ctx, ids)))
  const found = asked.map((rows) => new Map<string | null, Extras[string]>(rows.map(({ id, ...count }) => [id, count])))
  const none = Object.assign({}, ...include.map((one) => nothing[one]))
  return {
    extras: Object.fromEntries(
      ids.map((id) => [id, Object.assign({}, none, ...found.map((one) => one.get(id) ?? {}))]),
    ),
  }
}

type Counted = Extras[string] & { readonly id: string | null }
type Included = ItemQuery['include'][number]

const nothing: Readonly<Record<Included, Extras[string]>> = {
  CHILDREN: { children: 0, children_done: 0 },
  COMMENTS: { comments: 0 },
  ATTACHMENTS: { attachments: 0 },
}

const counts: Readonly<Record<Included, (ctx: Ctx, ids: readonly string[]) => Promise<Counted[]>>> = {
  CHILDREN: ({ tx, account: { tenantId } }, ids) => tx<Counted[]>`
    select k.parent_id as id, count(*)::int as children, (count(*) filter (where k.state = 'DONE'))::int as children_done from item k
    where k.tenant_id = ${tenantId} and k.parent_id in ${tx.list(ids)} and k.deleted_at is null
    group by k.parent_id`,
  COMMENTS: ({ tx, account: { tenantId } }, ids) => tx<Counted[]>`
    select k.item_id as id, count(*)::int as comments from comment k
    where k.tenant_id = ${tenantId} and k.item_id in ${tx.list(ids)} and k.deleted_at is null
    group by k.item_id`,
  ATTACHMENTS: ({ tx, account: { tenantId } }, ids) => tx<Counted[]>`
    select r.item_id as id, count(*)::int as attachments from media_reference r
    where r.tenant_id = ${tenantId} and r.item_id in ${tx.list(ids)}
    group by r.item_id`,
}
