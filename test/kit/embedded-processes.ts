/** Other svc processes on an embedded server, and checks of that server from outside. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { chmod, chown, cp, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseAddress } from '../../src/core/kernel/database/address.ts'
import { findRecord } from '../../src/core/kernel/database/embedded/places.ts'
import { findServer } from '../../src/core/kernel/database/embedded/server.ts'

/** What embedded-holder.ts prints. */
export interface Said {
  readonly failure?: string
  readonly reused: boolean
  readonly daemon: DatabaseAddress
  readonly where: string
  readonly serverUser?: string
  readonly notes: readonly string[]
}

export interface Holder {
  readonly process: ChildProcess
  readonly said: Promise<Said>
  /** Releases the hold like a svc that ends; resolves when the process has ended. */
  leave(): Promise<void>
  /** Kills it with the signal, alone or with its whole process group, as Ctrl-C on a terminal does. */
  die(signal: 'SIGKILL' | 'SIGINT', target?: 'group'): Promise<void>
}

const isRoot = process.getuid?.() === 0

/** The ordinary user: nobody if the tests run as root, otherwise the user of the tests. */
export const ordinaryUser = isRoot ? { uid: 65_534, gid: 65_534 } : {}

const checkout = join(import.meta.dirname, '../..')

/**
 * A place where another user can run this checkout: here, or, below a folder closed to others, in a copy made of links.
 */
function reachableCheckout(): string {
  const isClosed = (folder: string): boolean =>
    (statSync(folder).mode & 0o001) === 0 || (folder !== '/' && isClosed(dirname(folder)))
  if (!isRoot || !isClosed(realpathSync(checkout))) return checkout
  const copy = mkdtempSync(join(tmpdir(), 'svc-checkout-'))
  chmodSync(copy, 0o755)
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
  const names = ['package.json', 'bin', 'dist', 'migrations', 'src', 'test', 'node_modules']
  const parts = names.map((name) => join(checkout, name))
  // Links cost no space, but cannot cross file systems.
  const linked = spawnSync('cp', ['-aL', '--link', ...parts, copy]).status === 0
  if (!linked) spawnSync('cp', ['-aL', ...parts, copy])
  return copy
}

let reachable: string | undefined

/** A file of the checkout, at a path that the user can reach. */
export function fileFor(user: { readonly uid?: number }, path: string): string {
  if (user.uid === undefined) return path
  reachable ??= reachableCheckout()
  const real = realpathSync(path)
  const root = realpathSync(checkout)
  return real.startsWith(`${root}/`) ? join(reachable, relative(root, real)) : path
}

const script = join(import.meta.dirname, 'embedded-holder.ts')

/** Starts a process that holds the server of the folder. */
export function startHolder(folder: string, user: { uid?: number; gid?: number } = {}): Holder {
  const child = spawn(fileFor(user, process.execPath), [fileFor(user, script), folder], {
    ...user,
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const said = once(createInterface(child.stdout), 'line').then(([line]) => JSON.parse(line as string) as Said)
  said.catch(() => undefined) // a holder may be killed before it says anything
  return {
    process: child,
    said,
    async leave() {
      child.stdin.end()
      await ended
    },
    async die(signal, target) {
      process.kill(target === 'group' ? -child.pid! : child.pid!, signal)
      await ended
    },
  }
}

/** Another program, unrelated to PostgreSQL, which runs until it is killed. */
export async function startBystander(user: { uid?: number; gid?: number } = {}): Promise<ChildProcess> {
  const { uid, gid } = user
  const program = 'process.stdout.write("here"); setInterval(() => {}, 1e6)'
  const child = spawn(fileFor(user, process.execPath), ['-e', program], {
    ...(uid && { uid }),
    ...(gid && { gid }),
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

/** The parent of a temporary data folder: open to all users, or closed to all but its owner. */
export async function temporaryFolder(mode: 0o711 | 0o700 = 0o711): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-embedded-')))
  await chmod(folder, mode)
  return folder
}

/** Kills what still runs on the data folder and deletes it, wherever its parts are. */
export async function wipe(folder: string, dataDir: string): Promise<void> {
  const record = await findRecord(dataDir).catch(() => undefined)
  if (record) {
    const pid = await serverPid(join(record.home, 'cluster'))
    if (pid) process.kill(pid, 'SIGKILL')
    await rm(record.socket, { recursive: true, force: true })
    await rm(record.home, { recursive: true, force: true, maxRetries: 5 })
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}

export async function serverPid(cluster: string): Promise<number | undefined> {
  return (await findServer(cluster))?.pid
}

/** Kills the server as the kernel does when memory runs out; resolves when it is dead. */
export async function killServer(cluster: string): Promise<void> {
  const pid = (await serverPid(cluster))!
  process.kill(pid, 'SIGKILL')
  await until(async () => (await serverPid(cluster)) !== pid)
}

/** The system's user number of a process. */
export async function userOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])
}

/** Resolves when the condition holds; if it never does, the test's own time limit ends the wait. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(2)
}

/**
 * A copy of the binaries' package without the links between its libraries, as npm unpacks it under
 * a umask of 077. It has its own version, so that no copy of it can exist yet.
 */
export async function copyPackage(native: string, to: string): Promise<string> {
  await cp(dirname(native), to, { recursive: true, filter: async (file) => !file.endsWith('.a') })
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[]
  for (const { target } of links) await rm(join(to, target), { force: true })
  const manifest = await readFile(join(to, 'package.json'), 'utf8')
  await writeFile(join(to, 'package.json'), manifest.replace(/"version": "[^"]*/, `$&-test-${process.pid}`))
  await chmod(join(to, 'native', 'lib'), 0o700)
  return join(to, 'native')
}

/** Gives a folder to the ordinary user. */
export async function giveAway(folder: string): Promise<void> {
  const { uid, gid } = ordinaryUser
  if (uid !== undefined) await chown(folder, uid, gid)
}
