/** Jobs of the auth area: expiry and clean-up. Spec: decisions 2. */
import { z } from 'zod'
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'

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

/** Rows of a table that one transaction removes, so that no transaction lasts long. */
const batch = 1000

/**
 * Removes what has expired: spent and expired credentials and proofs, old failures, idempotency records, blocked slugs.
 * Where another daemon is at it, nothing is left to do.
 */
export const sweepExpired = defineJob({
  name: 'sweep_expired',
  payload: z.object({}).nullish(),
  retryLimit: 1,
  cron: '17 * * * *',
  async run(installation) {
    const sweeper = { kind: 'SYSTEM', job: 'sweep_expired' } as const
    for (let removed = batch; removed >= batch; ) {
      removed = await installation.transaction(sweeper, {}, async ({ tx }) => {
        // Two batches at once delete the same rows in different orders, and each waits for the other.
        const [turn] = await tx<
          { is_mine: boolean }[]
        >`select pg_try_advisory_xact_lock(${lockClasses.sweep}, 0) as is_mine`
        if (!turn?.is_mine) return 0
        // A used refresh token is kept until it expires: its second use reveals a stolen one.
        const counts = await Promise.all([
          tx`delete from credential where (tenant_id, id) in (select tenant_id, id from credential where expires_at < now() - interval '1 day' limit ${batch})`,
          tx`delete from step_up where (tenant_id, id) in (select tenant_id, id from step_up where expires_at < now() - interval '1 day' limit ${batch})`,
          // Enrolments that were not confirmed within 15 minutes; a statement below removes their sealed secrets.
          tx`delete from second_factor where (tenant_id, id) in (select tenant_id, id from second_factor where confirmed_at is null and created_at < now() - interval '1 hour' limit ${batch})`,
          tx`delete from failed_attempt where (tenant_id, id) in (select tenant_id, id from failed_attempt where at < now() - interval '1 day' limit ${batch})`,
          tx`delete from failed_sign_in where (tenant_id, id) in (select tenant_id, id from failed_sign_in where at < now() - interval '1 day' limit ${batch})`,
          tx`delete from password_reset where (tenant_id, id) in (select tenant_id, id from password_reset where expires_at < now() - interval '1 day' limit ${batch})`,
          tx`delete from sign_in_flow where (tenant_id, id) in (select tenant_id, id from sign_in_flow where expires_at < now() limit ${batch})`,
          // Their tokens are removed first: a session without tokens cannot be used any more.
          tx`
            delete from session where (tenant_id, id) in (
              select s.tenant_id, s.id from session s where s.created_at < now() - interval '1 day'
                and not exists (select 1 from credential c where c.tenant_id = s.tenant_id and c.session_id = s.id) limit ${batch})`,
          tx`delete from invitation where (tenant_id, id) in (select tenant_id, id from invitation where used_at is not null and expires_at < now() limit ${batch})`,
          // The record before its sealed answer, as in a call that uses an expired key again.
          tx`delete from idempotency_record where created_at < now() - interval '24 hours'`,
          tx`
            delete from sealed_value s where s.kind = 'idempotency.answer'
            and not exists (select from idempotency_record r where r.tenant_id = s.tenant_id and r.id = s.owner_id)`,
          tx`
            delete from sealed_value s where s.kind = 'mfa.totp'
            and not exists (select from second_factor f where f.tenant_id = s.tenant_id and f.id = s.owner_id)`,
          tx`delete from blocked_slug where until < now()`,
        ])
        return Math.max(...counts.slice(0, 9).map(({ count }) => count))
      })
    }
  },
})
