/**
 * Finds, starts and stops the running server.
 *
 * PostgreSQL writes `postmaster.pid` in the cluster: line 1 is the process, line 8 its state.
 * The file remains after a kill, so the process is checked as well. Only the holder of the
 * turn does any of this (locks.ts).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { constants, open, readFile, readlink, realpath, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ifThere } from '../../values/if-there.ts'
import { type Account, runAs, startingAs } from './account.ts'
import { type EmbeddedFailure, failureIn, failures } from './failure.ts'

export interface ServerFiles {
  readonly cluster: string
  readonly log: string
}

const pollMilliseconds = 5
// A killed server stays a zombie until process 1 reaps it, and PostgreSQL takes a zombie
// for a living server. Up to 15 s were seen in containers.
const zombieMilliseconds = 20_000
const recoveryMilliseconds = 600_000
const stopMilliseconds = 60_000
const logBytes = 16 * 1024 * 1024

// Root does not follow a link that an ordinary owner of the folder put there.
const appendOnly = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW

interface Postmaster {
  readonly pid: number
  /** `starting`, `stopping`, `ready`, or '' in the first moments. */
  readonly state: string
}

/** The living server of this cluster, or undefined. */
export async function findServer(cluster: string): Promise<Postmaster | undefined> {
  const lines = (await readPidFile(cluster)).split('\n')
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 1 || (await identify(pid, cluster)) !== 'server') return undefined
  return { pid, state: lines[7]?.trim() ?? '' }
}

const readPidFile = async (cluster: string): Promise<string> =>
  (await ifThere(readFile(join(cluster, 'postmaster.pid'), 'utf8'))) ?? ''

/** What the process id belongs to: after the server was killed, another program may have it. */
async function identify(pid: number, cluster: string): Promise<'server' | 'other' | 'gone'> {
  if (!exists(pid)) return 'gone'
  try {
    // PostgreSQL works inside its cluster's folder. For a zombie, readlink answers ENOENT.
    return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(cluster)) ? 'server' : 'other'
  } catch (error) {
    if (process.platform === 'linux' && (error as NodeJS.ErrnoException).code !== 'EACCES') return 'gone'
    // Root in a container may not read the link (CAP_SYS_PTRACE), and not every system has /proc.
    const command = await commandOf(pid)
    if (command === '') return 'gone'
    return command.includes(cluster) ? 'server' : 'other'
  }
}

async function commandOf(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return (await runAs(undefined, '/bin/ps', ['-ww', '-o', 'command=', '-p', String(pid)])).output.trim()
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Waits for a server that is on its way up or down; true when one is ready. */
export async function awaitSettled(cluster: string): Promise<boolean> {
  for (
    const until = performance.now() + recoveryMilliseconds;
    performance.now() < until;
    await pause(pollMilliseconds)
  ) {
    const server = await findServer(cluster)
    if (!server) return false
    if (server.state === 'ready') return true
  }
  throw failures.start('it has been starting or stopping for ten minutes', join(cluster, '..', 'server.log'))
}

export interface Start {
  readonly postgres: string
  readonly files: ServerFiles
  readonly account: Account | undefined
  readonly port: number
  readonly socket: string
  readonly settings: Readonly<Record<string, string>>
  /** Called when the server's process runs. */
  readonly onWait: () => void
}

/** Starts the server; answers `port_taken` when its port is in use. */
export async function startServer(start: Start): Promise<'ready' | 'port_taken'> {
  await forgetStranger(start.files.cluster)
  for (const until = performance.now() + zombieMilliseconds; ; await pause(100)) {
    const said = await attempt(start)
    if (said === undefined) return 'ready'
    if (/Address already in use|\.s\.PGSQL\.\d+\.lock" already exists/.test(said)) return 'port_taken'
    const isGhost = /postmaster\.pid" already exists|pre-existing shared memory block/.test(said)
    if (!isGhost || performance.now() > until) throw await failed(said, start.files)
  }
}

async function failed(said: string, { cluster, log }: ServerFiles): Promise<EmbeddedFailure> {
  // On a full disk, the log may lack even the message about it.
  if (said === '' && (await statfs(cluster)).bavail === 0) return failures.space(cluster)
  return failureIn(said, cluster, (gravest) => failures.start(gravest, log))
}

/**
 * Removes a postmaster.pid whose number now belongs to another program: PostgreSQL would take that
 * program for a running server. That happens after a restart of the machine or container.
 */
async function forgetStranger(cluster: string): Promise<void> {
  const pid = Number((await readPidFile(cluster)).split('\n')[0])
  if (pid > 1 && (await identify(pid, cluster)) === 'other') await rm(join(cluster, 'postmaster.pid'), { force: true })
}

/** One attempt. Returns undefined when the server is ready, or what it logged if it ended. */
async function attempt(start: Start): Promise<string | undefined> {
  const { cluster, log } = start.files
  await turnLog(log)
  const file = await open(log, appendOnly, 0o600)
  try {
    const from = (await file.stat()).size
    const child = spawn(start.postgres, argumentsOf(start), {
      ...startingAs(start.account),
      stdio: ['ignore', file.fd, file.fd],
    })
    start.onWait()
    const ready = await readyOrEnded(child, cluster)
    child.unref()
    return ready ? undefined : (await readFile(log)).subarray(from).toString('utf8')
  } finally {
    await file.close()
  }
}

function argumentsOf({ files, port, socket, settings }: Start): string[] {
  const here = { port: String(port), unix_socket_directories: listed(socket), ...settings }
  return ['-D', files.cluster, ...Object.entries(here).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

/** A folder as the only member of PostgreSQL's list of folders, even with a comma in its name. */
const listed = (folder: string): string => `"${folder.replaceAll('"', '""')}"`

async function readyOrEnded(child: ChildProcess, cluster: string): Promise<boolean> {
  let ended = false
  let refused: Error | undefined
  child.once('exit', () => (ended = true))
  child.once('error', (error) => (refused = error))
  for (
    const until = performance.now() + recoveryMilliseconds;
    !ended && performance.now() < until;
    await pause(pollMilliseconds)
  ) {
    if (refused) throw failures.start(refused.message, join(cluster, '..', 'server.log'))
    const [pid, , , , , , , state] = (await readPidFile(cluster)).split('\n')
    if (Number(pid) === child.pid && state?.trim() === 'ready') return true
  }
  return false
}

async function turnLog(log: string): Promise<void> {
  const size = await stat(log).then(
    (found) => found.size,
    () => 0,
  )
  if (size > logBytes) await rename(log, `${log}.1`)
}

/** Stops the server cleanly, ending its sessions (what `pg_ctl stop -m fast` does, without its pauses). */
export async function stopServer(cluster: string): Promise<void> {
  const server = await findServer(cluster)
  if (!server) return
  process.kill(server.pid, 'SIGINT')
  for (const until = performance.now() + stopMilliseconds; performance.now() < until; await pause(pollMilliseconds)) {
    if ((await readPidFile(cluster)) === '' || !(await findServer(cluster))) return
  }
}
