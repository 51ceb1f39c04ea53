/**
 * Writes a file whole or not at all, so that it outlives a power cut.
 *
 *    new file beside it ──▶ write ──▶ fsync ──▶ rename over the old one ──▶ fsync of the folder
 *
 * A reader finds the old content or the new one. A killed writer leaves the old content and
 * at most `<name>.<random>.partial`, which nothing reads. Two writers at once write two files
 * beside it, and the later rename wins. Ours; docs/decisions/0170.
 */
import { randomUUID } from 'node:crypto'
import { link, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { failpoint } from './failpoint.ts'
import { makeFolder } from './folder.ts'

/**
 * Replaces the file, mode 0600; a missing folder is made, mode 0700. With `replaces: false` an
 * existing file stays, and EEXIST is thrown. Throws what the operating system says.
 */
export async function writeWhole(
  path: string,
  content: string | Uint8Array,
  { replaces = true }: { readonly replaces?: boolean } = {},
): Promise<void> {
  const folder = dirname(path)
  makeFolder(folder, 0o700)
  const aside = `${path}.${randomUUID()}.partial`
  try {
    await writeSynced(aside, content)
    await (replaces ? rename(aside, path) : link(aside, path))
    failpoint('write.renamed')
  } finally {
    // A failure to remove it must not hide the failure that led here.
    await rm(aside, { force: true }).catch(() => {})
  }
  await syncFolder(folder)
}

async function writeSynced(path: string, content: string | Uint8Array): Promise<void> {
  // 'wx' makes the file and follows no link that somebody put in its place.
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(content)
    failpoint('write.written')
    await file.sync()
    failpoint('write.synced')
  } finally {
    await file.close()
  }
}

/** Brings the names in a folder to the disk; without it a power cut may undo a rename. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}
