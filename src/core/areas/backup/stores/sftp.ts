/**
 * SFTP: files below a folder of a server, over one connection per use.
 *
 * A file is sent under a temporary name, with several requests in flight at once (85 MB/s; one at a
 * time makes 10 MB/s), and then renamed. Links are neither listed nor read. A general failure
 * during a write is taken for a full disk, because SFTP has no code for that.
 *
 * The server is not ours and may answer anything. So a folder is read answer by answer, and memory
 * holds one answer at a time. Folders are read no deeper than our own paths go, and up to
 * `mostEntries` entries in all.
 *
 * Spec: decisions 4, A backup target.
 */
import type { Readable } from 'node:stream'
import type Client from 'ssh2-sftp-client'
import type { Egress } from '../../../kernel/egress/client.ts'
import { connectSftp, HostKeyChanged, type SftpConnection } from '../../../kernel/egress/sftp.ts'
import { isRelativePath, readHostKey } from '../config.ts'
import {
  type FailureReason,
  type IsEntered,
  type OpenedTarget,
  type Store,
  type StoredFile,
  StoreFailure,
  storeFailure,
} from '../store.ts'

const defaultPort = 22
const partial = '.partial'
const always = () => true
/** Entries read in one listing; a workspace has some files for each archive. */
const mostEntries = 100_000
/** SSH_FX_EOF: the folder was read to its end. */
const endOfFolder = 1

export async function openSftp(egress: Egress, { config, secrets }: OpenedTarget): Promise<Store> {
  const connection = await guarded('unreachable', () =>
    connectSftp(egress, {
      host: config.host ?? '',
      port: config.port ?? defaultPort,
      username: config.username ?? '',
      password: secrets.password,
      privateKey: secrets.private_key,
      hostKey: readHostKey(config.host_key ?? '') ?? Buffer.alloc(0),
    }),
  )
  const { client } = connection
  const root = config.path ?? '.'
  const at = (path: string) => {
    if (!isRelativePath(path)) throw new StoreFailure('refused')
    return `${root}/${path}`
  }
  return {
    width: 1, // the client's calls share one set of listeners
    put: (path, file, aside = path) => guarded('full', () => put(client, at(path), file, `${at(aside)}${partial}`)),
    sizeOf: (path) => guarded('failed', () => sizeAt(client, at(path))),
    get: (path) => guarded('failed', () => get(client, at(path))),
    list: (folder, isEntered = always) => list(connection, { path: at(folder), folder }, isEntered),
    remove: (folder) =>
      guarded('failed', async () => {
        if (await client.exists(at(folder))) await remove(connection, { path: at(folder), folder })
      }),
    close: () => connection.close(),
  }
}

async function put(client: Client, path: string, file: string, aside: string): Promise<void> {
  for (const folder of new Set([aside, path].map((one) => one.slice(0, one.lastIndexOf('/')))))
    if (!(await client.exists(folder))) await client.mkdir(folder, true)
  try {
    await client.fastPut(file, aside)
    // posixRename replaces; the older rename does not.
    await client.posixRename(aside, path)
  } catch (error) {
    await client.delete(aside, true).catch(() => {})
    throw error
  }
}

async function sizeAt(client: Client, path: string): Promise<number | undefined> {
  const type = await client.exists(path) // asks without following a link
  if (type === false) return undefined
  if (type !== '-') throw new StoreFailure('refused')
  return (await client.stat(path)).size
}

async function get(client: Client, path: string): Promise<Readable> {
  const type = await client.exists(path) // asks without following a link
  if (type !== '-') throw new StoreFailure(type === false ? 'missing' : 'refused')
  const stream = client.createReadStream(path) as unknown as Readable
  // If the connection ends first, the stream's last request fails when nobody listens any more.
  stream.on('error', () => {})
  return stream
}

/** A folder: its path at the server, and its path below the target's root. */
interface Place {
  readonly path: string
  readonly folder: string
}

