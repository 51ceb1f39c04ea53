/**
 * A PostgreSQL of the test's own, for tests that kill it or terminate its sessions.
 *
 * It listens on a Unix socket only and keeps its data in a folder under the system's
 * temporary one. Started by root it runs as `postgres` or `nobody`: PostgreSQL refuses root.
 * The server is the direct child of this process, so that SIGKILL reaches the postmaster.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { queueNames } from '../../../src/core/app/jobs.ts'
import type { DatabaseAddress } from '../../../src/core/kernel/database/address.ts'
import { serverAccount } from '../../../src/core/kernel/database/embedded/account.ts'
import { runnableFolder } from '../../../src/core/kernel/database/embedded/binaries.ts'
import { migrate } from '../../../src/core/kernel/database/migrate.ts'

export interface OwnCluster {
  /** The address of database `postgres` for this login; there are no passwords. */
  address(user: string): DatabaseAddress
  /** Makes the owner's and the daemon's login, as an operator does on a server of his own, and migrates. */
  migrate(): Promise<void>
  /** A superuser's connections, for schema, faults and oracles. */
  readonly superuser: postgres.Sql
  /** SIGKILL, and back again after crash recovery. */
  killAndRestart(): Promise<void>
  kill(): Promise<void>
  /** Stops it, and starts it as a standby that has no primary: it answers reads and takes no change. */
  becomeStandby(): Promise<void>
  /** A standby that follows this server, from a copy that is made while it is stopped. `settings`: of the standby. */
  standby(settings?: Record<string, string>): Promise<OwnCluster>
  start(): Promise<void>
  /** SIGSTOP for the server and all its sessions: what a stalled disk or a suspended machine looks like. No byte comes, and no socket closes. */
  freeze(): Promise<void>
  /** SIGCONT for all of them. */
  thaw(): void
  /** Whether the server has ended, by itself or because it was killed. */
  hasEnded(): boolean
  remove(): Promise<void>
}

/** Where the server's user can run them, as the product finds it: below a closed folder that is a copy. */
const binaries = join(
  await runnableFolder(await serverAccount(), join(tmpdir(), 'svc-binaries'), () => undefined),
  'bin',
)

export interface OwnClusterOptions {
  /** Where its folder is made; the system's temporary one where absent. */
  readonly below?: string
  /** Added to the server's environment. */
  readonly env?: NodeJS.ProcessEnv
  /** Size of a segment of the log, in MiB; 16 where absent. */
  readonly segmentMebibytes?: number
  /** The stopped server that it is a copy of, and that it follows. */
  readonly follows?: { readonly data: string; readonly folder: string }
}

