/** What a view keeps of what was sent, checked as a query of it would be. Spec: items 7 and 2. */
import type { Filter } from '../../../contract/items/filter.ts'
import type { View, ViewCreate } from '../../../contract/items/views.ts'
import { Problem, refuseMember } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { dateNow } from '../../../kernel/values/time.ts'
import { checkFilter, storedFilter } from '../filter/check.ts'
import type { Unknown } from '../filter/checked.ts'
import { namesIn } from '../filter/names.ts'
import { groupFor } from '../query/group-key.ts'
import { sortKeysOf } from '../query/sort-key.ts'

type Sent = Pick<ViewCreate, 'filter' | 'sort' | 'group_by'> & { readonly columns?: readonly string[] | undefined }
type Kept = Pick<View, 'filter' | 'sort' | 'group_by'>

/**
 * Custom fields by id. An id that is gone is kept and holds for nothing; a key that means no field is refused, because it
 * would mean a field that is defined under it later. Refuses request.invalid.
 */
export async function keptOf(ctx: Ctx, sent: Sent, containerId: string | null): Promise<Kept> {
  const { filter: sentFilter, sort, group_by: groupBy, columns = [] } = sent
  if (new Set(columns).size < columns.length) refuseMember('/columns', 'list.unique')
  const filter = (sentFilter ?? undefined) as Filter | undefined
  const collection = containerId ?? undefined
  const customs = [...(sort ?? []).map(({ by }) => by), ...(groupBy ? [groupBy.by] : [])]
  const names = await namesIn(ctx, filter, collection, customs)
  const means = { now: dateNow().getTime(), zone: 'UTC', names, me: ctx.account.accountId }
  const unknown: Unknown[] = []
  if (filter) unknown.push(...checkFilter(filter, ['filter'], means).unknown.filter(isOfKey(filter)))
  if (sort) sortKeysOf(sort, names, collection, unknown)
  if (groupBy) groupFor(groupBy, names, means.zone, unknown)
  const errors = unknown.map(({ pointer, code }) => ({ pointer, code, params: {} }))
  if (errors.length > 0) throw new Problem('request.invalid', {}, { errors })
  return { filter: filter ? storedFilter(filter, names) : null, sort: sort ?? null, group_by: groupBy ?? null }
}

/** Whether what is unknown is the key of a custom field. */
const isOfKey =
  (filter: Filter) =>
  ({ pointer }: Unknown): boolean => {
    const steps = pointer.split('/').slice(2)
    const named = steps.reduce<unknown>((part, step) => (part as Readonly<Record<string, unknown>>)[step], filter)
    return steps.at(-1) === 'field' && String(named).startsWith('custom.')
  }
