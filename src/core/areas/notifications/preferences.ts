/**
 * How an account wants to be told. A pair that it never decided has the product's default and no row.
 * Spec: people 3, N13, N14; docs/decisions/0432.
 */
import {
  defaultDelivery,
  lockedCategories,
  type NotificationCategory,
  type NotificationChannel,
  type NotificationDelivery,
  notificationCategories,
  notificationChannels,
} from '../../contract/notifications/categories.ts'
import type { NotificationPreference, notificationOperations as ops } from '../../contract/notifications/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { visibleContainerIds } from '../access/access.ts'

type Overrides = Readonly<Record<string, NotificationDelivery>>

interface Row {
  readonly category: NotificationCategory
  readonly channel: NotificationChannel
  readonly delivery: NotificationDelivery
  readonly overrides: Overrides
  readonly version: number
}

/** Of a pair that was never decided. */
const firstVersion = 1

/** Refuses not_found. */
export async function listNotificationPreferences(
  ctx: Ctx,
  { accountId }: Received<typeof ops.listNotificationPreferences>,
): Promise<Answer<typeof ops.listNotificationPreferences>> {
  refuseOthers(ctx, accountId)
  const rows = await ctx.tx.last<Row[]>`
    select category, channel, delivery, overrides, version from notification_preference
    where tenant_id = ${ctx.account.tenantId} and account_id = ${accountId}`
  const pairs = notificationCategories.flatMap((category) =>
    notificationChannels.map((channel) => ({ category, channel })),
  )
  return {
    data: pairs.map((pair) =>
      preferenceOf(
        pair,
        rows.find(({ category, channel }) => category === pair.category && channel === pair.channel),
      ),
    ),
  }
}

/** Refuses not_found, notification.locked, request.invalid, precondition.failed. */
export async function setNotificationPreference(
  ctx: Ctx,
  { accountId, category, channel, body }: Received<typeof ops.setNotificationPreference>,
): Promise<Answer<typeof ops.setNotificationPreference>> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  refuseOthers(ctx, accountId)
  const pair = knownPair(category, channel)
  if (lockedCategories.includes(pair.category)) refuse('notification.locked', { category: pair.category })
  const wanted = wantedOf(body, pair.channel)
  // The account's own row, because that of the pair may not be there.
  const [, [held], seen] = await together(
    tx`select from account where tenant_id = ${tenantId} and id = ${accountId} for no key update`,
    tx<Row[]>`
      select category, channel, delivery, overrides, version from notification_preference
      where tenant_id = ${tenantId} and account_id = ${accountId} and category = ${pair.category} and channel = ${pair.channel}`,
    seenOf(ctx, Object.keys(wanted)),
  )
  refuseUnseen(body, held, seen)
  ctx.unchanged(held?.version ?? firstVersion)
  if (held && held.delivery === body.delivery && isSame(held.overrides, wanted)) return preferenceOf(pair, held)

  const next: Row = {
    ...pair,
    delivery: body.delivery,
    overrides: wanted,
    version: (held?.version ?? firstVersion) + 1,
  }
  void tx`
    insert into notification_preference (tenant_id, account_id, category, channel, delivery, overrides, version)
    values (${tenantId}, ${accountId}, ${pair.category}, ${pair.channel}, ${next.delivery}, ${tx.json(wanted)}, ${next.version})
    on conflict (tenant_id, account_id, category, channel) do update
      set delivery = excluded.delivery, overrides = excluded.overrides, version = excluded.version, updated_at = excluded.updated_at`

  await ctx.record(
    'identity.notification_preference.changed',
    { account_id: accountId, ...pair, delivery: next.delivery },
    { ...pair, delivery: next.delivery, overrides: Object.keys(wanted).length },
  )
  return preferenceOf(pair, next)
}

/** Others' are not told to exist, not even to administrators. Refuses not_found. */
function refuseOthers({ account }: Ctx, accountId: string): void {
  if (accountId !== account.accountId) refuse('not_found')
}

/** Refuses not_found. */
function knownPair(category: string, channel: string): Pick<Row, 'category' | 'channel'> {
  const known = notificationCategories.find((one) => one === category) ?? refuse('not_found')
  return { category: known, channel: notificationChannels.find((one) => one === channel) ?? refuse('not_found') }
}

type Body = Received<typeof ops.setNotificationPreference>['body']

/** The overrides by container. Refuses request.invalid. */
function wantedOf({ delivery, overrides = [] }: Body, channel: NotificationChannel): Overrides {
  const values = channel === 'IN_APP' ? ['IMMEDIATE', 'OFF'] : undefined
  if (values && delivery === 'DAILY') refuseMember('/delivery', 'value.one_of', { values })
  const wanted: Record<string, NotificationDelivery> = {}
  for (const [n, one] of overrides.entries()) {
    if (values && one.delivery === 'DAILY') refuseMember(`/overrides/${n}/delivery`, 'value.one_of', { values })
    if (Object.hasOwn(wanted, one.container_id)) refuseMember('/overrides', 'list.unique')
    wanted[one.container_id] = one.delivery
  }
  return wanted
}

async function seenOf(ctx: Ctx, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await ctx.tx<{ id: string }[]>`
    select id from container where tenant_id = ${ctx.account.tenantId} and id in ${ctx.tx.list(ids)} and id in (${visibleContainerIds(ctx)})`
  return new Set(rows.map(({ id }) => id))
}

/** What was decided while the container was seen may stay. Refuses request.invalid. */
function refuseUnseen({ overrides = [] }: Body, held: Row | undefined, seen: ReadonlySet<string>): void {
  const unseen = overrides.findIndex(
    ({ container_id: id }) => !seen.has(id) && !Object.hasOwn(held?.overrides ?? {}, id),
  )
  if (unseen >= 0) refuseMember(`/overrides/${unseen}/container_id`, 'reference.unknown')
}

const isSame = (one: Overrides, other: Overrides): boolean =>
  Object.keys(one).length === Object.keys(other).length && Object.keys(one).every((id) => one[id] === other[id])

const preferenceOf = (
  { category, channel }: Pick<Row, 'category' | 'channel'>,
  row: Row | undefined,
): NotificationPreference => ({
  category,
  channel,
  delivery: row?.delivery ?? defaultDelivery(category, channel),
  source: row ? 'OWN' : 'DEFAULT',
  locked: lockedCategories.includes(category),
  overrides: Object.entries(row?.overrides ?? {})
    .map(([container_id, delivery]) => ({ container_id, delivery }))
    .sort((a, b) => (a.container_id < b.container_id ? -1 : 1)),
  version: row?.version ?? firstVersion,
})
