/**
 * Asking for a reseal: one job for each workspace and one for the installation. Spec: Admin: encryption keyring,
 * `:reseal`.
 */

import type { encryptionOperations as ops } from '../../contract/keyring/operations.ts'
import type { Answer } from '../../contract/operation.ts'
import { installationScope } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { resealValues } from './jobs.ts'
import { findActiveKey } from './keyring-use.ts'

/**
 * Queues a job for every scope that has none queued or running, and answers how many it queued. A
 * running job is left alone: its row is locked while it decides that it has finished (reseal.ts),
 * so it either sees the key that is current now, or is queued again here.
 */
export async function resealEncryption(ctx: Ctx): Promise<Answer<typeof ops.resealEncryption>> {
  // Locks the workspaces' rows, so that no purge of a workspace begins before the job exists for the purge to remove.
  const workspaces = await ctx.tx`
    insert into reseal (tenant_id)
    select id as tenant_id from tenant where purge_started_at is null order by id for key share
    on conflict (tenant_id) do update
    set asked_at = excluded.asked_at, started_at = null, finished_at = null, target_key_id = null, failed = 0
    where reseal.finished_at is not null`
  const own = await ctx.tx`
    insert into reseal (tenant_id) values (${installationScope})
    on conflict (tenant_id) do update
    set asked_at = excluded.asked_at, started_at = null, finished_at = null, target_key_id = null, failed = 0
    where reseal.finished_at is not null`
  const queued = workspaces.count + own.count
  if (queued === 0) return { queued }

  await ctx.enqueue(resealValues, {})
  await ctx.journal('encryption.reseal_requested', null, {
    params: { key_id: (await findActiveKey(ctx.tx)) ?? ctx.keyring.current, queued },
  })
  return { queued }
}
