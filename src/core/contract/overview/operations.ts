/** Counts and states of the installation, never rows. Spec: Admin: installation settings, operators, overview, journal. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'

const Overview = z
  .object({
    mode: z.enum(['multi', 'single']),
    tenants: z.object({ ACTIVE: z.int(), SUSPENDED: z.int(), PENDING_DELETION: z.int() }),
    accounts: z.int(),
  })
  .meta({ id: 'Overview' })

export const overviewOperations = defineOperations('admin', {
  getOverview: {
    method: 'GET',
    path: '/admin/overview',
    summary: 'Workspaces by state, and the accounts they hold between them',
    spec: 'Admin: overview',
    success: { status: 200, answer: Overview },
    needs: { caller: 'operator' },
    recovery: 'allowed',
  },
})
