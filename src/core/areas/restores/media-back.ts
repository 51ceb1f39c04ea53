/**
 * Brings the bytes of files back that come back with a restore, before any row of them does.
 *
 *    which files come ──the store lacks their bytes──▶ archive ──decrypted, hashed──▶ store
 *
 * Bytes without a row are noted first (`media_removal`), so that those of a restore that is never carried out go again. The note
 * goes when the row comes. A file whose bytes are others than its row says fails the restore. Spec: Keeping, 3.
 */
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { isEncryptedMediaName, mediaFiles, mediaPath } from '../backup/archive-format.ts'
import { type Archive, invalid } from '../backup/archive-reader.ts'
import { type Store, StoreFailure } from '../backup/store.ts'
import { isMissing, mediaStore } from '../media/store.ts'
import { withArchive } from './source.ts'
import { type RestoreWork, step } from './work.ts'

export interface ComingFile {
  readonly id: string
  readonly sha256: string
  readonly size_bytes: number | bigint
}

/** Days for which bytes wait for their row. */
const waitDays = 2

const MediaLine = z.object({
  sha256: z.string(),
  bytes: z.int().min(0),
  name: z.string().refine(isEncryptedMediaName),
  media_id: z.string().nullable(),
})

/** Answers how many files got their bytes from the archive. Refuses archive.invalid, backup.target_failed. */
export async function bringBytes(work: RestoreWork, files: readonly ComingFile[]): Promise<number> {
  const lacking: ComingFile[] = []
  for (const file of files) if (!(await isStored(work, file.id))) lacking.push(file)
  if (lacking.length === 0) return 0
  const { installation, job, row, identity } = work
  const place = { targetId: row.target_id, path: row.path, tenantId: row.source_tenant_id }
  const opening = { identity, acceptsForeign: row.origin === 'FOREIGN' }
  await withArchive(installation, job.actor, place, opening, async (archive, store) => {
    const names = await namesIn(archive, lacking)
    let done = 0
    for (const file of lacking) {
      job.signal.throwIfAborted()
      const name = names.get(file.sha256) ?? invalid('media_missing')
      await bringOne(work, { archive, store, path: mediaPath(row.source_tenant_id, name) }, file)
      done += 1
      job.progress = { phase: 'READING', done, total: lacking.length }
    }
  })
  return lacking.length
}

async function isStored({ installation, tenantId }: RestoreWork, mediaId: string): Promise<boolean> {
  try {
    const source = await mediaStore(installation).read({ tenantId, mediaId }, { from: 0, to: 0 })
    source.destroy()
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Under which name each content lies at the target. In an export that is its hash. */
async function namesIn(archive: Archive, files: readonly ComingFile[]): Promise<ReadonlyMap<string, string>> {
  const wanted = new Set(files.map(({ sha256 }) => sha256))
  if (archive.manifest.kind === 'TENANT_EXPORT') return new Map([...wanted].map((sha256) => [sha256, sha256]))
  const names = new Map<string, string>()
  for await (const line of archive.rows(mediaFiles)) {
    const media = MediaLine.safeParse(line)
    if (!media.success) return invalid('line')
    if (wanted.has(media.data.sha256)) names.set(media.data.sha256, media.data.name)
  }
  return names
}

interface Bytes {
  readonly archive: Archive
  readonly store: Store
  readonly path: string
}

async function bringOne(work: RestoreWork, { archive, store, path }: Bytes, file: ComingFile): Promise<void> {
  const { installation, tenantId } = work
  const { id: mediaId, sha256 } = file
  const sizeBytes = Number(file.size_bytes)
  await step(
    work,
    ({ tx }) => tx`
      insert into media_removal (tenant_id, media_id, due_at) values (${tenantId}, ${mediaId}, now() + make_interval(days => ${waitDays}))
      on conflict (tenant_id, media_id) do update set due_at = greatest(media_removal.due_at, excluded.due_at)`,
  )
  const hash = createHash('sha256')
  let length = 0
  const source = await sourceOf(store, path)
  const writing = await mediaStore(installation).write({ tenantId, mediaId }, { offset: 0, sizeBytes })
  try {
    for await (const chunk of archive.decrypted(source)) {
      length += chunk.length
      if (length > sizeBytes) return invalid('media_differs')
      hash.update(chunk)
      await writing.write(chunk)
    }
    if (length !== sizeBytes || hash.digest('hex') !== sha256) return invalid('media_differs')
    await writing.finish()
  } finally {
    source.destroy()
    await writing.close()
  }
}

async function sourceOf(store: Store, path: string): Promise<Readable> {
  try {
    return await store.get(path)
  } catch (error) {
    if (error instanceof StoreFailure && error.reason === 'missing') return invalid('media_missing')
    throw error
  }
}
