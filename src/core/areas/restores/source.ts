/**
 * The archive that a restore is made from: named by a backup, by a place at a target, or by a moment.
 *
 * Its manifest and its signature are checked before anything is stored. A rewind takes what this installation signed of this very
 * workspace, and nothing else. Spec: Keeping, 3, N19.
 */
import type { NewRestore, restoreOperations as ops, RestoreMode } from '../../contract/backup/restores.ts'
import type { Received } from '../../contract/operation.ts'
import { Problem, refuse, refuseMember } from '../../contract/problem.ts'
import { recipientOf } from '../../kernel/sealing/age.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { type Actor, actsForInstallation, isAccount } from '../../kernel/values/actor.ts'
import { readArchivePath } from '../backup/archive-format.ts'
import { type Archive, invalid, openArchive } from '../backup/archive-reader.ts'
import { withStore } from '../backup/open-store.ts'
import { type Store, StoreFailure } from '../backup/store.ts'
import { targetServing } from '../backup/target.ts'
import { type LedgerFacts, readFacts } from './erasures.ts'

/** Where it lies. */
interface Place {
  readonly backupId: string | null
  readonly targetId: string
  readonly path: string
  /** Whose target it may be, besides the installation's. */
  readonly tenantId: string
}

/** What was found there. */
export interface FoundSource extends Place {
  readonly sourceTenantId: string
  readonly sourceSlug: string
  readonly snapshotAt: string
  readonly origin: Archive['origin']
  readonly productVersion: string
  readonly archiveSha256: string
}

export interface Prepared {
  readonly source: FoundSource
  readonly facts: LedgerFacts
}

/**
 * Finds the archive and reads its manifest, with no transaction open. Refuses admin.operator_required, request.invalid,
 * archive.path_refused, archive.invalid, backup.target_failed, secret.unavailable.
 */
export async function findSource(
  installation: Installation,
  actor: Actor,
  { body }: Received<typeof ops.createRestore>,
): Promise<Prepared> {
  if (body.into !== 'REPLACE' && !actsForInstallation(actor)) refuse('admin.operator_required')
  vetBody(body)
  if (body.identity !== undefined) await vetIdentity(body.identity)
  const place = await findPlace(installation, actor, body)
  const opening = { identity: body.identity, acceptsForeign: body.accept_foreign === true && body.into !== 'REPLACE' }
  const source = await withArchive(installation, actor, place, opening, async ({ manifest, origin, digest }) => {
    demandOrigin(body.into, origin, opening.acceptsForeign)
    if (body.into === 'REPLACE' && manifest.tenant.id !== place.tenantId) invalid('other_workspace')
    return {
      ...place,
      sourceTenantId: manifest.tenant.id,
      sourceSlug: manifest.tenant.slug,
      snapshotAt: manifest.snapshot_at,
      origin,
      productVersion: manifest.product_version,
      archiveSha256: digest,
    }
  })
  return { source, facts: await readFacts(installation) }
}

/** An archive that this installation did not sign makes a new workspace where that is wanted, and never changes one. */
function demandOrigin(into: RestoreMode, origin: Archive['origin'], acceptsForeign: boolean): void {
  if (origin === 'FOREIGN' && (into === 'REPLACE' || !acceptsForeign)) invalid('unsigned')
}

/** Refuses request.invalid. */
function vetBody({ into, source, to, new: fresh, tenant_id, accept_foreign }: NewRestore): void {
  const isRewind = into === 'REPLACE'
  if (!isRewind && to !== undefined) refuseMember('/to', 'member.unknown')
  if (!isRewind && tenant_id !== undefined) refuseMember('/tenant_id', 'member.unknown')
  if (isRewind && accept_foreign) refuseMember('/accept_foreign', 'member.unknown')
  if (into === 'NEW' && !fresh) refuseMember('/new', 'member.required')
  if (into !== 'NEW' && fresh) refuseMember('/new', 'member.unknown')
  if (source && to !== undefined) refuseMember('/to', 'member.unknown')
  if (!source && to === undefined) refuseMember('/source', 'member.required')
  if (!source) return
  const isByPlace = source.target_id !== undefined || source.path !== undefined
  if (source.backup_id !== undefined && isByPlace) refuseMember('/source/backup_id', 'member.unknown')
  if (source.backup_id === undefined && source.target_id === undefined)
    refuseMember('/source/target_id', 'member.required')
  if (source.backup_id === undefined && source.path === undefined) refuseMember('/source/path', 'member.required')
}

