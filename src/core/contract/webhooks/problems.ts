/** The refusals about webhooks and their deliveries; rows of the one table (problem.ts). */
export const webhookProblems = {
  'webhook.target_forbidden': {
    status: 422,
    says: 'The daemon may not call this target.',
    remedy: 'Use a public https URL; an operator can allow other hosts with SVC_EGRESS_ALLOW.',
  },
  'webhook.filter_unsupported': {
    status: 422,
    says: 'Webhooks have no filters yet.',
    remedy: 'Omit `filter`, and select events by `event_types`.',
  },
  'webhook.not_active': {
    status: 409,
    says: 'The webhook is paused or disabled.',
    remedy: 'First set its state to ACTIVE.',
  },
  'webhook.delivery_not_dead': {
    status: 409,
    says: 'The delivery is not a dead letter.',
    remedy: 'It was delivered, or it will be tried again by itself at next_attempt_at.',
  },
  'webhook.rotation_limit': {
    status: 409,
    says: 'Five earlier secrets are still in their grace periods.',
    remedy: 'Wait until one grace period ends, or rotate with grace_seconds 0, which ends all of them.',
  },
  'webhook.event_gone': {
    status: 410,
    says: 'The event of this delivery is no longer stored.',
    remedy: 'Read the state of the resource instead.',
  },
  'webhook.event_restored': {
    status: 409,
    says: 'The event was written again by a restore; such events are never delivered.',
    remedy: 'Read the state of the resource instead.',
  },
  'webhook.event_unseen': {
    status: 409,
    says: 'The account that the webhook acts for cannot see the container of this event.',
    remedy:
      'Give that account access to the container, or resume the webhook yourself: it then acts for you. `acts_for` names the account.',
  },
} as const
