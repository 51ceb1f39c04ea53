/**
 * Every kind of mail: its recipients, its occasion and its texts.
 *
 * A kind is sent by queueing `tellAdministrators`, `tellAccount` (jobs.ts) or `tellOperators`
 * (operators.ts) with its name, in the transaction of the event that it reports. Except for the
 * workspace and the moment, the text's values (`reads`) come from the entry of the trail or of the
 * journal that `noticeId` names, never from the queue.
 *
 * To add a kind: its texts in texts/, a row here. docs/generated/mails.md shows this table.
 */

import * as address from './texts/address.ts'
import * as backupSchedules from './texts/backup-schedules.ts'
import * as backups from './texts/backups.ts'
import * as identities from './texts/identities.ts'
import * as identityProvider from './texts/identity-provider.ts'
import * as invitation from './texts/invitation.ts'
import type { InEveryLanguage } from './texts/language.ts'
import * as notification from './texts/notification.ts'
import * as objections from './texts/objections.ts'
import * as operators from './texts/operators.ts'
import * as passwordOpening from './texts/password-opening.ts'
import * as passwordReset from './texts/password-reset.ts'
import * as privacy from './texts/privacy.ts'
import * as privacyAnswers from './texts/privacy-answers.ts'
import * as restores from './texts/restores.ts'
import * as retention from './texts/retention.ts'
import * as secondFactor from './texts/second-factor.ts'

export interface MailKind {
  /**
   * The workspace's active owners and administrators; one account, about itself; or the operators, about the
   * installation. Each recipient gets a separate mail.
   */
  readonly to: 'administrators' | 'account' | 'operators'
  /** The event after which the mail is sent, in words for people. */
  readonly when: string
  readonly texts: InEveryLanguage
  /** Members of the trail entry's params, or of the journal's entry, that the texts may name in braces. */
  readonly reads?: readonly string[]
  /** The mail ends with the requester and the reason from the trail's entry. */
  readonly namesRequester?: true
  /** The mail ends with what to do if the reader did not expect it. */
  readonly warns?: true
}

