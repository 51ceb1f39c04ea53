/**
 * When an item starts and when it is due: moments, or days.
 *
 * A day is the same for every reader. Beside it stand the moments at which it begins or ends in the zone of the dates, so
 * that whoever orders or filters by dates asks for moments only. All dates of an item are of one kind, and there is a
 * start only beside a due date. Spec: items 1, Dates; docs/decisions/0200.
 */

import type { itemDateOperations as ops } from '../../contract/items/dates.ts'
import type { Item } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuseMember } from '../../contract/problem.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { endOfDay, startOfDay } from '../../kernel/values/day.ts'
import { knownTimeZone } from '../../kernel/values/locale.ts'
import { changedMembers, type LockedItem, lockItem, recorded } from './item.ts'

type Dates = Pick<Item, 'start_at' | 'due_at' | 'start_on' | 'due_on' | 'time_zone'>
type Sent = Received<typeof ops.setItemDue>['body']

export const undated: Dates = { start_at: null, due_at: null, start_on: null, due_on: null, time_zone: null }

/** From the start until the end of the due date. */
const longestSpanDays = 366
const dayMs = 86_400_000

/** Refuses request.invalid, not_found, auth.role_required, container.archived, precondition.failed, item.archived. */
export async function setItemDue(ctx: Ctx, { itemId, body }: Received<typeof ops.setItemDue>): Promise<Item> {
  refuseMixed(body)
  const asked = body.time_zone ?? undefined
  if (asked !== undefined) knownTimeZone(asked, '/time_zone')
  const [locked, zone] = await together(lockItem(ctx, itemId), asked ?? ownZone(ctx))

  return setDates(ctx, locked, datesIn(zone, body))
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived. */
export async function clearItemDue(ctx: Ctx, { itemId }: Received<typeof ops.clearItemDue>): Promise<void> {
  await setDates(ctx, await lockItem(ctx, itemId), undated)
}

/**
 * The dates with another due moment, or with none. What does not fit to it is dropped: days, and a start that is behind it
 * or too far before it. The due moment that the item has already changes nothing.
 */
export function dueOf(dates: Dates, dueAt: string | null): Dates {
  if (dueAt === null) return undated
  const due_at = momentOf(dueAt)
  if (due_at === dates.due_at) return datesOf(dates)
  const { start_at, time_zone } = dates
  const isFitting = dates.due_on === null && start_at !== null && start_at <= due_at && start_at >= firstMoment(due_at)
  return { ...undated, start_at: isFitting ? start_at : null, due_at, time_zone }
}

export const datesOf = ({ start_at, due_at, start_on, due_on, time_zone }: Dates): Dates => ({
  start_at,
  due_at,
  start_on,
  due_on,
  time_zone,
})

/** The assignments of an update. */
export const columnsOf = ({ tx }: Ctx, { start_at, due_at, start_on, due_on, time_zone }: Dates): Part => tx.part`
  start_at = ${start_at}, due_at = ${due_at}, start_on = ${start_on}, due_on = ${due_on}, time_zone = ${time_zone}`

async function setDates(ctx: Ctx, locked: LockedItem, dates: Dates): Promise<Item> {
  const { item } = locked
  const members = changedMembers(item, dates)
  if (members.length === 0) return item

  void ctx.tx`
    update item set ${columnsOf(ctx, dates)}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${item.id}`

  return recorded(ctx, locked, dates, 'work.item.changed', { members })
}

/** Refuses request.invalid where there is no due date or two, and where a start is of the other kind. */
function refuseMixed({ due_on, due_at, start_on, start_at }: Sent): void {
  if (!due_on && !due_at) refuseMember('/due_on', 'member.required')
  if (due_on && due_at) refuseMember('/due_at', 'member.conflicts', { with: ['due_on'] })
  if (due_on && start_at) refuseMember('/start_at', 'member.conflicts', { with: ['due_on'] })
  if (due_at && start_on) refuseMember('/start_on', 'member.conflicts', { with: ['due_at'] })
}

/** The dates of a request that `refuseMixed` has passed. Refuses request.invalid at the start where it is behind the due date or too far before it. */
export function datesIn(zone: string, { due_on, due_at, start_on, start_at }: Sent): Dates {
  if (due_on) {
    if (start_on) refuseOutside('/start_on', start_on, firstDay(due_on), due_on)
    const startAt = start_on ? instant(startOfDay(start_on, zone)) : null
    return {
      start_at: startAt,
      due_at: instant(endOfDay(due_on, zone)),
      start_on: start_on ?? null,
      due_on,
      time_zone: zone,
    }
  }
  if (!due_at) return undated
  const dueAt = momentOf(due_at)
  const startAt = start_at ? momentOf(start_at) : null
  if (startAt) refuseOutside('/start_at', startAt, firstMoment(dueAt), dueAt)
  return { ...undated, start_at: startAt, due_at: dueAt, time_zone: zone }
}

/** Text of one form, as days and as moments, is in the order of time. */
function refuseOutside(pointer: string, start: string, first: string, due: string): void {
  if (start > due) refuseMember(pointer, 'value.maximum', { maximum: due })
  if (start < first) refuseMember(pointer, 'value.minimum', { minimum: first })
}

/** The first start that a due date allows. The due day counts, so that 366 days are a leap year. */
const firstDay = (due: string): string => instant(Date.parse(due) - (longestSpanDays - 1) * dayMs).slice(0, 10)
const firstMoment = (due: string): string => instant(Date.parse(due) - longestSpanDays * dayMs)

/** The zone of the workspace: of what people share, as templates. */
export async function workspaceZone(ctx: Ctx): Promise<string> {
  const { tenantId } = ctx.account
  const [row] = await ctx.tx<{ zone: string }[]>`select default_time_zone as zone from tenant where id = ${tenantId}`
  return row?.zone ?? 'UTC'
}

/** The zone that dates and queries have which name none: the caller's own, or else the workspace's. */
export async function ownZone(ctx: Ctx): Promise<string> {
  const { tenantId, accountId } = ctx.account
  const [[own], general] = await together(
    ctx.tx<{ zone: string | null }[]>`
      select time_zone as zone from account_preference where tenant_id = ${tenantId} and account_id = ${accountId}`,
    workspaceZone(ctx),
  )
  return own?.zone ?? general
}

const instant = (at: number): string => new Date(at).toISOString()
/** A moment of a request, as answers give it. */
const momentOf = (sent: string): string => instant(Date.parse(sent))
