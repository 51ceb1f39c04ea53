/** The rules of this area, by operation. */

import type { setUpOperations } from '../../contract/auth/operations.ts'
import type { workspaceFactOperations } from '../../contract/meta/server.ts'
import type { overviewOperations } from '../../contract/overview/operations.ts'
import type { purgeOperations } from '../../contract/retention/operations.ts'
import type { statisticsOperations } from '../../contract/statistics/operations.ts'
import type { tenantOperations } from '../../contract/tenants/operations.ts'
import { asking, type HandlersOf, withWork } from '../../kernel/request/handler.ts'
import { readLocalisation } from '../settings/settings.ts'
import { cancelTenantDeletion, deleteTenant } from './deletion/deletion.ts'
import { getDeletionPlan } from './deletion/deletion-plan.ts'
import { readArchivedHolds, replaceLegalHolds } from './deletion/legal-holds.ts'
import { exportTenant } from './export.ts'
import { getWorkspace } from './facts.ts'
import { getTenant, listTenants } from './list.ts'
import { getOverview } from './overview.ts'
import { updateTenant } from './particulars.ts'
import { closePassword, openPassword } from './password-opening.ts'
import { provisionTenant } from './provision.ts'
import { getPurgeCertificate, listPurgeCertificates } from './purge/purge-certificate.ts'
import { lookIntoBucket, verifyPurgeCertificate } from './purge/purge-verification.ts'
import { changeTenantQuotas } from './quotas.ts'
import { hashForSetUp, setUpInstallation } from './set-up.ts'
import { countAside, getTenantStatistics } from './statistics.ts'
import { resumeTenant, suspendTenant } from './suspension.ts'

export const tenantsHandlers = {
  getOverview,
  getTenantStatistics: withWork(countAside, getTenantStatistics),
  getWorkspace,
  listTenants,
  provisionTenant: asking(readLocalisation, provisionTenant),
  getTenant,
  updateTenant,
  suspendTenant,
  resumeTenant,
  deleteTenant,
  cancelTenantDeletion,
  openPassword,
  closePassword,
  replaceLegalHolds: withWork(readArchivedHolds, replaceLegalHolds),
  exportTenant,
  changeTenantQuotas,
  setUpInstallation: withWork(hashForSetUp, setUpInstallation),
  getDeletionPlan,
  listPurgeCertificates,
  getPurgeCertificate,
  verifyPurgeCertificate: withWork(lookIntoBucket, verifyPurgeCertificate),
} satisfies HandlersOf<
  typeof overviewOperations &
    typeof statisticsOperations &
    typeof tenantOperations &
    typeof setUpOperations &
    typeof purgeOperations &
    typeof workspaceFactOperations
>
