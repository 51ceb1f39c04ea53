/** What the filter of a view asks of what is gone, or of what its reader does not see. Spec: items 7. */
import type { Filter } from '../../../contract/items/filter.ts'
import type { View, ViewShown } from '../../../contract/items/views.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { dateNow } from '../../../kernel/values/time.ts'
import { checkFilter } from '../filter/check.ts'
import { type Names, namesIn } from '../filter/names.ts'

/** The views with their dead conditions: of all of them together two statements. */
export async function withUnknown(ctx: Ctx, views: readonly View[]): Promise<ViewShown[]> {
  const filters = views.flatMap(({ filter }) => (filter === null ? [] : [filter as Filter]))
  const names = await namesIn(ctx, filters.length === 0 ? undefined : { any: filters }, undefined)
  return views.map((view) => shownWith(ctx, view, names))
}

function shownWith(ctx: Ctx, view: View, names: Names): ViewShown {
  if (view.filter === null) return { ...view, unknown: [] }
  // Which days a period means changes nothing here.
  const means = { now: dateNow().getTime(), zone: 'UTC', names, me: ctx.account.accountId }
  return { ...view, unknown: [...checkFilter(view.filter as Filter, ['filter'], means).unknown] }
}
