/**
 * Clocks of other processes, set by the test: libfaketime reads the time from a file. It changes
 * only the time of day. Elapsed time (CLOCK_MONOTONIC) stays true, as on a host whose clock is set.
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shows } from './needs.ts'

/** The path on Debian or Fedora; undefined if it is not installed. */
function findLibrary(name: string): string | undefined {
  const roots = ['/usr/lib', '/usr/lib64', '/usr/local/lib']
  const folders = roots.flatMap((root) =>
    existsSync(root) ? [root, ...readdirSync(root).map((below) => join(root, below))] : [],
  )
  return folders.map((folder) => join(folder, 'faketime', name)).find((path) => existsSync(path))
}

/** For a process of one thread, and for one of several. */
const single = findLibrary('libfaketime.so.1')
const threaded = findLibrary('libfaketimeMT.so.1')

export const hasFakeTime = shows(
  'a server whose clock is set',
  'libfaketime (apt-get install libfaketime)',
  single !== undefined && threaded !== undefined,
)

export interface FakeTime {
  /** The environment of a server with one thread per process. */
  readonly single: NodeJS.ProcessEnv
  /** The environment of a Node process. */
  readonly threaded: NodeJS.ProcessEnv
  /** A time in libfaketime's syntax: `+31d`, `-1d`, `+0 x60`. */
  set(time: string): void
  remove(): void
}

export function fakeTime(): FakeTime {
  const folder = mkdtempSync(join(tmpdir(), 'svc-clock-'))
  chmodSync(folder, 0o755) // the server's user reads it
  const file = join(folder, 'time')
  const set = (time: string) => {
    writeFileSync(`${file}.next`, `${time.includes('x') ? time : `${time} x1`}\n`, { mode: 0o644 })
    renameSync(`${file}.next`, file)
  }
  set('+0')
  const settings = {
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  }
  return {
    single: { ...settings, LD_PRELOAD: single },
    threaded: { ...settings, LD_PRELOAD: threaded },
    set,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
