/** The rules of this area, by operation. */
import type { notificationOperations } from '../../contract/notifications/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { listNotificationPreferences, setNotificationPreference } from './preferences.ts'
import { listNotifications, markNotifications } from './reading.ts'

export const notificationsHandlers = {
  listNotificationPreferences,
  setNotificationPreference,
  listNotifications,
  markNotifications,
} satisfies HandlersOf<typeof notificationOperations>
