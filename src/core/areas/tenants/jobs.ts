/**
 * Jobs of workspaces: the purge, and the end of a password opening.
 * Spec: Workspace states, row 5; Password opening, row 3.
 */
import { z } from 'zod'
import { defineJob, type RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { newId } from '../../kernel/values/id.ts'
import { tellAdministrators } from '../mail/jobs.ts'
import { findDuePurges, pursuePurge } from './purge/purge.ts'

/**
 * The hard delete of one workspace. `:delete` queues it for the deadline, and it queues itself
 * while there is more to do. After the deadline, `purgeDue` tries again until the deadline has
 * settled.
 */
export const purgeTenant = defineJob({
  name: 'purge_tenant',
  payload: z.object({ tenantId: z.guid() }),
  retryLimit: 5,
  async run(installation, { tenantId }) {
    const outcome = await pursuePurge(installation, tenantId)
    if (outcome !== 'more') return
    await installation.transaction({ kind: 'SYSTEM', job: 'purge_tenant' }, {}, (ctx) =>
      ctx.enqueue(purgeTenant, { tenantId }),
    )
  },
})

/** Tries each purge that is due or under way every minute: one that was killed, held or out of time continues. */
export const purgeDue = defineJob({
  name: 'purge_due',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  cron: '* * * * *',
  async run(installation) {
    // A purge that fails must not stop the others; the queue gets the first failure.
    const failures: unknown[] = []
    for (const { id } of await findDuePurges(installation))
      await pursuePurge(installation, id).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  },
})

/** Removes an ended opening, so that a clock that falls back cannot reopen it, and mails the administrators. */
export const endPasswordOpening = defineJob({
  name: 'end_password_opening',
  payload: z.object({ tenantId: z.guid() }),
  retryLimit: 5,
  async run(installation, { tenantId }) {
    await installation.transaction({ kind: 'SYSTEM', job: 'end_password_opening' }, {}, async (ctx) => {
      const [ended] = await ctx.tx<{ until: string }[]>`
        delete from password_opening where tenant_id = ${tenantId} and until <= now() returning until`
      if (!ended) return
      await ctx.enqueue(tellAdministrators, { tenantId, noticeId: newId(), name: 'password_ended', at: ended.until })
    })
  },
})

/** The jobs of this area. */
export const tenantsJobs: readonly RunnableJob[] = [purgeTenant, purgeDue, endPasswordOpening]
