/** Notifications, and what an account wants to be told. Spec: people 3, N13, N14, I9, I10. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { count, listOf, moment, paging, text, uuid, version } from '../vocabulary.ts'
import { notificationCategories, notificationChannels, notificationDeliveries } from './categories.ts'

const category = z.enum(notificationCategories).describe('of what it tells')
const channel = z.enum(notificationChannels).describe('by mail, or in the application')
const delivery = z
  .enum(notificationDeliveries)
  .describe('at once, in one mail a day, or not at all; IN_APP has no DAILY')
const override = z.strictObject({ container_id: uuid, delivery })

const NotificationPreference = z
  .object({
    category,
    channel,
    delivery,
    source: z.enum(['DEFAULT', 'OWN']).describe('whether the account decided it itself'),
    locked: z.boolean().describe('nobody changes it'),
    overrides: z
      .array(override)
      .describe('what holds in a container instead; that of a collection goes before that of its hub'),
    version,
  })
  .meta({ id: 'NotificationPreference' })
export type NotificationPreference = z.output<typeof NotificationPreference>

const Notification = z
  .object({
    id: uuid,
    category,
    at: moment.describe('when the newest event happened of which it tells'),
    count: z.int().min(1).describe('of how many events it tells'),
    event_type: z
      .string()
      .describe('the full type of the newest event; of what has no event, the kind of its mail, as `provider_ended`'),
    actor_id: uuid.nullable().describe('whose act the newest event was; null: of the service or of an operator'),
    subject: z.string().describe('the path of what it tells of, below /api/v1'),
    container_id: uuid.nullable().describe('the container of an item as it is now; null: none'),
    text: z.string().nullable().describe('what a rule says; null: nothing'),
    read_at: moment.nullable().describe('null: unread'),
  })
  .meta({ id: 'Notification' })
export type Notification = z.output<typeof Notification>

const unread_count = count(0, 1000).describe('how many unread ones there are besides')
const own = { refused: "they are the account's own affair" } as const
const itself = 'the account itself alone: any other id is not_found'

export const notificationOperations = defineOperations('identity', {
  listNotificationPreferences: {
    method: 'GET',
    path: '/accounts/{accountId}/notification-preferences',
    summary: 'How the own account is told of each category by each channel',
    spec: 'people 3, N13',
    params: z.strictObject({ accountId: uuid }),
    success: { status: 200, answer: listOf(NotificationPreference) },
    needs: { caller: 'account' },
    recovery: own,
    assumed: [itself, 'all pairs, also those that were never decided; these have the version 1'],
  },
  setNotificationPreference: {
    method: 'PUT',
    path: '/accounts/{accountId}/notification-preferences/{category}/{channel}',
    summary: 'Decide how the own account is told of a category by a channel',
    spec: 'people 3, N14',
    params: z.strictObject({
      accountId: uuid,
      category: text(1, 40).describe('as it is listed'),
      channel: text(1, 40).describe('MAIL or IN_APP'),
    }),
    body: z
      .strictObject({
        delivery,
        overrides: z
          .array(override)
          .max(200)
          .optional()
          .describe('what holds in a container instead, each container once; absent: nothing'),
      })
      .meta({ id: 'NotificationPreferenceUpdate' }),
    success: { status: 200, answer: NotificationPreference },
    needs: { caller: 'account' },
    refuses: ['notification.locked'],
    ifMatch: true,
    recovery: own,
    assumed: [
      itself,
      'a container that a decision names newly is one that the caller sees',
      'what is decided as it was decided before changes nothing and is not recorded',
    ],
  },
  listNotifications: {
    method: 'GET',
    path: '/accounts/me/notifications',
    summary: 'What the own account was told, newest first',
    spec: 'people 3, I9',
    query: z.strictObject({
      unread: z.enum(['true', 'false']).optional().describe('true: unread ones alone; false: read ones alone'),
      category: category.optional(),
      ...paging(200, 50),
    }),
    success: {
      status: 200,
      answer: z
        .object({ data: z.array(Notification), next_cursor: z.string().nullable(), unread_count })
        .meta({ id: 'NotificationPage' }),
    },
    needs: { caller: 'account' },
    refuses: ['cursor.invalid'],
    recovery: own,
    assumed: [
      'those about a container that the account does not see now, or that was deleted, are neither answered nor counted',
      'an unread one that takes in another event moves to the top, so that pages may skip or repeat it',
      '`unread_count` is of all categories, whatever the query asks for',
    ],
  },
  markNotifications: {
    method: 'POST',
    path: '/accounts/me/notifications:mark-read',
    summary: 'Mark notifications of the own account as read, or as unread',
    spec: 'people 3, I10',
    body: z
      .strictObject({
        ids: z.array(uuid).min(1).max(200).optional().describe('exactly one of `ids` and `until`'),
        until: moment.optional().describe('all up to this moment, which is included'),
        is_read: z.boolean().default(true).describe('false: as unread'),
      })
      .meta({ id: 'NotificationsMark' }),
    success: { status: 200, answer: z.object({ unread_count }).meta({ id: 'UnreadCount' }) },
    needs: { caller: 'account' },
    recovery: own,
    assumed: ['an id that is none of the own changes nothing, as one that nobody was given'],
  },
})
