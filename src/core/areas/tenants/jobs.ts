/**
 * Jobs of workspaces: the purge, and the end of a password opening.
 * Spec: Workspace states, row 5; Password opening, row 3.
 */
import { z } from 'zod'
import { Problem } from '../../contract/problem.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
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
    const ids = (await findDuePurges(installation)).map(({ id }) => id)
    await forEach(ids, (id) => pursuePurge(installation, id))
  },
})

/** Removes an ended opening, so that a clock that falls back cannot reopen it, and mails the administrators. */
export const endPasswordOpening = defineJob({
  name: 'end_password_opening',
  payload: z.object({ tenantId: z.guid() }),
  retryLimit: 5,
  run: (installation, { tenantId }) => endOpening(installation, tenantId),
})

const openingsATurn = 1_000

/** Ends the openings whose own job did not, because it failed too often. */
export const endForgottenOpenings = defineJob({
  name: 'end_forgotten_openings',
  payload: z.object({}).nullish(),
  retryLimit: 1,
  cron: '47 * * * *',
  async run(installation) {
    const actor = { kind: 'SYSTEM', job: 'end_forgotten_openings' } as const
    const forgotten = await installation.transaction(
      actor,
      { readOnly: true },
      ({ tx }) => tx<{ tenant_id: string }[]>`
        select tenant_id from password_opening where until < now() - interval '1 day' order by tenant_id limit ${openingsATurn}`,
    )
    const ids = forgotten.map(({ tenant_id }) => tenant_id)
    await forEach(ids, (id) => endOpening(installation, id))
  },
})

async function endOpening(installation: Installation, tenantId: string): Promise<void> {
  await installation.transaction({ kind: 'SYSTEM', job: 'end_password_opening' }, {}, async (ctx) => {
    const [ended] = await ctx.tx<{ until: string }[]>`
      delete from password_opening where tenant_id = ${tenantId} and until <= now() returning until`
    if (!ended) return
    await ctx.enqueue(tellAdministrators, { tenantId, noticeId: newId(), name: 'password_ended', at: ended.until })
  })
}

/** A workspace that fails does not stop the others. Throws the only failure, or the first one with the number of all. */
async function forEach(tenantIds: readonly string[], work: (tenantId: string) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = []
  for (const id of tenantIds) await work(id).catch((error: unknown) => failures.push(error))
  const [first] = failures
  // A refusal is thrown as it is, since the worker looks at its code; behind a closed gate all of them are alike.
  if (failures.length === 1 || first instanceof Problem) throw first
  if (failures.length > 1)
    throw new Error(`${failures.length} of ${tenantIds.length} workspaces failed`, { cause: first })
}

/** The jobs of this area. */
export const tenantsJobs: readonly RunnableJob[] = [purgeTenant, purgeDue, endPasswordOpening, endForgottenOpenings]
