/**
 * The places of the server's files.
 *
 *   <data folder>/postgres.json     the record: where the rest is, port, passwords (0600)
 *   <data folder>/postgres.turn     lock, see locks.ts
 *   <data folder>/postgres.hold     lock, see locks.ts
 *   <home>/cluster/                 the database
 *   <home>/server.log
 *   <home>/socket/                  the Unix socket
 *
 * The home is `<data folder>/postgres` if the server's user can reach that folder. Under root
 * it may not, for example below /root: then the home is a folder below /var/lib/svc, and the
 * record points to it.
 */
import { randomBytes } from 'node:crypto'
import { chmod, chown, lstat, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { z } from 'zod'
import { makeFolder } from '../../values/folder.ts'
import { ifThere } from '../../values/if-there.ts'
import { writeWhole } from '../../values/write-whole.ts'
import { type Account, canReach } from './account.ts'
import { failures } from './failure.ts'

const ClusterRecord = z.object({
  format: z.literal(1),
  /** In the file relative to the data folder if it is inside, so that the data folder can be moved. */
  home: z.string().min(1),
  /** False until the database is complete. */
  created: z.boolean(),
  /** Folder of the Unix socket; relative in the file like the home. */
  socket: z.string().min(1),
  port: z.number().int().min(1).max(65_535),
  passwords: z.object({ superuser: z.string(), owner: z.string(), daemon: z.string() }),
})
export type ClusterRecord = z.infer<typeof ClusterRecord>

export const recordFile = (dataDir: string): string => join(dataDir, 'postgres.json')
export const clusterOf = (record: ClusterRecord): string => join(record.home, 'cluster')
export const logOf = (record: ClusterRecord): string => join(record.home, 'server.log')

/** Undefined when there is no database yet. */
export async function findRecord(dataDir: string): Promise<ClusterRecord | undefined> {
  const file = recordFile(dataDir)
  const text = await ifThere(readFile(file, 'utf8'))
  if (text === undefined) return undefined
  try {
    const record = ClusterRecord.parse(JSON.parse(text))
    return { ...record, home: resolve(dataDir, record.home), socket: resolve(dataDir, record.socket) }
  } catch (cause) {
    throw Object.assign(failures.record(file), { cause })
  }
}

/** Replaces the record in one step that outlives a power cut. */
export function saveRecord(dataDir: string, record: ClusterRecord): Promise<void> {
  const written = { ...record, home: portable(dataDir, record.home), socket: portable(dataDir, record.socket) }
  return writeWhole(recordFile(dataDir), `${JSON.stringify(written, null, 2)}\n`)
}

function portable(dataDir: string, path: string): string {
  const inside = relative(dataDir, path)
  return inside.startsWith('..') ? path : inside
}

/** A record for a database that is still to be made, with its home prepared. */
export async function draftRecord(dataDir: string, account: Account | undefined, port: number): Promise<ClusterRecord> {
  const home = await chooseHome(dataDir, account)
  const password = () => randomBytes(24).toString('hex') // hexadecimal: needs no quoting in SQL and URLs
  return {
    format: 1,
    home,
    created: false,
    socket: await chooseSocketFolder(home, account),
    port,
    passwords: { superuser: password(), owner: password(), daemon: password() },
  }
}

async function chooseHome(dataDir: string, account: Account | undefined): Promise<string> {
  const inside = join(dataDir, 'postgres')
  await makeHome(inside, account)
  if (await canReach(account, inside)) return inside
  await rm(inside, { recursive: true })
  const outside = join(await publicFolder(account), `database-${randomBytes(6).toString('hex')}`)
  await makeHome(outside, account)
  return outside
}

/**
 * The home itself stays ours, under root as well. If the server's user owned it, that user could
 * replace the log with a link, and root would write through the link.
 */
async function makeHome(folder: string, account: Account | undefined): Promise<void> {
  makeFolder(folder, 0o700)
  if (account) await chmod(folder, 0o711)
}

/** Makes a folder that only the server's user can access. */
export async function makePrivate(folder: string, account: Account | undefined): Promise<void> {
  makeFolder(folder, 0o700)
  if (account) await chown(folder, account.uid, account.gid)
}

const publicFolders = ['/var/lib/svc', '/var/tmp/svc']

/** A durable folder that root owns, that the server's user can enter, and that no other user can have prepared. */
export async function publicFolder(account: Account | undefined): Promise<string> {
  for (const folder of publicFolders) {
    // The umask may have taken the bits that mkdir was asked for.
    const made = await mkdir(folder, { mode: 0o755 })
      .then(() => chmod(folder, 0o755))
      .catch(() => undefined)
    const found = await lstat(folder).catch(() => made)
    if (found?.isDirectory() && found.uid === 0 && !(found.mode & 0o022) && (await canReach(account, folder)))
      return folder
  }
  throw failures.place(publicFolders)
}

// A socket's path may have 107 bytes on Linux and 103 on macOS.
const socketPathBytes = 103

const isShort = (folder: string): boolean => Buffer.byteLength(`${folder}/.s.PGSQL.65535`) <= socketPathBytes

/** `<home>/socket`, or where that is too long for a socket, a new folder under /run or the like. */
async function chooseSocketFolder(home: string, account: Account | undefined): Promise<string> {
  const inside = join(home, 'socket')
  if (isShort(inside)) {
    await makePrivate(inside, account)
    return inside
  }
  const bases = account ? ['/run', '/tmp'] : [process.env['XDG_RUNTIME_DIR'] ?? tmpdir(), tmpdir(), '/tmp']
  for (const base of bases) {
    const made = isShort(`${base}/svc-XXXXXX`) && (await mkdtemp(join(base, 'svc-')).catch(() => undefined))
    if (!made) continue
    if (account) await chown(made, account.uid, account.gid)
    return made
  }
  throw failures.place(bases)
}

/**
 * The folder for the socket: the recorded one, or another if that one is gone (/run is empty after
 * a restart of the machine) or does not belong to the server's user alone.
 */
export async function socketFolderFor(record: ClusterRecord, account: Account | undefined): Promise<string> {
  const found = await lstat(record.socket).catch(() => undefined)
  const uid = account?.uid ?? process.getuid?.()
  if (found?.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0 && isShort(record.socket))
    return record.socket
  return chooseSocketFolder(record.home, account)
}
