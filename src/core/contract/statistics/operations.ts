/** How much a workspace has, and how it grew: counts and sizes, never content. Spec: ours; decision 0104. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { int64, moment, uuid } from '../vocabulary.ts'

const TenantStatistics = z
  .object({
    tenant_id: uuid,
    counted_at: moment,
    days: z.int().describe('how many days of UTC `new_per_day` tells of, the running one last'),
    entities: z.array(
      z.object({
        entity: z.string().describe('as an export names it'),
        rows: int64,
        bytes: int64.describe('of the rows as they are stored, without indexes'),
        new_per_day: z
          .array(z.int())
          .nullable()
          .describe('by when a row that is still there came; null where no row says'),
      }),
    ),
  })
  .meta({ id: 'TenantStatistics' })
export type TenantStatistics = z.output<typeof TenantStatistics>

export const statisticsOperations = defineOperations('admin', {
  getTenantStatistics: {
    method: 'GET',
    path: '/admin/tenants/{tenantId}/statistics',
    summary: 'How many rows of what a workspace has, how large they are, and how many came on each of the last days',
    spec: 'ours',
    params: z.strictObject({ tenantId: uuid }),
    success: { status: 200, answer: TenantStatistics },
    needs: { caller: 'operator' },
    recovery: 'allowed',
    assumed: ['an operation of ours beside the admin ones that the contract names; it answers numbers alone'],
  },
})
