/** The register of every operation served: each area's contract, spread into one object. */
import { aiProviderOperations } from './admin/ai-providers/contract.ts'
import { deliveryOperations } from './admin/deliveries/contract.ts'
import { encryptionOperations } from './admin/encryption/contract.ts'
import { identityProviderOperations, withdrawalPlanOperations } from './admin/identity-providers/contract.ts'
import { journalOperations } from './admin/journal/contract.ts'
import { operatorOperations } from './admin/operators/contract.ts'
import { overviewOperations } from './admin/overview/contract.ts'
import { settingsOperations } from './admin/settings/contract.ts'
import { statisticsOperations } from './admin/statistics/contract.ts'
import { tenantOperations } from './admin/tenants/contract.ts'
import { aiOperations } from './ai/contract.ts'
import { auditOperations } from './audit/contract.ts'
import { invitationOperations, passwordOperations, sessionOperations, setUpOperations } from './auth/contract.ts'
import { providerOperations, providerSignInOperations } from './auth/providers/contract.ts'
import { secondFactorOperations } from './auth/second-factor/contract.ts'
import { serviceAccountOperations, tokenOperations } from './auth/token-contract.ts'
import { backupOperations } from './backup/contract.ts'
import { containerOperations } from './containers/contract.ts'
import { identityOperations } from './identity/contract.ts'
import { itemOperations } from './items/contract.ts'
import { jobOperations } from './job-area/contract.ts'
import { membershipOperations } from './memberships/contract.ts'
import { metaOperations } from './meta/contract.ts'
import { retentionOperations } from './retention/contract.ts'
import { bucketOperations, labelOperations } from './structure/contract.ts'
import { customFieldOperations } from './structure/custom-fields/contract.ts'
import { eventTypeOperations, triggerOperations } from './triggers/contract.ts'
import { webhookOperations } from './webhooks/contract.ts'

export const operations = {
  ...metaOperations,
  ...eventTypeOperations,
  ...setUpOperations,
  ...invitationOperations,
  ...sessionOperations,
  ...passwordOperations,
  ...secondFactorOperations,
  ...tokenOperations,
  ...serviceAccountOperations,
  ...providerSignInOperations,
  ...providerOperations,
  ...identityOperations,
  ...membershipOperations,
  ...containerOperations,
  ...bucketOperations,
  ...labelOperations,
  ...customFieldOperations,
  ...itemOperations,
  ...triggerOperations,
  ...tenantOperations,
  ...retentionOperations,
  ...operatorOperations,
  ...identityProviderOperations,
  ...withdrawalPlanOperations,
  ...settingsOperations,
  ...overviewOperations,
  ...statisticsOperations,
  ...journalOperations,
  ...aiProviderOperations,
  ...aiOperations,
  ...encryptionOperations,
  ...backupOperations,
  ...auditOperations,
  ...jobOperations,
  ...webhookOperations,
  ...deliveryOperations,
}

export type Operations = typeof operations
export type OperationId = keyof Operations
