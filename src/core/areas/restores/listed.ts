/** The erasures that a target lists beside its archives (`erasures.json`). Spec: Keeping, 1 (The ledger). */
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { Actor } from '../../kernel/values/actor.ts'
import { folderOf } from '../backup/archive-format.ts'
import { invalid, readSmall } from '../backup/archive-reader.ts'
import { type Erased, erasureListName, readErasureList } from '../erasure/reading.ts'
import { type ArchivePlace, withArchive } from './source.ts'

/** A list of a million people is shorter. */
const mostListBytes = 256 * 1024 * 1024

/**
 * The list that lies at the target beside the archive: it is there where ledger and database are lost. One of another installation
 * is believed as far as its archive is: it only ever takes away. Refuses archive.invalid, archive.path_refused, backup.target_failed.
 */
export function readListed(
  installation: Installation,
  actor: Actor,
  place: ArchivePlace,
  opening: { readonly identity?: string | undefined; readonly acceptsForeign: boolean },
): Promise<readonly Erased[]> {
  return withArchive(installation, actor, place, opening, async ({ manifest }, store) => {
    const path = `${folderOf(manifest.tenant.id)}/${erasureListName}`
    if ((await store.sizeOf(path)) === undefined) return []
    const text = await readSmall(store, path, mostListBytes, ['erasures', 'erasures'])
    const { acceptsForeign } = opening
    const list = readErasureList(installation.keyring, manifest.tenant.id, text.toString('utf8'), { acceptsForeign })
    return list ?? invalid('erasures')
  })
}
