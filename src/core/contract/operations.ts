/** The register of every operation served: each area's contract, spread into one object. */
import { aiProviderOperations } from './ai/offered.ts'
import { aiOperations } from './ai/operations.ts'
import { auditOperations, signInExplanationOperations } from './audit/operations.ts'
import { invitationOperations, passwordOperations, sessionOperations, setUpOperations } from './auth/operations.ts'
import { provingOperations } from './auth/proving.ts'
import { serviceAccountOperations, tokenOperations } from './auth/tokens.ts'
import { workspaceBackupOperations } from './backup/backups.ts'
import { backupOperations } from './backup/operations.ts'
import { restoreOperations } from './backup/restores.ts'
import { backupScheduleOperations } from './backup/schedules.ts'
import { commentOperations } from './comments/operations.ts'
import { containerOperations } from './containers/operations.ts'
import { eventTypeOperations, triggerOperations } from './events/operations.ts'
import { groupOperations } from './groups/operations.ts'
import { accountOperations } from './identity/accounts.ts'
import { addressOperations, confirmationOperations } from './identity/addresses.ts'
import { managedOperations } from './identity/managed.ts'
import { emergencyNoticeOperations } from './identity/notices.ts'
import { identityOperations } from './identity/operations.ts'
import { preferenceOperations } from './identity/preferences.ts'
import { itemArchiveOperations } from './items/archive.ts'
import { itemAutoAssignOperations } from './items/auto-assign.ts'
import { itemBulkOperations } from './items/bulk.ts'
import { itemCoverOperations } from './items/cover.ts'
import { itemDateOperations } from './items/dates.ts'
import { itemOperations } from './items/operations.ts'
import { itemPeopleOperations } from './items/people.ts'
import { itemTrashOperations } from './items/trash.ts'
import { itemTreeOperations } from './items/tree.ts'
import { viewOperations } from './items/views.ts'
import { jobOperations } from './jobs/operations.ts'
import { journalOperations } from './journal/operations.ts'
import { encryptionOperations } from './keyring/operations.ts'
import { mailOperations } from './mail/operations.ts'
import { attachmentOperations } from './media/attachments.ts'
import { mediaOperations } from './media/operations.ts'
import { membershipOperations } from './memberships/operations.ts'
import { metaOperations } from './meta/operations.ts'
import { serverOperations, workspaceFactOperations } from './meta/server.ts'
import { notificationOperations } from './notifications/operations.ts'
import { noticeOperations } from './operators/notice.ts'
import { operatorOperations } from './operators/operations.ts'
import { overviewOperations } from './overview/operations.ts'
import { aiObjectionOperations } from './privacy/ai-objection.ts'
import { consentOperations } from './privacy/consents.ts'
import { overdueOperations } from './privacy/overdue.ts'
import { privacyPackageOperations } from './privacy/packages.ts'
import { erasurePreviewOperations } from './privacy/preview.ts'
import { privacyRequestOperations } from './privacy/requests.ts'
import { restrictionOperations } from './privacy/restriction.ts'
import { identityProviderOperations, withdrawalPlanOperations } from './providers/offered.ts'
import { onlyProviderOperations, providerOperations, providerSignInOperations } from './providers/operations.ts'
import { purgeOperations, retentionOperations } from './retention/operations.ts'
import { ruleOperations } from './retention/rules.ts'
import { searchOperations } from './search/operations.ts'
import { secondFactorOperations } from './second-factor/operations.ts'
import { settingsOperations } from './settings/operations.ts'
import { statisticsOperations } from './statistics/operations.ts'
import { customFieldOperations } from './structure/custom-fields.ts'
import { bucketOperations, labelOperations } from './structure/operations.ts'
import { templateOperations } from './templates/operations.ts'
import { tenantOperations } from './tenants/operations.ts'
import { webhookOperations } from './webhooks/operations.ts'
import { deliveryOperations } from './webhooks/operator-view.ts'

export const operations = {
  ...metaOperations,
  ...serverOperations,
  ...workspaceFactOperations,
  ...eventTypeOperations,
  ...setUpOperations,
  ...invitationOperations,
  ...sessionOperations,
  ...provingOperations,
  ...passwordOperations,
  ...secondFactorOperations,
  ...tokenOperations,
  ...serviceAccountOperations,
  ...providerSignInOperations,
  ...providerOperations,
  ...onlyProviderOperations,
  ...identityOperations,
  ...accountOperations,
  ...preferenceOperations,
  ...addressOperations,
  ...confirmationOperations,
  ...managedOperations,
  ...emergencyNoticeOperations,
  ...notificationOperations,
  ...consentOperations,
  ...aiObjectionOperations,
  ...restrictionOperations,
  ...privacyRequestOperations,
  ...erasurePreviewOperations,
  ...privacyPackageOperations,
  ...overdueOperations,
  ...membershipOperations,
  ...groupOperations,
  ...containerOperations,
  ...bucketOperations,
  ...labelOperations,
  ...customFieldOperations,
  ...itemOperations,
  ...itemDateOperations,
  ...itemCoverOperations,
  ...itemPeopleOperations,
  ...viewOperations,
  ...itemArchiveOperations,
  ...itemBulkOperations,
  ...itemTreeOperations,
  ...itemAutoAssignOperations,
  ...itemTrashOperations,
  ...commentOperations,
  ...templateOperations,
  ...searchOperations,
  ...mediaOperations,
  ...attachmentOperations,
  ...triggerOperations,
  ...tenantOperations,
  ...retentionOperations,
  ...purgeOperations,
  ...ruleOperations,
  ...operatorOperations,
  ...noticeOperations,
  ...identityProviderOperations,
  ...withdrawalPlanOperations,
  ...settingsOperations,
  ...overviewOperations,
  ...statisticsOperations,
  ...journalOperations,
  ...mailOperations,
  ...aiProviderOperations,
  ...aiOperations,
  ...encryptionOperations,
  ...backupOperations,
  ...workspaceBackupOperations,
  ...backupScheduleOperations,
  ...restoreOperations,
  ...auditOperations,
  ...signInExplanationOperations,
  ...jobOperations,
  ...webhookOperations,
  ...deliveryOperations,
}

export type Operations = typeof operations
export type OperationId = keyof Operations
