/**
 * Items that lack their typed keys: the interpreter decides about them, one by one.
 *
 * The compiled filter lets them pass where it needs a key. Those that it should not have let pass are named, and left out.
 * Once the job has keyed them all, nothing of this is asked. Spec: Work on boards, 2; docs/decisions/0211.
 */
import { mostMatches } from '../../../contract/items/query.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { once } from '../filter/compile.ts'
import { holds } from '../filter/interpret.ts'
import { representation } from '../item.ts'
import { inShelf } from '../shelf.ts'
import type { Asked } from './asked.ts'
import type { Source } from './candidates.ts'
import type { Listed } from './walk.ts'

type Filtering = Pick<Asked, 'filter' | 'isLoose' | 'archived'>

/** The items that the interpreter takes: it decides about those without keys. */
export async function judged(ctx: Ctx, asked: Filtering, items: readonly Listed[]): Promise<readonly Listed[]> {
  if (!asked.isLoose || !items.some((item) => item.without_keys)) return items
  const { tx } = ctx
  const ids = tx.json([...new Set(items.map((item) => item.container_id))])
  const itemIds = tx.json(items.flatMap((item) => (item.without_keys ? [item.id] : [])))
  const [containers, parents, carriers] = await together(
    tx<{ id: string; parent_id: string | null }[]>`
      select id, parent_id from container
      where tenant_id = ${ctx.account.tenantId} and id in (select jsonb_array_elements_text(${ids})::uuid)`,
    tx<{ id: string | null }[]>`
      select distinct parent_id as id from item
      where tenant_id = ${ctx.account.tenantId} and parent_id in (select jsonb_array_elements_text(${itemIds})::uuid) and deleted_at is null`,
    tx<{ id: string | null }[]>`
      select distinct item_id as id from media_reference
      where tenant_id = ${ctx.account.tenantId} and item_id in (select jsonb_array_elements_text(${itemIds})::uuid)`,
  )
  const hubs = new Map(containers.map(({ id, parent_id }) => [id, parent_id]))
  const [withChildren, withFiles] = [parents, carriers].map((rows) => new Set<string | null>(rows.map(({ id }) => id)))
  const facts = {
    hubOf: (id: string) => hubs.get(id) ?? null,
    hasChildren: (id: string) => withChildren?.has(id) === true,
    hasAttachments: (id: string) => withFiles?.has(id) === true,
  }
  return items.filter((item) => !item.without_keys || holds(asked.filter, item, facts) === true)
}

/** The source whose condition is exact, for what is gathered. Refuses query.too_broad where too many items lack keys. */
export async function exactSource<S extends Pick<Source, 'where'>>(ctx: Ctx, asked: Filtering, source: S): Promise<S> {
  if (!asked.isLoose) return source
  const { tx } = ctx
  const items = await tx<Listed[]>`${once(tx.part`
    select ${representation(ctx)}, i.without_keys from item i
    where i.tenant_id = ${ctx.account.tenantId} and i.without_keys and ${inShelf(ctx, asked.archived)} and ${source.where} limit ${mostMatches + 1}`)}`
  if (items.length > mostMatches) refuse('query.too_broad', { limit: mostMatches })
  const taken = new Set(await judged(ctx, asked, items))
  const wrong = items.filter((item) => !taken.has(item)).map(({ id }) => id)
  return wrong.length === 0 ? source : { ...source, where: tx.part`${source.where} and i.id not in ${tx.list(wrong)}` }
}