const mailKinds = {
  password_opened: {
    to: 'administrators',
    when: 'an operator let the workspace sign in with passwords for some hours',
    texts: passwordOpening.opened,
    namesRequester: true,
    warns: true,
  },
  password_closed: {
    to: 'administrators',
    when: 'an operator closed that opening',
    texts: passwordOpening.closed,
  },
  password_ended: {
    to: 'administrators',
    when: 'that opening ended by itself',
    texts: passwordOpening.ended,
  },
  provider_withdrawn: {
    to: 'administrators',
    when: 'the end of an offered identity provider was announced',
    texts: identityProvider.withdrawn,
    reads: ['provider'],
  },
  provider_ended: {
    to: 'administrators',
    when: 'the offer of an identity provider ended',
    texts: identityProvider.ended,
    reads: ['provider'],
  },
  provider_restored: {
    to: 'administrators',
    when: 'that withdrawal was taken back',
    texts: identityProvider.restored,
    reads: ['provider'],
  },
  invitation: {
    to: 'account',
    when: 'somebody was invited by mail, or asked for a new password before joining',
    texts: invitation.invited,
  },
  address_confirm: {
    to: 'account',
    when: 'an address was asked for an account, or an account joined by a token that was handed over',
    texts: address.confirm,
  },
  address_taken: {
    to: 'account',
    when: 'the same, of an address that another account has: it is told',
    texts: address.taken,
  },
  address_changed: {
    to: 'account',
    when: 'an address of the account was added, confirmed, removed or made the primary one; the removed one is told, too',
    texts: address.changed,
    warns: true,
  },
  password_reset: {
    to: 'account',
    when: 'somebody asked for a new password with the address of the account',
    texts: passwordReset.asked,
  },
  password_reset_done: {
    to: 'account',
    when: 'a new password was set with the link of such a mail',
    texts: passwordReset.done,
    warns: true,
  },
  password_changed: {
    to: 'account',
    when: 'the password was changed with the old one: in a session, or where it had expired or was a start password',
    texts: passwordReset.changed,
    warns: true,
  },
  second_factor_on: {
    to: 'account',
    when: 'a second factor was confirmed, or replaced by another',
    texts: secondFactor.on,
    warns: true,
  },
  second_factor_off: {
    to: 'account',
    when: 'the second factor was removed, by the person or by an administrator',
    texts: secondFactor.off,
    warns: true,
  },
  recovery_code_used: {
    to: 'account',
    when: 'a recovery code stood in for the second factor',
    texts: secondFactor.codeUsed,
    warns: true,
  },
  recovery_codes_made: {
    to: 'account',
    when: 'new recovery codes took the place of the old ones',
    texts: secondFactor.codesMade,
    warns: true,
  },
  provider_changed: {
    to: 'account',
    when: 'an identity at a provider was connected with the account, or taken from it',
    texts: identities.changed,
    warns: true,
  },
  notification: {
    to: 'account',
    when: 'something of one subject is to be told at once, behind a quiet moment',
    texts: notification.notified,
    reads: ['title'],
  },
  digest: {
    to: 'account',
    when: 'at 08:00 something waits that is told once a day',
    texts: notification.digest,
  },
  operator_added: {
    to: 'operators',
    when: 'an account was entered in the operator register, or its probation was ended by entering it again',
    texts: operators.operatorAdded,
    reads: ['account', 'slug', 'by'],
    warns: true,
  },
  operator_removed: {
    to: 'operators',
    when: 'an account was removed from the operator register; it is told too',
    texts: operators.operatorRemoved,
    reads: ['account', 'slug', 'by'],
    warns: true,
  },
  settings_replaced: {
    to: 'operators',
    when: "a decision of the installation's settings moved, by an operator or by the enforcing file",
    texts: operators.settingsReplaced,
    reads: ['switches', 'by'],
    warns: true,
  },
  backup_target_added: {
    to: 'operators',
    when: 'a backup target of the installation was added',
    texts: operators.targetAdded,
    reads: ['target', 'by'],
    warns: true,
  },
  backup_target_removed: {
    to: 'operators',
    when: 'a backup target of the installation was removed',
    texts: operators.targetRemoved,
    reads: ['target', 'by'],
    warns: true,
  },
  backup_damaged: {
    to: 'administrators',
    when: 'a backup of the workspace was read again, and could not be read or was not as it was written',
    texts: backups.damaged,
    reads: ['failure'],
  },
  backup_damaged_told: {
    to: 'operators',
    when: 'the same, of a backup at a target of the installation',
    texts: backups.damagedOf,
    reads: ['slug', 'failure'],
  },
  workspace_rewound: {
    to: 'administrators',
    when: 'the workspace was set back to a backup',
    texts: restores.rewound,
    reads: ['snapshot_at'],
  },
  workspace_rewind_undone: {
    to: 'administrators',
    when: 'that was taken back',
    texts: restores.rewindUndone,
  },
  workspace_restored: {
    to: 'administrators',
    when: 'the workspace came back from a backup, or was made from one',
    texts: restores.restored,
    reads: ['snapshot_at'],
  },
  workspace_copied: {
    to: 'administrators',
    when: 'a backup of the workspace became another workspace',
    texts: restores.copied,
    reads: ['snapshot_at'],
  },
  backups_failing: {
    to: 'administrators',
    when: 'three runs in a row of a schedule of the workspace had a backup that failed; again each week while they go on failing',
    texts: backupSchedules.failing,
    reads: ['failures'],
  },
  backups_failing_told: {
    to: 'operators',
    when: 'the same, of a schedule of the installation',
    texts: backupSchedules.failingOf,
    reads: ['failures'],
  },
  restriction_ended: {
    to: 'account',
    when: 'the restriction of the account is about to end',
    texts: objections.restrictionEnded,
  },
  ai_model_changed: {
    to: 'account',
    when: 'the workspace switched on an AI model, or what is told of its model changed; to everybody',
    texts: objections.aiModel,
    reads: ['model', 'processor', 'jurisdiction'],
  },
  retention_shortened: {
    to: 'administrators',
    when: 'somebody decided that the workspace keeps something for a shorter time; it takes effect some days later',
    texts: retention.shortened,
    reads: ['kind', 'days', 'next_days'],
    warns: true,
  },
  retention_stopped: {
    to: 'administrators',
    when: 'a rule of retention would have taken more than 1,000 rows and a fifth of what there is, and was stopped; to OWNERs alone',
    texts: retention.stopped,
    reads: ['kind', 'would_go'],
  },
  privacy_received: {
    to: 'account',
    when: 'a request about the personal data of the account came in',
    texts: privacy.received,
  },
  privacy_entered: {
    to: 'account',
    when: 'an administrator entered a request to erase the account; it can be withdrawn',
    texts: privacy.entered,
    warns: true,
  },
  privacy_erasing: {
    to: 'account',
    when: 'the erasure of the account was granted; until it begins it can be withdrawn',
    texts: privacy.erasing,
    warns: true,
  },
  privacy_extended: {
    to: 'account',
    when: 'the deadline of such a request was lengthened',
    texts: privacy.extended,
  },
  privacy_answered: {
    to: 'account',
    when: 'such a request was refused, or is done; it says where to complain',
    texts: privacyAnswers.answered,
  },
  privacy_packaged: {
    to: 'account',
    when: 'the package of the own data can be fetched',
    texts: privacyAnswers.packaged,
    warns: true,
  },
  privacy_arrived: {
    to: 'administrators',
    when: 'a request about personal data came in at the workspace',
    texts: privacyAnswers.arrived,
  },
  privacy_due: {
    to: 'administrators',
    when: 'such a request is open seven days and one day before its deadline, the day after it, and then each week',
    texts: privacyAnswers.due,
  },
} as const satisfies Readonly<Record<string, MailKind>>

export type MailName = keyof typeof mailKinds
export const mailNames = Object.keys(mailKinds) as [MailName, ...MailName[]]

export const kindOf = (name: MailName): MailKind => mailKinds[name]
