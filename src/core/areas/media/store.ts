/**
 * The store of files: a folder, with one folder for each workspace.
 *
 *    tenants/<tenant>/<media>.part    bytes that are coming
 *    tenants/<tenant>/<media>         all bytes, on the disk
 *
 * A file gets its own name when its last byte is on the disk, and only then the row says so: a killed daemon leaves an
 * unfinished file, or a whole one whose row does not know it yet. An upload that goes on takes either. Both parts of a key
 * are ids of ours, so no name of a user is part of a path, and no link is followed. Every failure is `media.store_failed`,
 * whose cause only the log has. Spec: items 4, Store; docs/decisions/0236.
 */
import { constants, type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { Problem } from '../../contract/problem.ts'
import { type MediaSettings, mediaFolderOf } from '../../kernel/config/media-settings.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { makeFolder } from '../../kernel/values/folder.ts'
import { syncFolder } from '../../kernel/values/write-whole.ts'

const { O_CREAT, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants

export interface FileKey {
  readonly tenantId: string
  readonly mediaId: string
}

/** A file that is being written; for one writer at a time. */
export interface Writing {
  /** Where the next byte goes: what was asked, or less if the store has less. */
  readonly offset: number
  write(bytes: Buffer): Promise<void>
  /** Brings what was written to the disk. */
  sync(): Promise<void>
  /** The same, and gives the file its own name. */
  finish(): Promise<void>
  close(): Promise<void>
}

export interface MediaStore {
  /** Opens a file for its bytes behind `offset`; what it has behind is cut off. */
  write(key: FileKey, offset: number): Promise<Writing>
  /** The bytes from `from` to `to`, both included; absent: all. */
  read(key: FileKey, range?: { readonly from: number; readonly to: number }): Promise<Readable>
  /** Removes a file, finished or not; nothing happens where it is missing. */
  remove(key: FileKey): Promise<void>
}

export const mediaStore = (settings: MediaSettings): MediaStore => ({
  write: (key, offset) => guarded(() => openWriting(pathOf(settings, key), offset)),
  read: (key, range) => guarded(() => openReading(pathOf(settings, key), range)),
  remove: (key) =>
    guarded(async () => {
      const path = pathOf(settings, key)
      await rm(partOf(path), { force: true })
      await rm(path, { force: true })
    }),
})

const pathOf = (settings: MediaSettings, { tenantId, mediaId }: FileKey) =>
  join(mediaFolderOf(settings, tenantId), mediaId)
const partOf = (path: string) => `${path}.part`

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storeFailed(error)
  }
}

/** The refusal of a store that failed, with its cause for the log. */
const storeFailed = (cause: unknown): Problem =>
  cause instanceof Problem ? cause : Object.assign(new Problem('media.store_failed'), { cause })

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
    write: (bytes) =>
      guarded(async () => {
        for (let done = 0; done < bytes.byteLength; ) {
          const { bytesWritten } = await file.write(bytes, done, bytes.byteLength - done, at)
          done += bytesWritten
          at += bytesWritten
        }
        failpoint('media.written')
      }),
    sync: () => guarded(() => file.datasync()),
    finish: () =>
      guarded(async () => {
        await file.sync()
        failpoint('media.synced')
        await rename(partOf(path), path)
        await syncFolder(dirname(path))
        failpoint('media.renamed')
      }),
    close: () => file.close(),
  }
}

async function openReading(path: string, range?: { readonly from: number; readonly to: number }): Promise<Readable> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW)
  return file.createReadStream(range ? { start: range.from, end: range.to } : {})
}
