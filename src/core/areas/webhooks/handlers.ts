/** The rules of this area, by operation. */

import type { webhookOperations } from '../../contract/webhooks/operations.ts'
import type { deliveryOperations } from '../../contract/webhooks/operator-view.ts'
import { type HandlersOf, withWork } from '../../kernel/request/handler.ts'
import { getDelivery, listDeliveries, replayDelivery, sendEvent } from './deliveries.ts'
import { getRecordedDelivery } from './operator-view/recorded.ts'
import { getDeliveryStats } from './operator-view/stats.ts'
import { rotateWebhookSecret } from './secret.ts'
import { changeWebhook, createWebhook, deleteWebhook, getWebhook, listWebhooks } from './subscription.ts'
import { vetTarget } from './target.ts'

export const webhooksHandlers = {
  getDeliveryStats,
  getRecordedDelivery,
  listWebhooks,
  createWebhook: withWork(vetTarget, createWebhook),
  getWebhook,
  changeWebhook: withWork(vetTarget, changeWebhook),
  deleteWebhook,
  listDeliveries,
  getDelivery,
  replayDelivery,
  sendEvent,
  rotateWebhookSecret,
} satisfies HandlersOf<typeof deliveryOperations & typeof webhookOperations>
