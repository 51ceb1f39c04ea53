/**
 * A workspace's jobs in the queue: those whose payload names it as `tenantId`.
 * Spec: decisions 4 (a purge leaves nothing in the queue).
 */

import { queueSchema } from '../../../kernel/database/queue-schema.ts'
import { asQueue } from '../../../kernel/database/roles.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'

/** The name of the queue in plans and certificates. */
export const jobsPlace = 'queued_jobs'

/** Removes at most `size` jobs, also running ones; answers their ids. Leaves the transaction in the queue's role. */
export async function removeJobs({ tx }: Ctx, tenantId: string, size: number): Promise<[string][]> {
  await tx.switch(asQueue)
  const gone = await tx.text<{ id: string }[]>(
    `with gone as (
       delete from ${queueSchema}.job where (name, id) in (
         select name, id from ${queueSchema}.job where data ->> 'tenantId' = $1 order by id limit $2)
       returning id
     )
     select id from gone order by id`,
    [tenantId, size],
  )
  return gone.map(({ id }) => [id])
}

/** How many jobs name the workspace. Leaves the transaction in the queue's role. */
export async function countJobs({ tx }: Ctx, tenantId: string): Promise<number> {
  await tx.switch(asQueue)
  const [row] = await tx.text<{ count: number }[]>(
    `select count(*)::int as count from ${queueSchema}.job where data ->> 'tenantId' = $1`,
    [tenantId],
  )
  return row?.count ?? 0
}