async function vetIdentity(identity: string): Promise<void> {
  try {
    await recipientOf(identity)
  } catch {
    refuseMember('/identity', 'value.format', { format: 'age-identity' })
  }
}

function findPlace(installation: Installation, actor: Actor, body: NewRestore): Promise<Place> {
  const own = isAccount(actor) && !actsForInstallation(actor) ? actor.tenantId : undefined
  if (own !== undefined && body.tenant_id !== undefined && body.tenant_id !== own)
    refuseMember('/tenant_id', 'reference.unknown')
  const tenantId = own ?? body.tenant_id
  if (body.into === 'REPLACE' && tenantId === undefined) refuseMember('/tenant_id', 'member.required')
  const { source } = body
  if (source?.path !== undefined && source.target_id !== undefined)
    return Promise.resolve(placeAt(source.target_id, source.path, tenantId))
  return installation.transaction(actor, { readOnly: true, ...(own === undefined ? {} : { tenantId: own }) }, (ctx) =>
    findBackup(ctx, tenantId, body),
  )
}

/** Refuses archive.path_refused. */
function placeAt(targetId: string, path: string, tenantId: string | undefined): Place {
  const name = readArchivePath(path)
  if (!name) refuse('archive.path_refused')
  return { backupId: null, targetId, path, tenantId: tenantId ?? name.tenantId }
}

interface BackupPlace {
  readonly id: string
  readonly tenant_id: string
  readonly target_id: string
  readonly path: string
}

/** By its id, or the newest that is whole and not after the moment. */
async function findBackup({ tx }: Ctx, tenantId: string | undefined, { source, to }: NewRestore): Promise<Place> {
  const ofTenant = tenantId === undefined ? tx.part`` : tx.part`and b.tenant_id = ${tenantId}`
  const meant =
    to === undefined
      ? tx.part`b.id = ${source?.backup_id ?? null}`
      : tx.part`b.state = 'COMPLETE' and not b.is_damaged and date_trunc('milliseconds', b.snapshot_at) <= ${to}`
  const [row] = await tx.last<BackupPlace[]>`
    select b.id, b.tenant_id, b.target_id, b.path from backup b
    where ${meant} ${ofTenant} and b.path is not null and b.state in ('COMPLETE', 'MISSING') order by b.snapshot_at desc, b.id desc limit 1`
  if (!row) return refuseMember(to === undefined ? '/source/backup_id' : '/to', 'reference.unknown')
  return { backupId: row.id, targetId: row.target_id, path: row.path, tenantId: row.tenant_id }
}

export interface ArchivePlace {
  readonly targetId: string
  readonly path: string
  readonly tenantId: string
}

/** Opens an archive for some work. Refuses archive.path_refused, archive.invalid, backup.target_failed, request.invalid. */
export async function withArchive<T>(
  installation: Installation,
  actor: Actor,
  { targetId, path, tenantId }: ArchivePlace,
  opening: { readonly identity?: string | undefined; readonly acceptsForeign?: boolean },
  work: (archive: Archive, store: Store) => Promise<T>,
): Promise<T> {
  const name = readArchivePath(path)
  if (!name) refuse('archive.path_refused')
  const target = await targetServing(installation, actor, tenantId, targetId)
  if (!target) refuseMember('/source/target_id', 'reference.unknown')
  try {
    return await withStore(installation, target, async (store) =>
      work(await openArchive(store, path, name.tenantId, installation.keyring, opening), store),
    )
  } catch (error) {
    throw error instanceof StoreFailure ? new Problem('backup.target_failed', { reason: error.reason }) : error
  }
}
