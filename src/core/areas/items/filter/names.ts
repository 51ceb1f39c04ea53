/**
 * What a filter names, looked up: custom fields, ids and people.
 *
 * All of it is one statement for the fields and one for the ids. An id that is another workspace's, random, deleted or in a
 * container that the caller does not see is not found, and all of these answer alike. Spec: Work on boards, 2 and 10, 1.
 */
import { type Condition, customFieldOf, type Filter } from '../../../contract/items/filter.ts'
import { type FilterKindName, findItemField, type Referenced } from '../../../contract/items/filter-fields.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { visibleContainerIds } from '../../access/access.ts'
import type { CustomField } from './checked.ts'

/** What an id may name. */
type Named = Referenced | 'account'

export interface Names {
  /** The definition that a field of the filter means, by the field as it is written. */
  readonly field: (field: string) => CustomField | undefined
  /** Whether the caller sees what has this id. */
  readonly has: (named: Named, id: string) => boolean
}

/**
 * Looks up what the filter names, and the `fields` that the request names beside it. `containerId`: the one collection that
 * the query is about, whose fields show first.
 */
export async function namesIn(
  ctx: Ctx,
  filter: Filter | undefined,
  containerId: string | undefined,
  others: readonly string[] = [],
): Promise<Names> {
  const conditions = filter === undefined ? [] : conditionsOf(filter)
  const customs = [...conditions.map(({ field }) => field), ...others].flatMap((field) => customFieldOf(field) ?? [])
  const [fields, ids] = await together(findFields(ctx, customs, containerId), findIds(ctx, conditions))
  const found = new Set(ids.map(({ named, id }) => `${named} ${id}`))
  return {
    field(field) {
      const name = customFieldOf(field)
      if (name === undefined) return undefined
      return fields.find((one) => ('key' in name ? one.key === name.key && one.is_shown : one.id === name.id))
    },
    has: (named, id) => found.has(`${named} ${id}`),
  }
}

/** Every condition of a filter. */
function conditionsOf(filter: Filter): readonly Condition[] {
  if ('all' in filter) return filter.all.flatMap(conditionsOf)
  if ('any' in filter) return filter.any.flatMap(conditionsOf)
  return 'not' in filter ? conditionsOf(filter.not) : [filter]
}

/** What the ids of a condition name; undefined where its values are no ids. */
export function namedBy(kind: FilterKindName, of: Referenced | undefined): Named | undefined {
  return kind === 'PERSON' || kind === 'PEOPLE' ? 'account' : of
}

interface FoundField extends CustomField {
  /** Whether its key means this field: the collection's own, or the workspace's where that has none. */
  readonly is_shown: boolean
}

async function findFields(
  ctx: Ctx,
  customs: readonly ({ readonly key: string } | { readonly id: string })[],
  containerId: string | undefined,
): Promise<readonly FoundField[]> {
  if (customs.length === 0) return []
  const { tx } = ctx
  const { tenantId } = ctx.account
  const keys = customs.flatMap((one) => ('key' in one ? [one.key] : []))
  const ids = customs.flatMap((one) => ('id' in one ? [one.id] : []))
  const own = containerId ?? null
  return tx<FoundField[]>`
    select f.id, f.key, f.kind, f.collection_id, f.applies_to,
           case when f.collection_id is not null then '[]'::jsonb else coalesce((
             select jsonb_agg(s.collection_id) from custom_field s
             where s.tenant_id = f.tenant_id and s.key = f.key and s.collection_id is not null and s.deleted_at is null
           ), '[]'::jsonb) end as shadowed_in,
           f.collection_id = ${own}::uuid or f.collection_id is null and not exists (
             select from custom_field s
             where s.tenant_id = f.tenant_id and s.key = f.key and s.collection_id = ${own}::uuid and s.deleted_at is null
           ) as is_shown
    from custom_field f
    where f.tenant_id = ${tenantId} and f.deleted_at is null and (f.key in ${tx.list(keys)} or f.id in ${tx.list(ids)})
      and (f.collection_id is null or f.collection_id in (${visibleContainerIds(ctx)}))`
}

async function findIds(ctx: Ctx, conditions: readonly Condition[]): Promise<readonly { named: Named; id: string }[]> {
  const asked = new Map<Named, Set<string>>()
  for (const { field, value } of conditions) {
    const known = findItemField(field)
    // Of a custom field any id may be a person: its kind is not known yet.
    const named = known ? namedBy(known.kind, 'of' in known ? known.of : undefined) : 'account'
    if (named === undefined) continue
    for (const id of idsIn(value)) asked.set(named, (asked.get(named) ?? new Set()).add(id))
  }
  if (asked.size === 0) return []
  const { tx } = ctx
  const [first, ...others] = [...asked].map(([named, ids]) => lookUp(ctx, named, [...ids]))
  const all = others.reduce((joined, one) => tx.part`${joined} union all ${one}`, first as Part)
  return tx<{ named: Named; id: string }[]>`${all}`
}

const uuidShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The ids among the values of a condition, and the caller's own for `me`. */
function idsIn(value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.flatMap((one) => (typeof one === 'string' && uuidShape.test(one) ? [one.toLowerCase()] : []))
}

function lookUp(ctx: Ctx, named: Named, ids: readonly string[]): Part {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const list = tx.list(ids)
  const inVisible = tx.part`in (${visibleContainerIds(ctx)})`
  switch (named) {
    case 'account':
      return tx.part`select 'account' as named, id from account where tenant_id = ${tenantId} and id in ${list}`
    case 'item':
      return tx.part`
        select 'item' as named, id from item
        where tenant_id = ${tenantId} and id in ${list} and deleted_at is null and container_id ${inVisible}`
    case 'bucket':
      return tx.part`
        select 'bucket' as named, id from bucket
        where tenant_id = ${tenantId} and id in ${list} and container_id ${inVisible}`
    case 'label':
      return tx.part`
        select 'label' as named, id from label
        where tenant_id = ${tenantId} and id in ${list} and deleted_at is null and container_id ${inVisible}`
    case 'container':
    case 'hub': {
      const kind = named === 'hub' ? 'HUB' : 'COLLECTION'
      return tx.part`
        select ${named}::text as named, id from container
        where tenant_id = ${tenantId} and id in ${list} and kind = ${kind} and id ${inVisible}`
    }
  }
}
