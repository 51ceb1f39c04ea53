/**
 * LOCAL: a folder below SVC_BACKUP_DIR, which no path can leave.
 *
 * Each step of a path is opened relative to the folder before it (`/proc/self/fd/N/name`, like
 * openat) and never through a link, so a change of the tree between a check and a use does no harm.
 * Without /proc the step's full path is used; links are still refused. Only plain files are read: a
 * pipe or a device in the folder is not an archive.
 *
 * Spec: decisions 4, A backup target; T-25, T-26.
 */
import { existsSync } from 'node:fs'
import { constants, type FileHandle, mkdir, open, readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { makeFolder } from '../../../kernel/values/folder.ts'
import { isRelativePath } from '../config.ts'
import { type IsEntered, type Store, type StoredFile, StoreFailure, storeFailure } from '../store.ts'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants
const hasProc = existsSync('/proc/self/fd')
const partial = '.partial'
const always = () => true

/** An open folder, and its path. */
interface Folder {
  readonly handle: FileHandle
  readonly path: string
}

const inside = ({ handle, path }: Folder, name: string) =>
  hasProc ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name)

/** Opens the target's folder, and creates it if it is missing. Throws StoreFailure. */
export async function openLocal(backupDir: string, path: string): Promise<Store> {
  const base = await guarded(async () => {
    makeFolder(backupDir, 0o700)
    return { handle: await open(backupDir, O_RDONLY | O_DIRECTORY), path: backupDir }
  })
  const root = await guarded(() => walk(base, path, { makes: true })).finally(() => base.handle.close())
  return {
    width: 4,
    put: (to, file, aside = to) => guarded(() => put(root, to, file, `${aside}${partial}`)),
    sizeOf: (at) => guarded(() => sizeAt(root, at)),
    get: (from) => guarded(() => get(root, from)),
    list: (folder, isEntered = always) => list(root, folder, isEntered),
    remove: (folder) => guarded(() => remove(root, folder)),
    close: () => root.handle.close(),
  }
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // A link in place of a folder or a file could lead out of the target.
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') throw new StoreFailure('refused', error)
    throw storeFailure(error)
  }
}

/** Opens the folder of a path, step by step. The caller closes it. Throws ENOENT, ENOTDIR, ELOOP. */
async function walk(from: Folder, path: string, { makes }: { readonly makes: boolean }): Promise<Folder> {
  if (!isRelativePath(path)) throw new StoreFailure('refused')
  let here: Folder | undefined
  for (const name of path.split('/')) {
    const above: Folder = here ?? from
    try {
      here = await step(above, name, makes)
    } finally {
      if (above !== from) await above.handle.close()
    }
  }
  return here as Folder
}

async function step(above: Folder, name: string, makes: boolean): Promise<Folder> {
  const at = inside(above, name)
  if (makes)
    await mkdir(at, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  return { handle: await open(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path: join(above.path, name) }
}

async function within<T>(
  root: Folder,
  path: string,
  makes: boolean,
  work: (folder: Folder, name: string) => Promise<T>,
): Promise<T> {
  if (!isRelativePath(path)) throw new StoreFailure('refused')
  const at = path.lastIndexOf('/')
  if (at < 0) return work(root, path)
  const folder = await walk(root, path.slice(0, at), { makes })
  try {
    return await work(folder, path.slice(at + 1))
  } finally {
    await folder.handle.close()
  }
}

const put = (root: Folder, path: string, file: string, asidePath: string) =>
  within(root, asidePath, true, async (besides, asideName) => {
    const aside = inside(besides, asideName)
    await unlink(aside).catch(() => {})
    const target = await open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    try {
      await copyWhole(file, target)
      await target.sync()
    } catch (error) {
      await unlink(aside).catch(() => {})
      throw error
    } finally {
      await target.close()
    }
    await within(root, path, true, async (folder, name) => {
      await rename(aside, inside(folder, name))
      await folder.handle.sync()
    })
  })

/** Copies through one buffer, so that memory does not depend on the file's size. */
async function copyWhole(file: string, target: FileHandle): Promise<void> {
  const source = await open(file, O_RDONLY)
  try {
    // Most files of an archive are small: a large buffer for each would be as much garbage.
    const buffer = Buffer.allocUnsafeSlow(Math.min((await source.stat()).size + 1, 256 * 1024))
    for (;;) {
      const { bytesRead } = await source.read(buffer)
      if (bytesRead === 0) return
      for (let at = 0; at < bytesRead; ) at += (await target.write(buffer, at, bytesRead - at)).bytesWritten
    }
  } finally {
    await source.close()
  }
}

const get = (root: Folder, path: string): Promise<Readable> =>
  within(root, path, false, async (folder, name) => {
    // O_NONBLOCK: the opening of a pipe would wait until another process writes into it.
    const file = await open(inside(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    if (!(await file.stat()).isFile()) {
      await file.close()
      throw new StoreFailure('refused')
    }
    return file.createReadStream()
  })

const sizeAt = (root: Folder, path: string): Promise<number | undefined> =>
  within(root, path, false, sizeOf).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

async function* list(root: Folder, path: string, isEntered: IsEntered): AsyncGenerator<StoredFile> {
  let folder: Folder
  try {
    folder = await guarded(() => walk(root, path, { makes: false }))
  } catch (error) {
    if (error instanceof StoreFailure && error.reason === 'missing') return
    throw error
  }
  try {
    for (const entry of await readdir(inside(folder, '.'), { withFileTypes: true })) {
      const below = `${path}/${entry.name}`
      if (!isRelativePath(entry.name) || entry.name.endsWith(partial)) continue
      if (entry.isDirectory() && isEntered(below)) yield* list(root, below, isEntered)
      else if (entry.isFile()) yield { path: below, sizeBytes: await sizeOf(folder, entry.name) }
    }
  } finally {
    await folder.handle.close()
  }
}

async function sizeOf(folder: Folder, name: string): Promise<number> {
  const file = await open(inside(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    return (await file.stat()).size
  } finally {
    await file.close()
  }
}

async function remove(root: Folder, path: string): Promise<void> {
  try {
    await within(root, path, false, async (above, name) => {
      const folder = await step(above, name, false)
      try {
        await empty(folder)
      } finally {
        await folder.handle.close()
      }
      await rmdir(inside(above, name))
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Removes what is in a folder; a link is removed, not followed. */
async function empty(folder: Folder): Promise<void> {
  for (const entry of await readdir(inside(folder, '.'), { withFileTypes: true })) {
    if (!entry.isDirectory()) {
      await unlink(inside(folder, entry.name))
      continue
    }
    const below = await step(folder, entry.name, false)
    try {
      await empty(below)
    } finally {
      await below.handle.close()
    }
    await rmdir(inside(folder, entry.name))
  }
}
