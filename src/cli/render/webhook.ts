/** One webhook, for people. */
import type { Webhook } from '../../core/contract/webhooks/operations.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'

const reasons = {
  target_gone: 'the target answered 410',
  unreachable: 'too many failures for too long',
  owner_left: 'the account that it acted for has left',
}

/** `DISABLED: the target answered 410`. */
export const stateOf = ({ state, disabled_reason }: Webhook) =>
  disabled_reason === null ? state : `${state}: ${reasons[disabled_reason]}`

export const webhookDetails = (webhook: Webhook, more: readonly (readonly [string, string])[] = []) =>
  details([
    ...more,
    ['target', webhook.target_url],
    ['state', stateOf(webhook)],
    ['events', webhook.event_types.join(' ')],
    ['failures in a row', webhook.consecutive_failures === 0 ? null : webhook.consecutive_failures],
    ['failing since', webhook.failing_since && moment(webhook.failing_since)],
    ['secret rotated', webhook.secret_rotated_at && moment(webhook.secret_rotated_at)],
    ['earlier secret until', webhook.previous_secret_until && moment(webhook.previous_secret_until)],
    ['created', moment(webhook.created_at)],
    ['id', webhook.id],
    ['acts for', webhook.acts_for],
  ])
