/**
 * The end of a key: it leaves the keyring when nothing that may still be needed names it.
 *
 * The check reads the stored values, the manifests of all archives at all targets, and the keys
 * under which running daemons seal. The obligation ledger and purge certificates name keys for
 * ever: to verify them, derived keys stay in the file (keyring.ts), which cannot open any value.
 * Spec: Admin: encryption keyring; docs/decisions/0062.
 */

import { Problem } from '../../contract/problem.ts'
import { installationScope } from '../../contract/vocabulary.ts'
import { ledgerPurposes } from '../../kernel/ledger/ledger.ts'
import { retireKey } from '../../kernel/sealing/keyring-file.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { Actor } from '../../kernel/values/actor.ts'
import { everyFolder, folderOf, manifestName } from '../backup/archive-format.ts'
import { readManifest } from '../backup/archive-reader.ts'
import { withStore } from '../backup/open-store.ts'
import { StoreFailure } from '../backup/store.ts'
import { ownTarget, targetServing } from '../backup/target.ts'
import { erasureListPurposes } from '../erasure/reading.ts'
import { certificatePurpose } from '../tenants/purge/purge-certificate.ts'
import { findSealers, holdKeyringsStill } from './daemon-keyrings.ts'
import { countByKey, findActiveKey } from './keyring-use.ts'

/** Why a key must stay, in a sentence for the operator. */
export interface Hindrance {
  readonly code: 'current' | 'values' | 'daemons' | 'manifests' | 'unread'
  readonly says: string
}

/** Retires a key of the keyring, or answers what hinders it and changes nothing. */
export async function retire(installation: Installation, actor: Actor, keyId: string): Promise<readonly Hindrance[]> {
  const hindered = await hindrances(installation, actor, keyId)
  if (hindered.length > 0) return hindered
  // Targets are slow, so they are read first, with no transaction open.
  const archived = await archivesNaming(installation, actor, keyId)
  if (archived.length > 0) return archived
  return hindrances(installation, actor, keyId, () =>
    retireKey(installation.keyring.path, keyId, [...ledgerPurposes, certificatePurpose, ...erasureListPurposes]),
  )
}

/** The hindrances that the database knows; `act` runs while no daemon can begin to use the key. */
function hindrances(installation: Installation, actor: Actor, keyId: string, act?: () => Promise<unknown>) {
  const { keyring } = installation
  return installation.transaction(actor, {}, async (ctx): Promise<readonly Hindrance[]> => {
    await holdKeyringsStill(ctx.tx)
    const active = await findActiveKey(ctx.tx)
    const counts = await countByKey(ctx.tx)
    const sealers = await findSealers(ctx.tx, keyring, keyId)
    const values = counts.filter(({ key_id }) => key_id === keyId).reduce((sum, { count }) => sum + count, 0)
    const found: Hindrance[] = []
    if (active === keyId || keyring.current === keyId)
      found.push({ code: 'current', says: `"${keyId}" is the current key; first promote another one` })
    else if (sealers.length > 0)
      found.push({
        code: 'daemons',
        says: `${sealers.length} running daemon(s) still seal under it (${sealers.join(', ')}); send them SIGHUP`,
      })
    if (values > 0)
      found.push({
        code: 'values',
        says: `${values} stored value(s) are still under it; run: svc encryption reseal --watch`,
      })
    if (found.length > 0 || !act) return found
    await act()
    await ctx.journal('encryption.key_retired', null, { params: { key_id: keyId } })
    return []
  })
}

interface TargetAt {
  /** Undefined for the installation's. */
  readonly tenantId: string | undefined
  readonly id: string
  readonly name: string
}

/** Archives whose manifest names the key, and targets whose manifests cannot be read. */
async function archivesNaming(installation: Installation, actor: Actor, keyId: string): Promise<Hindrance[]> {
  const found: Hindrance[] = []
  for (const target of await allTargets(installation, actor)) {
    try {
      const paths = await manifestsNaming(installation, actor, target, keyId)
      if (paths.length > 0)
        found.push({
          code: 'manifests',
          says: `${paths.length} archive(s) at the target ${target.name} need it, the first is ${paths[0]}`,
        })
    } catch (error) {
      if (!(error instanceof StoreFailure) && !(error instanceof Problem)) throw error
      found.push({
        code: 'unread',
        says: `the manifests at the target ${target.name} (${target.id}) cannot be read (${error instanceof StoreFailure ? error.reason : error.code})`,
      })
    }
  }
  return found
}

async function manifestsNaming(
  installation: Installation,
  actor: Actor,
  { tenantId, id }: TargetAt,
  keyId: string,
): Promise<string[]> {
  const target = tenantId
    ? await targetServing(installation, actor, tenantId, id)
    : await ownTarget(installation, actor, id)
  if (!target) return [] // removed meanwhile
  return withStore(installation, target, async (store) => {
    const archives: string[] = []
    for await (const { path } of store.list(tenantId ? folderOf(tenantId) : everyFolder))
      if (path.endsWith(`/${manifestName}`)) archives.push(path.slice(0, -manifestName.length - 1))
    const naming: string[] = []
    for (const path of archives) {
      const { sealed_under = [] } = await readManifest(store, path)
      if (sealed_under.includes(keyId)) naming.push(path)
    }
    return naming
  })
}

/** The targets of the installation and of every workspace; a workspace's own are visible only in its role. */
function allTargets(installation: Installation, actor: Actor): Promise<TargetAt[]> {
  return installation.transaction(actor, { readOnly: true }, async (ctx) => {
    const own = await ctx.tx<{ id: string; name: string }[]>`
      select id, name from backup_target where tenant_id = ${installationScope} order by id`
    const all: TargetAt[] = own.map((target) => ({ tenantId: undefined, ...target }))
    for (const { id: tenantId } of await ctx.tx<{ id: string }[]>`select id from tenant order by id`) {
      const theirs = await ctx.inWorkspace(
        tenantId,
        () => ctx.tx<{ id: string; name: string }[]>`
          select id, name from backup_target where tenant_id = ${tenantId} order by id`,
      )
      all.push(...theirs.map((target) => ({ tenantId, ...target })))
    }
    return all
  })
}
