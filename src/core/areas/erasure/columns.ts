/**
 * Every column that names an account, and what an erasure makes of it.
 *
 *    goes     the row is removed (rules.ts)
 *    empty    the column is emptied (rules.ts)
 *    an id    it stays, and leads nowhere: the account is `{id, kind, state: ERASED}`
 *
 * test/privacy/personal-data.test.ts compares this with the database, so that no new table is forgotten.
 * Spec: Keeping, 2, Erasure of; docs/decisions/0461.
 */

type Fate = 'goes' | 'empty' | { readonly stays: string }

const proof = { stays: 'proof of an act: an id that leads nowhere' } as const
const written = { stays: 'what was written keeps an id that leads nowhere; its words as the choice says' } as const

export const fateOf: Readonly<Record<string, Fate>> = {
  'account_address.account_id': 'goes',
  'account_preference.account_id': 'goes',
  'account_restriction.account_id': { stays: 'proof: a code and a moment' },
  'account_restriction.set_by': proof,
  'account_word.account_id': 'goes',
  'address_confirmation.account_id': 'goes',
  'assignment_turn.account_id': 'goes',
  'audit_entry.actor_account_id': proof,
  'comment.created_by': written,
  'comment_mention.account_id': 'goes',
  'comment_reaction.account_id': 'goes',
  'connected_identity.account_id': 'goes',
  'consent.account_id': { stays: 'proof: kind, version, moments' },
  'consent_text.written_by': proof,
  'container.deleted_by': proof,
  'credential.account_id': 'goes',
  'erasure.account_id': proof,
  'failed_attempt.account_id': 'goes',
  'group_member.account_id': 'goes',
  'group_member.added_by': proof,
  'idempotency_record.account_id': 'goes',
  'installation_notice.set_by': proof,
  'invitation.account_id': 'goes',
  'item.assignee_id': 'empty',
  'item.created_by': written,
  'item.deleted_by': proof,
  'item.text_by': written,
  'item_member.account_id': 'goes',
  'item_view.created_by': { stays: 'a shared view keeps an id that leads nowhere; a private one goes' },
  'journal.actor_account_id': proof,
  'legal_hold.placed_by': proof,
  'legal_hold.released_by': proof,
  'media.created_by': { stays: 'a file that stays keeps an id that leads nowhere' },
  'media_reference.added_by': { stays: 'a file that stays keeps an id that leads nowhere' },
  'membership.account_id': 'goes',
  'membership.holder_id': 'goes',
  'notification.account_id': 'goes',
  'notification.actor_id': proof,
  'notification_pending.actor_id': { stays: 'a message of the next moments' },
  'notification_preference.account_id': 'goes',
  'operator.account_id': 'goes',
  'operator.added_by': proof,
  'password_history.account_id': 'goes',
  'password_opening.opened_by': proof,
  'password_reset.account_id': 'goes',
  'privacy_request.account_id': { stays: 'proof: id, kind, version, moments; what it says of the person is emptied' },
  'privacy_request.handler_id': proof,
  'privacy_request.identity_by': proof,
  'recovery_code.account_id': 'goes',
  'restore.created_by': proof,
  'second_factor.account_id': 'goes',
  'session.account_id': 'goes',
  'setting.set_by': proof,
  'sign_in_challenge.account_id': 'goes',
  'sign_in_flow.proved_account_id': 'goes',
  'sign_in_link.account_id': 'goes',
  'step_up.account_id': 'goes',
  'template.created_by': written,
  'webhook.acts_for': { stays: 'the webhook is disabled, until an administrator takes it over' },
}
