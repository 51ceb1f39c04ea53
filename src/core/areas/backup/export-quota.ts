/** How many archives of a workspace are made at once. Spec: Quota semantics. */
import type { QuotaCounts } from '../settings/quotas.ts'

export const exportQuotas = {
  export_jobs: {
    /** Exports, backups, verifications and restores that are queued or running. */
    async used({ tx }, tenantId) {
      const [row] = await tx<{ count: number }[]>`
        select count(*)::int as count from job
        where tenant_id = ${tenantId} and kind in ('TENANT_EXPORT', 'BACKUP', 'BACKUP_VERIFY', 'RESTORE') and state in ('QUEUED', 'RUNNING')`
      return row?.count ?? 0
    },
  },
} satisfies Partial<QuotaCounts>
