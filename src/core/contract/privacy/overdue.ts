/** How many requests about personal data are late, for operators: counts alone. Spec: Keeping, 2. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { listOf, moment, uuid } from '../vocabulary.ts'

const OverdueRequests = z
  .object({
    tenant: z.object({ id: uuid, slug: z.string() }).describe('the workspace'),
    overdue: z.int().min(1).describe('requests whose deadline by law is past, and that nobody has answered'),
    oldest_due_at: moment.describe('the deadline that is past for longest'),
  })
  .meta({ id: 'OverduePrivacyRequests' })
export type OverdueRequests = z.output<typeof OverdueRequests>

export const overdueOperations = defineOperations('admin', {
  listOverdueRequests: {
    method: 'GET',
    path: '/admin/privacy/overdue',
    summary: 'Workspaces with requests about personal data that are overdue, the longest overdue first',
    spec: 'Keeping, 2: operators see counts of overdue ones',
    success: { status: 200, answer: listOf(OverdueRequests) },
    needs: { caller: 'operator' },
    recovery: 'allowed',
    assumed: ['at most 1,000 workspaces; what is asked, and by whom, is the affair of the workspace'],
  },
})
