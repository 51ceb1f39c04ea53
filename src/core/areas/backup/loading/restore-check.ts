/**
 * A backup that is restored for a try (RESTORE): loaded, its keys checked, written out again, and compared.
 *
 * A hash says that bytes are as they were written, not that a database takes them. So rows go the way that a restore goes (loader.ts),
 * and what comes out has to be what went in. The bytes of files are read to their end, as for HASHES. Spec: Keeping, 3, N18.
 */
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { SystemActor } from '../../../kernel/values/actor.ts'
import { storedOf } from '../archive-format.ts'
import { type Archive, invalid, openArchive } from '../archive-reader.ts'
import { type VerifiedArchive, verifyMedia } from '../archive-verification.ts'
import { asKeys, asValue } from './faults.ts'
import { type Loaded, Loader } from './loader.ts'
import { inScratch } from './scratch.ts'
import { type LoadedTable, readShape } from './shape.ts'

export interface Try extends VerifiedArchive {
  readonly installation: Installation
  readonly actor: SystemActor
  readonly jobId: string
  readonly attempt: number
}

/** Refuses archive.invalid, archive.path_refused, backup.target_failed. Throws ScratchFailure. Answers the bytes that were read. */
export async function tryRestore(asked: Try): Promise<number> {
  const { installation, actor, store, path, tenantId, keyring } = asked
  const archive = await openArchive(store, path, tenantId, keyring)
  const shape = await installation.transaction(actor, { readOnly: true }, ({ tx }) => readShape(tx))
  const entities = new Set(archive.manifest.files.map(({ entity }) => entity))
  const tables = shape.filter(({ name }) => entities.has(name))
  return inScratch(installation, asked, async (client, schema) => {
    const loader = new Loader(client, schema, tenantId)
    await loader.make(tables)
    const { loaded, bytes } = await loadAll(loader, archive, tables, asked)
    await loader.validate(tables).catch(asKeys)
    for (const one of loaded) {
      asked.signal.throwIfAborted()
      if (!(await loader.written(one)).equals(one.digest)) invalid('differs')
    }
    return bytes
  })
}

async function loadAll(loader: Loader, archive: Archive, tables: readonly LoadedTable[], asked: Try) {
  const { store, tenantId, signal, onBytes } = asked
  const { files, media } = archive.manifest
  const total = files.reduce((sum, file) => sum + storedOf(file).bytes, media.bytes)
  const loaded: Loaded[] = []
  let done = 0
  const passed = (bytes: number) => {
    done += bytes
    onBytes(done, Math.max(done, total))
  }
  for (const file of files) {
    const table = tables.find(({ name }) => name === file.entity)
    if (table) loaded.push(await loader.load(archive, table, signal).catch(asValue))
    // One that this release does not know is read all the same.
    else await verifyMedia({ store, archive, tenantId, signal, passed }, file)
    passed(storedOf(file).bytes)
  }
  return { loaded, bytes: done }
}
