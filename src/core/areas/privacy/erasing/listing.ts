/**
 * `tenants/<id>/erasures.json` at the workspace's backup targets, and at those of the installation: whoever reads an archive there
 * erases again what it has. Rewritten whole with each erasure; a target that is away is asked again.
 * Spec: Keeping, 1, The ledger; docs/decisions/0041.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '../../../contract/problem.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { Actor } from '../../../kernel/values/actor.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { makeFolder } from '../../../kernel/values/folder.ts'
import { newId } from '../../../kernel/values/id.ts'
import { folderOf } from '../../backup/archive-format.ts'
import { withStore } from '../../backup/open-store.ts'
import { StoreFailure } from '../../backup/store.ts'
import { targetServing } from '../../backup/target.ts'
import { erasureListName, readErasures, writeErasureList } from '../../erasure/reading.ts'
import type { Named } from './sweeping.ts'

/** Writes it at every target; answers whether all obeyed. */
export async function listErasure(installation: Installation, actor: Actor, { tenantId, id }: Named): Promise<boolean> {
  const erasures = await readErasures(installation, tenantId, { actor })
  const text = writeErasureList(installation.keyring, tenantId, erasures)
  let isObeyed = true
  for (const targetId of await readTargets(installation, actor, tenantId))
    isObeyed = (await put(installation, actor, tenantId, targetId, text)) && isObeyed
  failpoint('erasure.listed')
  if (isObeyed)
    await installation.transaction(
      actor,
      { tenantId },
      ({ tx }) => tx`update erasure set listed_at = now() where tenant_id = ${tenantId} and id = ${id}`,
    )
  return isObeyed
}

async function readTargets(installation: Installation, actor: Actor, tenantId: string): Promise<readonly string[]> {
  const shared = await installation.transaction(
    actor,
    { readOnly: true },
    ({ tx }) =>
      tx.last<{ id: string }[]>`select id from backup_target where tenant_id = ${installationScope} order by id`,
  )
  const own = await installation.transaction(
    actor,
    { tenantId, readOnly: true },
    ({ tx }) => tx.last<{ id: string }[]>`select id from backup_target where tenant_id = ${tenantId} order by id`,
  )
  return [...shared, ...own].map(({ id }) => id)
}

async function put(
  installation: Installation,
  actor: Actor,
  tenantId: string,
  targetId: string,
  text: string,
): Promise<boolean> {
  const spool = join(installation.config.dataDir, 'spool')
  makeFolder(spool, 0o700)
  const folder = await mkdtemp(join(spool, 'erasures-'))
  try {
    const file = join(folder, erasureListName)
    await writeFile(file, text, { mode: 0o600 })
    const target = await targetServing(installation, actor, tenantId, targetId)
    if (target)
      await withStore(installation, target, (store) =>
        store.put(
          `${folderOf(tenantId)}/${erasureListName}`,
          file,
          `${folderOf(tenantId)}/${erasureListName}-${newId()}`,
        ),
      )
    return true
  } catch (error) {
    if (error instanceof StoreFailure || (error instanceof Problem && error.code === 'secret.unavailable')) return false
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
