/**
 * The local store: a folder, with one folder for each workspace.
 *
 *    tenants/<tenant>/<media>.part    bytes that are coming
 *    tenants/<tenant>/<media>         all bytes, on the disk
 *    tenants/<tenant>/<media>.small   a preview of them, and .medium
 *
 * A file gets its own name when its last byte is on the disk, and only then the row says so: a killed daemon leaves an
 * unfinished file, or a whole one whose row does not know it yet. An upload that goes on takes either. Both parts of a key
 * are ids of ours, so no name of a user is part of a path, and no link is followed. Spec: items 4, Store;
 * docs/decisions/0236.
 */
import { constants, type FileHandle, open, opendir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { type MediaSettings, mediaFolderOf } from '../../../kernel/config/media-settings.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { makeFolder } from '../../../kernel/values/folder.ts'
import { syncFolder } from '../../../kernel/values/write-whole.ts'
import {
  type FileKey,
  type MediaStore,
  nameOf,
  previewEndings,
  readName,
  type StoredMedia,
  type Writing,
} from './media-store.ts'

const { O_CREAT, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants
const partEnding = '.part'

export const localStore = (settings: MediaSettings): MediaStore => ({
  write: (key, { offset }) => openWriting(pathOf(settings, key), offset),
  read: (key, range) => openReading(pathOf(settings, key), range),
  async remove(key) {
    const path = pathOf(settings, key)
    for (const ending of ['', ...Object.values(previewEndings)]) {
      await rm(partOf(`${path}${ending}`), { force: true })
      await rm(`${path}${ending}`, { force: true })
    }
  },
  list: (tenantId) => list(mediaFolderOf(settings, tenantId)),
  async removeSome(tenantId) {
    await rm(mediaFolderOf(settings, tenantId), { recursive: true, force: true })
    return false
  },
})

const pathOf = (settings: MediaSettings, key: FileKey) => join(mediaFolderOf(settings, key.tenantId), nameOf(key))
const partOf = (path: string) => `${path}${partEnding}`

async function openWriting(path: string, asked: number): Promise<Writing> {
  makeFolder(dirname(path), 0o700)
  const file = await openPart(path)
  try {
    const offset = Math.min(asked, (await file.stat()).size)
    await file.truncate(offset)
    return writingIn(file, path, offset)
  } catch (error) {
    await file.close()
    throw error
  }
}

/** A whole file whose row does not know it yet is unfinished again. */
async function openPart(path: string): Promise<FileHandle> {
  const part = partOf(path)
  const isThere = await stat(part).then(
    () => true,
    () => false,
  )
  if (!isThere)
    await rename(path, part).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  return open(part, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600)
}

function writingIn(file: FileHandle, path: string, offset: number): Writing {
  let at = offset
  return {
    offset,
    async write(bytes) {
      for (let done = 0; done < bytes.byteLength; ) {
        const { bytesWritten } = await file.write(bytes, done, bytes.byteLength - done, at)
        done += bytesWritten
        at += bytesWritten
      }
      failpoint('media.written')
    },
    sync: () => file.datasync(),
    async finish() {
      await file.sync()
      failpoint('media.synced')
      await rename(partOf(path), path)
      await syncFolder(dirname(path))
      failpoint('media.renamed')
    },
    close: () => file.close(),
  }
}

async function openReading(path: string, range?: { readonly from: number; readonly to: number }): Promise<Readable> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW)
  return file.createReadStream(range ? { start: range.from, end: range.to } : {})
}

async function* list(folder: string): AsyncGenerator<StoredMedia> {
  const entries = await opendir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  for await (const { name } of entries) {
    const isEnded = !name.endsWith(partEnding)
    const { mediaId, isPreview } = readName(isEnded ? name : name.slice(0, -partEnding.length))
    // A file may be renamed or removed meanwhile.
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (found) yield { mediaId, sizeBytes: found.size, isWhole: isEnded && !isPreview }
  }
}
