/** Jobs of the auth area: expiry and clean-up. Spec: decisions 2. */
import { z } from 'zod'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import { sweep } from '../../../kernel/transaction/sweep.ts'
import { sweeps } from './sweeps.ts'

/** Removes an invitation that nobody redeemed in time, and records that in the trail. */
export const endInvitation = defineJob({
  name: 'end_invitation',
  payload: z.object({ tenantId: z.guid(), invitationId: z.guid() }),
  retryLimit: 5,
  async run(installation, { tenantId, invitationId }) {
    await installation.transaction({ kind: 'SYSTEM', job: 'end_invitation' }, { tenantId }, async (ctx) => {
      // The database's clock decides, not the queue's: a job that runs early leaves the invitation valid.
      const [ended] = await ctx.tx<{ account_id: string }[]>`
        delete from invitation where tenant_id = ${tenantId} and id = ${invitationId} and used_at is null and expires_at <= now() returning account_id`
      if (!ended) return
      await ctx.record('identity.invitation.expired', ended)
    })
  },
})

const sweeper = { kind: 'SYSTEM', job: 'sweep_expired' } as const

/**
 * Removes what has expired: spent and expired credentials and proofs, old failures, idempotency records, blocked slugs.
 * Where another daemon is at it, nothing is left to do.
 */
export const sweepExpired = defineJob({
  name: 'sweep_expired',
  payload: z.object({}).nullish(),
  retryLimit: 1,
  cron: '*/5 * * * *',
  run: (installation) => sweep(installation, sweeper, sweeps),
})
