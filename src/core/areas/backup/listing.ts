/** The archives at a target. Spec: decisions 4, A backup target. */

import type { backupOperations as ops, StoredArchive } from '../../contract/backup/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { Problem } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { type Actor, actsForInstallation, isAccount } from '../../kernel/values/actor.ts'
import { withTimeout } from '../../kernel/values/deadline.ts'
import { encryptedEnd, everyFolder, folderOf, isOfArchives, manifestName, readArchivePath } from './archive-format.ts'
import { readManifest } from './archive-reader.ts'
import { withStore } from './open-store.ts'
import { type Store, StoreFailure, storeTimeout } from './store.ts'
import { ownTarget } from './target.ts'

const most = 1000
/** The bounds of a listing, in files and in time: the target is not ours, and may answer without end. */
const mostFiles = 100_000
const listingMs = 60_000

type Found = { size: number; complete: boolean; isEncrypted: boolean }

/** Reads the target with no transaction open. Refuses not_found, backup.target_failed, secret.unavailable. */
export async function readArchives(
  installation: Installation,
  actor: Actor,
  { targetId }: Received<typeof ops.listArchives>,
): Promise<StoredArchive[]> {
  const target = await ownTarget(installation, actor, targetId)
  const folder = isAccount(actor) && !actsForInstallation(actor) ? folderOf(actor.tenantId) : everyFolder
  try {
    return await withStore(installation, target, (store) =>
      withTimeout(listingMs, backupsIn(store, folder), storeTimeout),
    )
  } catch (error) {
    throw error instanceof StoreFailure ? new Problem('backup.target_failed', { reason: error.reason }) : error
  }
}

export async function listArchives(
  _ctx: Ctx,
  _received: Received<typeof ops.listArchives>,
  data: StoredArchive[],
): Promise<Answer<typeof ops.listArchives>> {
  return { data }
}

async function backupsIn(store: Store, folder: string): Promise<StoredArchive[]> {
  const found = new Map<string, Found>()
  const deadline = performance.now() + listingMs
  let files = 0
  for await (const { path, sizeBytes } of store.list(folder, isOfArchives)) {
    files += 1
    if (files > mostFiles) throw new StoreFailure('failed')
    if (performance.now() > deadline) throw storeTimeout()
    const archive = path.slice(0, path.lastIndexOf('/'))
    if (!readArchivePath(archive)) continue
    const known = found.get(archive) ?? { size: 0, complete: false, isEncrypted: false }
    found.set(archive, {
      size: known.size + sizeBytes,
      complete: known.complete || path.endsWith(`/${manifestName}`),
      isEncrypted: known.isEncrypted || path.endsWith(encryptedEnd),
    })
  }
  const newest = [...found].sort(([a], [b]) => (momentOf(a) < momentOf(b) ? 1 : -1)).slice(0, most)
  const backups: StoredArchive[] = []
  for (const [path, one] of newest) backups.push(await backupOf(store, path, one))
  return backups
}

const momentOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

async function backupOf(store: Store, path: string, { size, complete, isEncrypted }: Found): Promise<StoredArchive> {
  const name = readArchivePath(path)
  const manifest = complete ? await readManifest(store, path).catch(() => undefined) : undefined
  return {
    path,
    kind: isEncrypted ? 'TENANT_BACKUP' : 'TENANT_EXPORT',
    tenant_id: name?.tenantId ?? '',
    created_at: name?.createdAt ?? '',
    size_bytes: size,
    product_version: manifest?.product_version ?? null,
    complete: manifest !== undefined,
  }
}
