/**
 * Archives of purged workspaces: at the installation's targets they go SVC_BACKUP_AFTER_PURGE_DAYS after the purge.
 *
 *    purged ──days──▶ the workspace's folder is removed, target by target ──all of them obeyed──▶ the row goes, the journal says so
 *
 * With the folder go its exports, its backups and the bytes of its files. A target that is away keeps the row, so it is asked again.
 * A workspace that has come back under its id keeps its folder. Archives at targets of its own are its people's affair.
 * Spec: Keeping, 1 (Clocks) and 3 (Purge).
 */

import { Problem } from '../../contract/problem.ts'
import { installationScope } from '../../contract/vocabulary.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { firstId } from '../../kernel/transaction/page.ts'
import type { SystemActor } from '../../kernel/values/actor.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { folderOf } from './archive-format.ts'
import { withStore } from './open-store.ts'
import { StoreFailure } from './store.ts'
import { targetServing } from './target.ts'

/** Workspaces of one run; the next one goes on. */
const most = 20

interface Departed {
  readonly id: string
  readonly slug: string
  readonly is_back: boolean
}

export async function removeDeparted(installation: Installation, worker: SystemActor, trusted: Date): Promise<void> {
  const { backupAfterPurgeDays } = installation.config
  const due = await installation.transaction(
    worker,
    { readOnly: true },
    ({ tx }) => tx.last<Departed[]>`
      select d.workspace_id as id, d.workspace_slug as slug, t.id is not null as is_back
      from departed_archive d left join tenant t on t.id = d.workspace_id
      where d.purged_at < ${trusted.toISOString()}::timestamptz - make_interval(days => ${backupAfterPurgeDays})
      order by d.purged_at, d.workspace_id limit ${most}`,
  )
  for (const departed of due) await removeArchives(installation, worker, departed)
}

async function removeArchives(installation: Installation, worker: SystemActor, departed: Departed): Promise<void> {
  const { id, slug, is_back } = departed
  const targets = is_back ? [] : await readTargets(installation, worker)
  for (const targetId of targets) if (!(await obeys(installation, worker, targetId, id))) return
  failpoint('departed.removed')
  await installation.transaction(worker, {}, async (ctx) => {
    const gone = await ctx.tx`delete from departed_archive where workspace_id = ${id}`
    if (gone.count > 0 && !is_back)
      await ctx.journal('tenant.backups_removed', { id, slug }, { params: { targets: targets.length } })
  })
  failpoint('departed.recorded')
}

async function readTargets(installation: Installation, worker: SystemActor): Promise<string[]> {
  const targets = await installation.transaction(
    worker,
    { readOnly: true },
    ({ tx }) => tx.last<{ id: string }[]>`
      select id from backup_target where tenant_id = ${installationScope} and id > ${firstId}::uuid order by id`,
  )
  return targets.map(({ id }) => id)
}

/** Whether nothing of the workspace is at the target any more. */
async function obeys(
  installation: Installation,
  worker: SystemActor,
  targetId: string,
  tenantId: string,
): Promise<boolean> {
  try {
    const target = await targetServing(installation, worker, installationScope, targetId)
    if (target) await withStore(installation, target, (store) => store.remove(folderOf(tenantId)))
    return true
  } catch (error) {
    // Away, full of faults, or a key is missing: it is asked again in a minute.
    if (error instanceof StoreFailure || (error instanceof Problem && error.code === 'secret.unavailable')) return false
    throw error
  }
}
