/** Jobs of the workspaces' lives: the purge, and the end of a password opening. Spec: Workspace states, row 5; Password opening, row 3. */
import { z } from 'zod'
import { defineJob, type RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { newId } from '../../kernel/values/id.ts'
import { tellAdministrators } from '../mail/jobs.ts'
import { findDuePurges, pursuePurge } from './purge/purge.ts'

/**
 * The hard delete of one workspace. Queued for its deadline by `:delete`, and by itself
 * while there is more to do; between the deadline and the moment it has settled
 * `purgeDue` looks on.
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

/** Looks every minute at each purge that is due or under way: what was killed, held or out of time goes on. */
export const purgeDue = defineJob({
  name: 'purge_due',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  cron: '* * * * *',
  async run(installation) {
    // One that fails must not keep the others waiting; the queue is told of the first failure.
    const failures: unknown[] = []
    for (const { id } of await findDuePurges(installation))
      await pursuePurge(installation, id).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  },
})

/** Removes an opening that has ended, so that a clock that falls back does not reopen it, and tells the administrators. */
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
