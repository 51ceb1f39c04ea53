import { z } from 'zod'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'

/** Ends a link that has expired, so that no clock that falls back lets it serve again (docs/decisions/0482). */
export const endConfirmation = defineJob({
  name: 'end_address_confirmation',
  payload: z.object({ tenantId: z.guid(), confirmationId: z.guid() }),
  retryLimit: 5,
  async run(installation, { tenantId, confirmationId }) {
    await installation.transaction(
      { kind: 'SYSTEM', job: 'end_address_confirmation' },
      { tenantId },
      async ({ tx }) => {
        await tx`
        update address_confirmation set used_at = now()
        where tenant_id = ${tenantId} and id = ${confirmationId} and used_at is null and expires_at <= now()`
      },
    )
  },
})
