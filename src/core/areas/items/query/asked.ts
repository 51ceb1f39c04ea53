/**
 * What a query asks, with all that it names looked up.
 *
 * The position of a cursor begins with the moment of `now` and the group that it goes on in; the rest is the place in the
 * list. It is bound to the filter as it is kept: a custom field by its id. Spec: Work on boards, 2, N3.
 */
import type { ItemQuery } from '../../../contract/items/query.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { knownTimeZone } from '../../../kernel/values/locale.ts'
import { dateNow } from '../../../kernel/values/time.ts'
import { visibleContainer } from '../../access/access.ts'
import { ownZone } from '../dates.ts'
import { storedFilter } from '../filter/check.ts'
import type { Checked, Unknown } from '../filter/checked.ts'
import { hasWithoutKeys } from '../filter/keying.ts'
import { namesIn } from '../filter/names.ts'
import { isKeyed } from '../filter/normal-form.ts'
import type { Around } from '../filter/periods.ts'
import type { Archived } from '../shelf.ts'
import { type Group, groupFor, groupLeaf } from './group-key.ts'
import { type SortKey, sortKeysOf } from './sort-key.ts'
import { checkBoth, livingOf, wantedOf } from './wanted.ts'

export interface Asked {
  readonly filter: Checked
  readonly unknown: readonly Unknown[]
  readonly around: Around
  readonly containerId: string | undefined
  readonly archived: Archived
  readonly sorts: readonly SortKey[]
  readonly group: Group | undefined
  /** Some items lack their typed keys, and the filter asks for keys. */
  readonly isLoose: boolean
  readonly size: number
  /** The group that the cursor goes on in; undefined without a cursor, or without groups. */
  readonly inGroup: { readonly key: string | null } | undefined
  /** The place behind which the page begins. */
  readonly after: readonly string[] | undefined
  /** The cursor of a place. */
  readonly cursorAt: (place: readonly string[], group?: { readonly key: string | null }) => string
}

/** Refuses not_found, request.invalid, cursor.invalid, gone. */
export async function asked(ctx: Ctx, body: ItemQuery): Promise<Asked> {
  const wanted = await wantedOf(ctx, body)
  const { containerId, filter } = wanted
  const customs = [...wanted.sort.map(({ by }) => by), ...(wanted.groupBy ? [wanted.groupBy.by] : [])]
  const [names, settings, lacksKeys, container] = await together(
    namesIn(ctx, filter, containerId, customs),
    ownZone(ctx),
    hasWithoutKeys(ctx, ctx.account.tenantId),
    containerId === undefined ? undefined : visibleContainer(ctx, containerId),
  )
  if (container?.kind === 'HUB') refuse('not_found')
  const zone = body.time_zone === undefined ? settings : knownTimeZone(body.time_zone, '/time_zone')
  const unknown: Unknown[] = []
  const { sort, groupBy } = livingOf(wanted, names, unknown)
  const sorts = sortKeysOf(sort, names, containerId, unknown)
  const group = groupBy && groupFor(groupBy, names, zone, unknown)

  const kept = filter && storedFilter(filter, names)
  const bound = {
    filter: kept,
    container_id: containerId,
    sort: wanted.view ? wanted.sort : body.sort,
    group_by: wanted.groupBy,
    zone,
    ...(body.archived === 'EXCLUDE' ? {} : { archived: body.archived }),
  }
  const position = body.cursor ? ctx.cursor.read('queryItems', bound, body.cursor) : undefined
  const [now = dateNow().toISOString(), mark = '', ...after] = position ?? []
  const around = { now: Date.parse(now), zone }
  const checked = checkBoth(wanted, { ...around, names, me: ctx.account.accountId })
  const inGroup = mark === '' ? undefined : { key: mark === 'none' ? null : mark.slice(1) }
  const conditions = [checked.checked, ...(group && inGroup ? [groupLeaf(group, inGroup.key, around)] : [])]
  return {
    filter: { all: conditions },
    unknown: [...checked.unknown, ...unknown],
    around,
    containerId,
    archived: body.archived,
    sorts: sorts.length > 0 ? sorts : [{ by: containerId === undefined ? 'created' : 'board', isDescending: false }],
    group,
    isLoose: lacksKeys && needsKeys({ all: conditions }),
    size: body.size,
    inGroup,
    after: position && after.length > 0 ? after : undefined,
    cursorAt: (place, of = inGroup) =>
      ctx.cursor.write('queryItems', bound, [
        now,
        of === undefined ? '' : of.key === null ? 'none' : `=${of.key}`,
        ...place,
      ]),
  }
}

/** Whether the filter compares titles or values of custom fields. */
export function needsKeys(filter: Checked): boolean {
  if ('leaf' in filter) return isKeyed(filter.leaf.field)
  if ('not' in filter) return needsKeys(filter.not)
  if ('unknown' in filter) return false
  return ('all' in filter ? filter.all : filter.any).some(needsKeys)
}