const below = ({ path, folder }: Place, name: string): Place => ({
  path: `${path}/${name}`,
  folder: `${folder}/${name}`,
})

async function* list(connection: SftpConnection, place: Place, isEntered: IsEntered): AsyncGenerator<StoredFile> {
  if ((await guarded('failed', () => connection.client.exists(place.path))) !== 'd') return
  yield* filesBelow(connection, place, isEntered, { entries: mostEntries })
}

async function* filesBelow(
  connection: SftpConnection,
  place: Place,
  isEntered: IsEntered,
  left: { entries: number },
): AsyncGenerator<StoredFile> {
  for await (const { name, kind, size } of entriesOf(connection, place, left)) {
    const one = below(place, name)
    if (name.endsWith(partial)) continue
    if (kind === 'folder' && isEntered(one.folder)) yield* filesBelow(connection, one, isEntered, left)
    else if (kind === 'file') yield { path: one.folder, sizeBytes: size }
  }
}

/** Removes a folder and what is in it; a link is removed, not followed. */
async function remove(connection: SftpConnection, place: Place, left = { entries: mostEntries }): Promise<void> {
  for await (const { name, kind } of entriesOf(connection, place, left)) {
    const one = below(place, name)
    if (kind === 'folder') await remove(connection, one, left)
    else await connection.client.delete(one.path)
  }
  await connection.client.rmdir(place.path, false)
}

interface Entry {
  readonly name: string
  readonly kind: 'folder' | 'file' | 'other'
  readonly size: number
}

/** The entries of a folder, without names that no path of ours can have. Throws StoreFailure, also at the bound. */
async function* entriesOf(
  { requests }: SftpConnection,
  { path, folder }: Place,
  left: { entries: number },
): AsyncGenerator<Entry> {
  const handle = await guarded('failed', () => answered<Buffer>((done) => requests.opendir(path, done)))
  try {
    for (;;) {
      const some = await guarded('failed', () => readSome(requests, handle))
      if (!some) return
      left.entries -= Math.max(1, some.length)
      if (left.entries < 0) throw new StoreFailure('failed')
      for (const { filename: name, attrs } of some) {
        const kind = attrs.isDirectory() ? 'folder' : attrs.isFile() ? 'file' : 'other'
        if (!name.includes('/') && isRelativePath(`${folder}/${name}`)) yield { name, kind, size: attrs.size }
      }
    }
  } finally {
    requests.close(handle, () => {})
  }
}

/** One answer about a folder; undefined after its end. */
const readSome = (requests: SftpConnection['requests'], handle: Buffer) =>
  answered<Parameters<Parameters<typeof requests.readdir>[1]>[1]>((done) => requests.readdir(handle, done)).catch(
    (error: { readonly code?: unknown }) => {
      if (error.code === endOfFolder) return undefined
      throw error
    },
  )

/** The answer to one request. */
const answered = <T>(ask: (done: (error: Error | undefined, answer: T) => void) => void): Promise<T> =>
  new Promise((resolve, reject) => ask((error, answer) => (error ? reject(error) : resolve(answer))))

/** `otherwise`: the reason of a failure that gives none itself. */
async function guarded<T>(otherwise: FailureReason, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw failureOf(error, otherwise)
  }
}

function failureOf(error: unknown, otherwise: FailureReason): StoreFailure {
  if (error instanceof StoreFailure) return error
  if (error instanceof HostKeyChanged) return new StoreFailure('host_key', error)
  const said = String((error as Error).message)
  if (/authentication methods failed|parse.*privateKey|private key/i.test(said))
    return new StoreFailure('credentials', error)
  if (/permission denied/i.test(said)) return new StoreFailure('read_only', error)
  if (/no such file/i.test(said)) return new StoreFailure('missing', error)
  if (/timed? ?out/i.test(said)) return new StoreFailure('timeout', error)
  return storeFailure(error, otherwise)
}
