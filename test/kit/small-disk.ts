/** A disk that is small enough to be filled up: a tmpfs, which only root may mount. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system of that size; undefined, and said on stderr, where we may not mount one. */
export function mountDisk(mebibytes: number): string | undefined {
  if (process.platform === 'linux' && process.getuid?.() === 0) {
    const folder = mkdtempSync(join(tmpdir(), 'svc-disk-'))
    const options = `size=${mebibytes}m,mode=0711`
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'svc-test', folder]).status === 0) return folder
    rmSync(folder, { recursive: true })
  }
  process.stderr.write('\nNot shown: a full disk needs root and the right to mount a tmpfs.\n')
  return undefined
}

export function unmountDisk(folder: string): void {
  spawnSync('umount', ['-l', folder]) // a file may still be open in this process
  rmSync(folder, { recursive: true, force: true })
}

/** Fills what is left of the disk, as somebody else's file would. */
export function fillUp(file: string): void {
  const ballast = openSync(file, 'w')
  try {
    for (const bytes of [64 * 1024, 1]) fillIn(ballast, Buffer.alloc(bytes, 1))
  } finally {
    closeSync(ballast)
  }
}

function fillIn(file: number, piece: Buffer): void {
  try {
    for (;;) writeSync(file, piece)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
