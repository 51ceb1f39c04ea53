/** What happens to webhooks. An event of a webhook never holds its secret. */
import { defineEvents, exampleId } from '../event.ts'
import { type Webhook, WebhookRepresentation } from './operations.ts'

const example: Webhook = {
  id: exampleId(1),
  target_url: 'https://hooks.example.com/in',
  event_types: ['svc.work.item.created.v1'],
  filter: null,
  state: 'ACTIVE',
  disabled_reason: null,
  acts_for: exampleId(3),
  consecutive_failures: 0,
  failing_since: null,
  secret_rotated_at: null,
  previous_secret_until: null,
  created_at: '2026-11-20T11:55:22.123Z',
  updated_at: '2026-11-20T11:55:22.123Z',
  version: 1,
}

const declared = {
  subject: '/integrations/webhooks/{id}',
  kind: 'webhook',
  container: null,
  data: WebhookRepresentation,
} as const

export const webhookEvents = defineEvents({
  'integration.webhook.created': { ...declared, when: 'a webhook was created', example },
  'integration.webhook.changed': {
    ...declared,
    when: 'a webhook was changed, paused or set going again',
    example: { ...example, state: 'PAUSED', version: 2 },
  },
  'integration.webhook.enabled': {
    ...declared,
    when: 'a disabled webhook was enabled again',
    example: { ...example, version: 3 },
  },
  'integration.webhook.disabled': {
    ...declared,
    when: 'a webhook was disabled: its target was gone or failed for too long, or whom it acted for left',
    example: {
      ...example,
      state: 'DISABLED',
      disabled_reason: 'unreachable',
      consecutive_failures: 40,
      failing_since: '2026-11-19T11:55:22.123Z',
      version: 2,
    },
  },
  'integration.webhook.secret_rotated': {
    ...declared,
    when: "a webhook's signing secret was rotated",
    example: {
      ...example,
      secret_rotated_at: '2026-11-20T12:00:00.000Z',
      previous_secret_until: '2026-11-21T12:00:00.000Z',
      version: 2,
    },
  },
  'integration.webhook.deleted': { ...declared, when: 'a webhook was deleted', example },
})
