/**
 * What a query asks for, of the request and of the view that it names.
 *
 * The filters of both hold. The collection, the order and the groups are the view's where the request sends none. What a
 * view keeps never refuses a query: an order or groups by a field that is gone are left out, and told.
 * Spec: items 7; Work on boards, 2, N3.
 */
import type { Filter } from '../../../contract/items/filter.ts'
import type { ItemQuery } from '../../../contract/items/query.ts'
import type { View } from '../../../contract/items/views.ts'
import { refuseMember } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { type CheckedFilter, checkFilter, type Means } from '../filter/check.ts'
import type { CustomField, Unknown } from '../filter/checked.ts'
import type { Names } from '../filter/names.ts'
import { findView } from '../views/row.ts'
import { canSort } from './sort-key.ts'

export interface Wanted {
  readonly containerId: string | undefined
  readonly sort: NonNullable<ItemQuery['sort']>
  readonly groupBy: ItemQuery['group_by']
  /** Both filters, for what they name. */
  readonly filter: Filter | undefined
  readonly sent: ItemQuery
  readonly view: View | undefined
}

/** Refuses request.invalid at /view_id or /container_id. */
export async function wantedOf(ctx: Ctx, sent: ItemQuery): Promise<Wanted> {
  const { view_id: viewId } = sent
  const view = viewId === undefined ? undefined : await findView(ctx, viewId)
  if (viewId !== undefined && view === undefined) refuseMember('/view_id', 'reference.unknown')
  const ofView = view?.container_id ?? undefined
  const containerId = sent.container_id ?? ofView
  if (ofView !== undefined && containerId !== ofView) refuseMember('/container_id', 'value.not_taken')
  const filters = [view?.filter, sent.filter].filter((one) => one !== undefined && one !== null) as Filter[]
  return {
    containerId,
    sort: sent.sort ?? view?.sort ?? [{ by: containerId === undefined ? 'created' : 'board', order: 'ASC' }],
    groupBy: sent.group_by ?? view?.group_by ?? undefined,
    filter: filters.length > 1 ? { all: filters } : filters[0],
    sent,
    view,
  }
}

/** The order and the groups without those of the view by a field that is gone, or that has no order by now. */
export function livingOf({ sort, groupBy, sent, view }: Wanted, names: Names, unknown: Unknown[]) {
  const isOfView = (member: 'sort' | 'group_by') => view !== undefined && sent[member] === undefined
  const isDead = (by: string, isFit: (field: CustomField) => boolean) => {
    const field = names.field(by)
    const isLost = by.startsWith('custom.') && (field === undefined || !isFit(field))
    if (isLost) unknown.push({ pointer: '/view_id', code: 'reference.unknown' })
    return isLost
  }
  return {
    sort: isOfView('sort') ? sort.filter(({ by }) => !isDead(by, canSort)) : sort,
    groupBy:
      isOfView('group_by') && groupBy && isDead(groupBy.by, ({ kind }) => kind === 'SELECT') ? undefined : groupBy,
  }
}

/** Both filters, checked; dead conditions of the view are told at /view_id. Refuses request.invalid at the pointer. */
export function checkBoth({ sent, view }: Wanted, means: Means): CheckedFilter {
  const ofView = view?.filter ? checkFilter(view.filter as Filter, ['view_id'], means) : undefined
  const own = sent.filter ? checkFilter(sent.filter as Filter, ['filter'], means) : undefined
  const dead = ofView && ofView.unknown.length > 0 ? [{ pointer: '/view_id', code: 'reference.unknown' } as const] : []
  const checked = [ofView, own].flatMap((one) => (one ? [one.checked] : []))
  return { checked: { all: checked }, unknown: [...dead, ...(own?.unknown ?? [])] }
}