/** Makes a cluster and starts it. `settings` are lines of postgresql.conf, by name. */
export async function ownCluster(
  settings: Record<string, string> = {},
  { below = tmpdir(), env = {}, segmentMebibytes = 16, follows }: OwnClusterOptions = {},
): Promise<OwnCluster> {
  const account = unprivilegedAccount()
  const folder = mkdtempSync(join(below, 'svc-pg-'))
  chmodSync(folder, 0o700)
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid)
  const data = join(folder, 'data')
  if (follows) copyCluster(follows.data, data, account)
  else makeCluster(data, account, segmentMebibytes)

  let server: ChildProcess | undefined
  process.on('exit', () => server?.kill('SIGKILL'))

  async function start(): Promise<void> {
    const log = openSync(join(folder, 'log'), 'a')
    const following = follows
      ? { primary_conninfo: `host=${follows.folder} user=postgres`, wal_retrieve_retry_interval: '200ms' }
      : {}
    const options = { ...settings, ...following, listen_addresses: '', unix_socket_directories: folder }
    const flags = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    // A lock left by the server we killed can stand for a moment: its last sessions still have to go.
    for (let attempt = 0; attempt < 50; attempt += 1) {
      server = spawn(join(binaries, 'postgres'), ['-D', data, ...flags], {
        ...account,
        env: { ...process.env, ...env },
        stdio: ['ignore', log, log],
      })
      if (await isReady(server, data)) return
      await pause(200)
    }
    throw new Error(`PostgreSQL does not start: ${readFileSync(join(folder, 'log'), 'utf8').slice(-2_000)}`)
  }

  async function stop(signal: NodeJS.Signals): Promise<void> {
    const stopped = server
    if (!stopped || stopped.exitCode !== null || stopped.signalCode !== null) return
    const gone = new Promise((resolve) => stopped.once('exit', resolve))
    stopped.kill(signal)
    await gone
  }

  /** The server first, so that no session is added behind our back. Answers whom it reached. */
  function signalAll(signal: 'SIGSTOP' | 'SIGCONT'): readonly number[] {
    const pid = server?.pid
    if (pid === undefined) throw new Error('the server does not run')
    process.kill(pid, signal)
    const children = childrenOf(pid)
    for (const child of children) {
      try {
        process.kill(child, signal)
      } catch {
        // ended in this moment
      }
    }
    return [pid, ...children]
  }

  /** A signal that was sent has not yet stopped anybody. */
  async function freeze(): Promise<void> {
    const stopped = signalAll('SIGSTOP')
    while (!stopped.every(isStopped)) await pause(1)
  }

  const address = (user: string): DatabaseAddress => ({
    host: folder,
    port: 5432,
    database: 'postgres',
    user,
    password: undefined,
    ssl: false,
  })
  await start()
  const superuser = postgres({ ...address('postgres'), password: '', max: 2, onnotice: () => {}, backoff: () => 0.05 })

  async function migrateAll(): Promise<void> {
    for (const statement of logins) await superuser.unsafe(statement)
    await migrate(address('svc_owner'), address('svc_daemon'), queueNames)
  }

  return {
    address,
    migrate: migrateAll,
    superuser,
    start,
    hasEnded: () => server === undefined || server.exitCode !== null || server.signalCode !== null,
    freeze,
    thaw: () => void signalAll('SIGCONT'),
    kill: () => stop('SIGKILL'),
    becomeStandby: async () => {
      await stop('SIGINT')
      writeFileSync(join(data, 'standby.signal'), '')
      await start()
    },
    standby: async (its = {}) => {
      await stop('SIGINT')
      const making = ownCluster(its, { below, env, follows: { data, folder } })
      await start()
      const made = await making
      const isFollowing = () => made.superuser`select from pg_stat_wal_receiver where status = 'streaming'`
      while ((await isFollowing()).length === 0) await pause(50)
      return made
    },
    killAndRestart: async () => {
      await stop('SIGKILL')
      await start()
    },
    remove: async () => {
      await superuser.end({ timeout: 1 })
      await stop('SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const logins = [
  'create role svc_owner login createrole',
  'create role svc_daemon login noinherit',
  'grant svc_daemon to svc_owner with admin true, inherit false, set false',
  "alter role svc_owner set createrole_self_grant = 'set'",
  'grant create on database postgres to svc_owner; alter schema public owner to svc_owner',
]

/** Linux only, as are the tests that freeze a server. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

/** Or has ended, and waits for its stopped parent to hear of it. */
const isStopped = (pid: number): boolean => {
  try {
    return /\) [TZ] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return true
  }
}

function makeCluster(data: string, account: object, segmentMebibytes: number): void {
  const how = ['--auth=trust', '--username=postgres', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const { status, stderr } = spawnSync(
    join(binaries, 'initdb'),
    ['-D', data, '--no-sync', '--encoding=UTF8', '--locale=C', `--wal-segsize=${segmentMebibytes}`, ...how],
    { ...account, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`)
}

/** A server that was stopped in order needs no more than its files. */
function copyCluster(from: string, to: string, account: object): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { ...account, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the copy failed: ${stderr}`)
  writeFileSync(join(to, 'standby.signal'), '')
}

/** Waits until the server says it is ready (the eighth line of its pid file), or has exited. */
async function isReady(server: ChildProcess, data: string): Promise<boolean> {
  for (;;) {
    if (server.exitCode !== null || server.signalCode !== null) return false
    const [pid, , , , , , , status] = pidFile(data)
    if (pid === String(server.pid) && status?.trim() === 'ready') return true
    await pause(10)
  }
}

function pidFile(data: string): string[] {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return []
  }
}

function unprivilegedAccount(): { uid: number; gid: number } | { uid: undefined } {
  if (process.getuid?.() !== 0) return { uid: undefined }
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const account = accounts.find(([name]) => name === 'postgres') ?? accounts.find(([name]) => name === 'nobody')
  if (!account) throw new Error('PostgreSQL refuses root, and there is no user postgres or nobody')
  return { uid: Number(account[2]), gid: Number(account[3]) }
}
