/** Counts beside the items of an answer, which no item holds: they change while its version stays. Spec: items 2, N3. */
import type { ItemQueryAnswer } from '../../../contract/items/operations.ts'
import type { ItemQuery } from '../../../contract/items/query.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'

type Extras = NonNullable<ItemQueryAnswer['extras']>
type Answered = Pick<ItemQueryAnswer, 'data' | 'groups'>
type Counted = Promise<readonly { readonly id: string; readonly count: number }[]>

/** The member of `extras`, and how it is counted; an item without a row has none. */
const counters = {
  COMMENTS: ['comments', countComments],
  ATTACHMENTS: ['attachments', countAttachments],
} as const satisfies Record<ItemQuery['include'][number], readonly [keyof Extras[string], typeof countComments]>

/** Of the items that the caller was found to see; nothing where nothing is asked for. */
export async function extrasOf(
  ctx: Ctx,
  include: ItemQuery['include'],
  { data, groups = [] }: Answered,
): Promise<{ extras?: Extras }> {
  if (include.length === 0) return {}
  const ids = [...new Set([...data, ...groups.flatMap((group) => group.data)].map(({ id }) => id))]
  const extras: Extras = Object.fromEntries(ids.map((id) => [id, {}]))
  const count = async (what: ItemQuery['include'][number]) => {
    const [member, counted] = counters[what]
    const found = new Map((await counted(ctx, ids)).map((row) => [row.id, row.count]))
    for (const id of ids) Object.assign(extras[id] ?? {}, { [member]: found.get(id) ?? 0 })
  }
  await Promise.all([...new Set(include)].map(count))
  return { extras }
}

function countComments({ tx, account }: Ctx, ids: readonly string[]): Counted {
  return tx`
    select k.item_id as id, count(*)::int as count from comment k
    where k.tenant_id = ${account.tenantId} and k.item_id in ${tx.list(ids)} and k.deleted_at is null
    group by k.item_id`
}

function countAttachments({ tx, account }: Ctx, ids: readonly string[]): Counted {
  return tx`
    select r.item_id as id, count(*)::int as count from media_reference r
    where r.tenant_id = ${account.tenantId} and r.item_id in ${tx.list(ids)}
    group by r.item_id`
}
