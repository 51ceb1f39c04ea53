/** Events of notifications: of what people decided, never of what they were told. Spec: people 3; decisions 5. */
import { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { uuid } from '../vocabulary.ts'
import { notificationCategories, notificationChannels, notificationDeliveries } from './categories.ts'

export const notificationEvents = defineEvents({
  'identity.notification_preference.changed': {
    when: 'an account decided how it is told of a category by a channel',
    subject: '/accounts/{account_id}',
    kind: 'account',
    container: null,
    data: z.object({
      account_id: uuid,
      category: z.enum(notificationCategories).describe('of what it tells'),
      channel: z.enum(notificationChannels).describe('by mail, or in the application'),
      delivery: z.enum(notificationDeliveries).describe('how the account wants to be told'),
    }),
    example: { account_id: exampleId(3), category: 'COMMENTED', channel: 'MAIL', delivery: 'OFF' },
  },
})
