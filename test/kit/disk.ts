/** A disk of a few megabytes that a test may fill up: a tmpfs, which only root may mount. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { shows } from './needs.ts'

export interface Disk {
  readonly folder: string
  /** Fills the free space, like another program's file. */
  fill(): void
  /** Removes what `fill` wrote. */
  makeRoom(): void
  /** Blocks that are free for users other than root. */
  free(): number
  remove(): void
}

export const mounting = 'root, and the right to mount a tmpfs'

/** Mounts one. Undefined, with a line on stderr, if this user may not mount. */
export function mountDisk(mebibytes: number): Disk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'svc-disk-'))
  const options = `size=${mebibytes}m,mode=0711`
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'svc-test', folder]).status !== 0) {
    rmSync(folder, { recursive: true })
    shows('a full disk', mounting, false)
    return undefined
  }
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill: () => fillUp(ballast),
    makeRoom: () => rmSync(ballast),
    free: () => statfsSync(folder).bavail,
    remove() {
      spawnSync('umount', ['-l', folder]) // a process may have a file of it open
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function fillUp(file: string): void {
  const ballast = openSync(file, 'w')
  try {
    // To the last byte, so that not even a small file fits.
    for (const bytes of [64 * 1024, 1]) writeUntilFull(ballast, Buffer.alloc(bytes, 1))
  } finally {
    closeSync(ballast)
  }
}

function writeUntilFull(file: number, piece: Buffer): void {
  try {
    for (;;) writeSync(file, piece)
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC')
  }
}
