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
import { hasAccess } from '../../access/account-access.ts'
import type { Checked } from '../filter/checked.ts'
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
  const [containers, parents, carriers, access] = await together(
    tx<{ id: string; parent_id: string | null }[]>`
      select id, parent_id from container
      where tenant_id = ${ctx.account.tenantId} and id in (select jsonb_array_elements_text(${ids})::uuid)`,
    tx<{ id: string | null }[]>`
      select distinct parent_id as id from item
      where tenant_id = ${ctx.account.tenantId} and parent_id in (select jsonb_array_elements_text(${itemIds})::uuid) and deleted_at is null`,
    tx<{ id: string | null }[]>`
      select distinct item_id as id from media_reference
      where tenant_id = ${ctx.account.tenantId} and item_id in (select jsonb_array_elements_text(${itemIds})::uuid)`,
    asksForAccess(asked.filter) ? accessTo(ctx, items) : [],
  )
  const hubs = new Map(containers.map(({ id, parent_id }) => [id, parent_id]))
  const [withChildren, withFiles] = [parents, carriers].map((rows) => new Set<string | null>(rows.map(({ id }) => id)))
  const seeing = new Set(access.map(({ account_id, container_id }) => `${account_id} ${container_id}`))
  const facts = {
    hubOf: (id: string) => hubs.get(id) ?? null,
    hasChildren: (id: string) => withChildren?.has(id) === true,
    hasAttachments: (id: string) => withFiles?.has(id) === true,
    hasAccess: (accountId: string, containerId: string) => seeing.has(`${accountId} ${containerId}`),
  }
  return items.filter((item) => !item.without_keys || holds(asked.filter, item, facts) === true)
}

function asksForAccess(filter: Checked): boolean {
  if ('leaf' in filter) return filter.leaf.op === 'has_no_access'
  if ('not' in filter) return asksForAccess(filter.not)
  if ('unknown' in filter) return false
  return ('all' in filter ? filter.all : filter.any).some(asksForAccess)
}

/** Which of the accounts that the items name see which of their containers. */
function accessTo({ tx, account: { tenantId } }: Ctx, items: readonly Listed[]) {
  const named = items.flatMap(({ created_by, assignee_id, member_ids, custom_fields }) => [
    ...[created_by, ...(assignee_id === null ? [] : [assignee_id]), ...member_ids],
    ...Object.values(custom_fields).filter((value) => typeof value === 'string' && idShape.test(value)),
  ])
  const accounts = tx.json([...new Set(named)])
  const containers = tx.json([...new Set(items.map(({ container_id }) => container_id))])
  return tx<{ account_id: string; container_id: string }[]>`
    select a.id as account_id, o.id as container_id from account a, container o
    where a.tenant_id = ${tenantId} and o.tenant_id = ${tenantId}
      and a.id in (select jsonb_array_elements_text(${accounts})::uuid)
      and o.id in (select jsonb_array_elements_text(${containers})::uuid)
      and ${hasAccess(tx, tenantId, tx.part`a.id`, tx.part`o.id`)}`
}

const idShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

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
