/**
 * SFTP: files below a folder of a server, over one connection per use.
 *
 * A file is sent aside, with several requests under way at once (85 MB/s where one at a
 * time makes 10), then renamed. Links are neither listed nor read. What the server calls
 * a general failure while writing is taken for a full disk: SFTP has no code for that.
 *
 * Spec: decisions 4, A backup target.
 */
import type { Readable } from 'node:stream'
import type Client from 'ssh2-sftp-client'
import type { Egress } from '../../egress/client.ts'
import { connectSftp, HostKeyChanged } from '../../egress/sftp.ts'
import { isRelativePath, readHostKey } from '../config.ts'
import {
  type FailureReason,
  type OpenedTarget,
  type Store,
  type StoredFile,
  StoreFailure,
  storeFailure,
} from '../store.ts'

const defaultPort = 22
const partial = '.partial'

export async function openSftp(egress: Egress, { config, secrets }: OpenedTarget): Promise<Store> {
  const client = await guarded('unreachable', () =>
    connectSftp(egress, {
      host: config.host ?? '',
      port: config.port ?? defaultPort,
      username: config.username ?? '',
      password: secrets.password,
      privateKey: secrets.private_key,
      hostKey: readHostKey(config.host_key ?? '') ?? Buffer.alloc(0),
    }),
  )
  const root = config.path ?? '.'
  const at = (path: string) => {
    if (!isRelativePath(path)) throw new StoreFailure('refused')
    return `${root}/${path}`
  }
  return {
    width: 1, // the client's calls share one set of listeners
    put: (path, file) => guarded('full', () => put(client, at(path), file)),
    get: (path) => guarded('failed', () => get(client, at(path))),
    list: (folder) => list(client, at(folder), folder),
    remove: (folder) =>
      guarded('failed', async () => {
        if (await client.exists(at(folder))) await client.rmdir(at(folder), true)
      }),
    close: async () => {
      await client.end().catch(() => {})
    },
  }
}

async function put(client: Client, path: string, file: string): Promise<void> {
  const folder = path.slice(0, path.lastIndexOf('/'))
  if (!(await client.exists(folder))) await client.mkdir(folder, true)
  const aside = `${path}${partial}`
  try {
    await client.fastPut(file, aside)
    // posixRename replaces; the older rename does not.
    await client.posixRename(aside, path)
  } catch (error) {
    await client.delete(aside, true).catch(() => {})
    throw error
  }
}

async function get(client: Client, path: string): Promise<Readable> {
  const type = await client.exists(path) // asks without following a link
  if (type !== '-') throw new StoreFailure(type === false ? 'missing' : 'refused')
  const stream = client.createReadStream(path) as unknown as Readable
  // Its own last request fails when the connection ends first, and nobody listens any more.
  stream.on('error', () => {})
  return stream
}

async function* list(client: Client, path: string, folder: string): AsyncGenerator<StoredFile> {
  if ((await guarded('failed', () => client.exists(path))) !== 'd') return
  for (const { name, type, size } of await guarded('failed', () => client.list(path))) {
    if (!isRelativePath(name) || name.endsWith(partial)) continue
    if (type === 'd') yield* list(client, `${path}/${name}`, `${folder}/${name}`)
    else if (type === '-') yield { path: `${folder}/${name}`, sizeBytes: size }
  }
}

/** `otherwise`: what a failure means that says nothing of itself. */
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
