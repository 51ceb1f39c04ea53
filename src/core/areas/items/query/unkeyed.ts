/**
 * Items that lack their typed keys: the interpreter decides about them, one by one.
 *
 * The compiled filter lets them pass where it needs a key. Those that it should not have let pass are named, and left out.
 * Once the job has keyed them all, nothing of this is asked. Spec: Work on boards, 2; docs/decisions/0211.
 */
import type { Item } from '../../../contract/items/operations.ts'
import { mostMatches } from '../../../contract/items/query.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { holds } from '../filter/interpret.ts'
import { representation } from '../item.ts'
import type { Asked } from './asked.ts'
import { once, type Source } from './candidates.ts'

/** The source whose condition is exact. Refuses query.too_broad where too many items would have to be looked at. */
export async function exactSource(ctx: Ctx, asked: Asked, source: Source): Promise<Source> {
  if (!asked.isLoose) return source
  const { tx } = ctx
  const { tenantId } = ctx.account
  const [items, containers] = await together(
    tx<Item[]>`${once(tx.part`
      select ${representation(ctx)} from item i
      where i.tenant_id = ${tenantId} and i.without_keys and i.deleted_at is null and ${source.where} limit ${mostMatches + 1}`)}`,
    tx<{ id: string; parent_id: string | null }[]>`
      select id, parent_id from container where tenant_id = ${tenantId}`,
  )
  if (items.length > mostMatches) refuse('query.too_broad', { limit: mostMatches })
  const hubs = new Map(containers.map(({ id, parent_id }) => [id, parent_id]))
  const facts = { hubOf: (id: string) => hubs.get(id) ?? null }
  const wrong = items.filter((item) => holds(asked.filter, item, facts) !== true).map(({ id }) => id)
  return wrong.length === 0 ? source : { ...source, where: tx.part`${source.where} and i.id not in ${tx.list(wrong)}` }
}
