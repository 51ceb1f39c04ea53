/**
 * Reads an archive to its last byte, with all bytes of files that belong to it: signature, hashes, decryption, counts. Nothing
 * is kept, so memory is bounded as in archive-reader.ts. Spec: Keeping, 3, N18 (HASHES).
 */
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { Problem } from '../../contract/problem.ts'
import type { Keyring } from '../../kernel/sealing/keyring.ts'
import { isEncryptedMediaName, type ManifestFile, mediaFiles, mediaPath, storedOf } from './archive-format.ts'
import { type Archive, invalid, openArchive } from './archive-reader.ts'
import { type Store, StoreFailure } from './store.ts'

const MediaFile = z.object({
  sha256: z.string(),
  bytes: z.int().min(0),
  name: z.string().refine(isEncryptedMediaName),
})

export interface VerifiedArchive {
  readonly store: Store
  readonly path: string
  readonly tenantId: string
  readonly keyring: Keyring
  readonly signal: AbortSignal
  readonly onBytes: (bytes: number, total: number) => void
}

/** Refuses archive.invalid, archive.path_refused, backup.target_failed. Answers the bytes that were read. */
export async function verifyArchive(asked: VerifiedArchive): Promise<number> {
  const { store, path, tenantId, keyring, signal, onBytes } = asked
  const archive = await openArchive(store, path, tenantId, keyring)
  const { files, media } = archive.manifest
  const total = files.reduce((sum, file) => sum + storedOf(file).bytes, media.bytes)
  let done = 0
  const passed = (bytes: number) => {
    done += bytes
    onBytes(done, Math.max(done, total))
  }
  for (const file of files) {
    await verifyMedia({ store, archive, tenantId, signal, passed }, file)
    passed(storedOf(file).bytes)
  }
  return done
}

/** Reads a file to its end; of the one that says where the bytes of files are, these as well. Refuses archive.invalid. */
export async function verifyMedia(
  { store, archive, tenantId, signal, passed }: MediaReading,
  { entity }: Pick<ManifestFile, 'entity'>,
): Promise<void> {
  for await (const row of archive.rows(entity)) {
    signal.throwIfAborted()
    if (entity !== mediaFiles) continue
    const line = MediaFile.safeParse(row)
    if (!line.success) return invalid('line')
    await verifyContent(store, archive, mediaPath(tenantId, line.data.name), line.data)
    passed(line.data.bytes)
  }
}

interface MediaReading extends Pick<VerifiedArchive, 'store' | 'tenantId' | 'signal'> {
  readonly archive: Archive
  readonly passed: (bytes: number) => void
}

async function verifyContent(
  store: Store,
  archive: Archive,
  path: string,
  { sha256, bytes }: { readonly sha256: string; readonly bytes: number },
): Promise<void> {
  const hash = createHash('sha256')
  let length = 0
  const source = await sourceOf(store, path)
  try {
    for await (const chunk of archive.decrypted(source)) {
      length += chunk.length
      if (length > bytes) return invalid('media_differs')
      hash.update(chunk)
    }
  } finally {
    source.destroy()
  }
  if (length !== bytes || hash.digest('hex') !== sha256) invalid('media_differs')
}

async function sourceOf(store: Store, path: string): Promise<Readable> {
  try {
    return await store.get(path)
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    if (error.reason === 'missing') return invalid('media_missing')
    throw new Problem('backup.target_failed', { reason: error.reason })
  }
}
