/**
 * Restores a backup into an empty folder.
 *
 *    all places empty? ─▶ head ─▶ entries, under other names ─▶ end agrees? ─▶ own names ─▶ postgres.json ─▶ first start
 *
 * Until `postgres.json` is there, the folder holds no installation. If anything fails, all that was made is removed. A
 * killed restore leaves a folder that is not empty, which the next one refuses.
 */
import { randomUUID } from 'node:crypto'
import { chown, type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { z } from 'zod'
import type { Config } from '../kernel/config/config.ts'
import { type Account, serverAccount } from '../kernel/database/embedded/account.ts'
import { majorVersion } from '../kernel/database/embedded/binaries.ts'
import {
  type ClusterRecord,
  clusterOf,
  draftRecord,
  makePrivate,
  saveRecord,
} from '../kernel/database/embedded/places.ts'
import { findFreePort } from '../kernel/database/embedded/port.ts'
import { holdEmbedded } from '../kernel/database/embedded.ts'
import { makeFolder } from '../kernel/values/folder.ts'
import { ifThere } from '../kernel/values/if-there.ts'
import { readTar, type TarEntry, TarFault } from '../kernel/values/tar.ts'
import { syncFolder } from '../kernel/values/write-whole.ts'
import {
  clusterName,
  End,
  endName,
  foldersOf,
  Head,
  headName,
  keyringName,
  Logins,
  ledgerName,
  loginsName,
  machine,
  openTally,
  SnapshotRefused,
} from './archive.ts'

export type Restored = Head & End

/** What an archive says of itself in JSON is no longer than this. */
const shortBytes = 64 * 1024

/** Restores the archive into the places of this configuration. Throws a SnapshotRefused, and leaves nothing then. */
export async function restoreSnapshot(
  config: Config,
  archive: Readable,
  tell: (line: string) => void,
): Promise<Restored> {
  await requireEmpty(config)
  const undo: Undo = []
  const unpacked = createGunzip()
  const passing = pipeline(archive, unpacked).catch(() => {}) // the reader of `unpacked` meets the same error
  try {
    const restored = await unpack(config, readTar(unpacked), undo, tell)
    await passing
    return restored
  } catch (error) {
    unpacked.destroy()
    await passing
    for (const step of undo.reverse()) await step().catch(() => {})
    throw refusalOf(error)
  }
}

async function requireEmpty(config: Config): Promise<void> {
  for (const place of [config.dataDir, ...Object.values(foldersOf(config))]) {
    const found = await ifThere(readdir(place))
    if (found && found.length > 0)
      throw new SnapshotRefused(
        `${place} is not empty.`,
        'A backup is restored into an empty folder: name another one with SVC_DATA_DIR.',
      )
  }
  for (const place of [config.keyringFile, config.ledgerFile]) {
    const found = await ifThere(open(place, 'r'))
    await found?.close()
    if (found) throw new SnapshotRefused(`${place} is there already.`, 'Move it away; nothing is replaced.')
  }
}

const damaged = (how: string) =>
  new SnapshotRefused(
    `The archive is damaged: ${how}. Nothing was restored.`,
    'It was cut off or changed after it was written; take another copy of it, or another backup.',
  )

function refusalOf(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'Z_BUF_ERROR') return damaged('it ends too early')
  if (code?.startsWith('Z_')) return damaged((error as Error).message)
  return error instanceof TarFault ? damaged(error.message) : error
}

/** Steps that take back what was made, oldest first. */
type Undo = (() => Promise<unknown>)[]

async function unpack(
  config: Config,
  entries: AsyncGenerator<TarEntry>,
  undo: Undo,
  tell: (line: string) => void,
): Promise<Restored> {
  const tally = openTally()
  const head = await readHead(entries, tally)
  // The head may have been waited for, such as for a passphrase, and only what we make may be taken back.
  await requireEmpty(config)
  const account = await serverAccount()
  const made = makeFolder(config.dataDir, account ? 0o711 : 0o700)
  undo.push(() => emptyAgain(config.dataDir, made))
  const draft = await draftRecord(config.dataDir, account, await findFreePort())
  undo.push(() => rm(draft.home, { recursive: true, force: true }))
  const places = placesFor(config, draft, account)
  for (const { at, aside } of places.files.values())
    undo.push(() => Promise.all([at, aside].map((path) => rm(path, { force: true }))))
  for (const at of Object.values(foldersOf(config))) {
    const wasThere = (await ifThere(stat(at))) !== undefined
    undo.push(() => emptyAgain(at, wasThere ? undefined : at))
  }
  const [record, end] = await placeAll(entries, places, draft, tally, tell)
  for (const { at, aside } of places.files.values()) await nameWhole(aside, at)
  await rename(places.cluster, clusterOf(record))
  await saveRecord(config.dataDir, { ...record, created: true })
  tell('database')
  const held = await holdEmbedded(config.dataDir) // reads the log; its failure is told here
  await held.release()
  return { ...head, ...end }
}

/** A folder that we made goes with its parents that we made; another one stays, empty. */
async function emptyAgain(folder: string, made: string | undefined): Promise<void> {
  if (made !== undefined) return rm(made, { recursive: true, force: true })
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true })
}

type Tally = ReturnType<typeof openTally>

async function readHead(entries: AsyncGenerator<TarEntry>, tally: Tally): Promise<Head> {
  const first = await entries.next().catch((error: unknown) => {
    // No gzip, no tar: most probably another file was named.
    if ((error as NodeJS.ErrnoException).code === 'Z_DATA_ERROR' || error instanceof TarFault) return undefined
    throw error
  })
  const said = first?.done === false && first.value.name === headName ? await shortText(first.value, tally) : undefined
  if (said === undefined)
    throw new SnapshotRefused('This is not an archive of `svc backup create`.', 'Nothing was restored.')
  const { format } = parsed(z.looseObject({ format: z.unknown() }), said)
  if (format !== 1)
    throw new SnapshotRefused(
      `The archive has the format ${String(format)}, which this release does not read.`,
      'Restore it with the release that made it, or a newer one.',
    )
  const head = parsed(Head, said)
  if (head.postgresql !== majorVersion)
    throw new SnapshotRefused(
      `The archive has a database of PostgreSQL ${head.postgresql}, and this release brings ${majorVersion}.`,
      `Restore it with svc ${head.release}.`,
    )
  if (head.machine !== machine)
    throw new SnapshotRefused(
      `The archive is from ${head.machine}, and this is ${machine}.`,
      'Restore it on a machine of the same kind.',
    )
  return head
}

async function shortText(entry: TarEntry, tally?: Tally): Promise<string> {
  if (entry.size > shortBytes) throw new TarFault(`${entry.name} is too long`)
  tally?.head(entry)
  const parts: Buffer[] = []
  for await (const part of entry.content) {
    tally?.content(part)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** By their names in the archive. Maps, because an archive may name what every object has, such as `constructor`. */
interface Places {
  readonly folders: ReadonlyMap<string, { readonly at: string; readonly account: Account | undefined }>
  readonly files: ReadonlyMap<string, { readonly at: string; readonly aside: string }>
  /** The cluster until all of it is there. */
  readonly cluster: string
}

function placesFor(config: Config, { home }: ClusterRecord, account: Account | undefined): Places {
  const cluster = join(home, 'cluster.restoring')
  const aside = (at: string) => ({ at, aside: `${at}.${randomUUID()}.partial` })
  const folders = Object.entries(foldersOf(config)).map(([name, at]) => [name, { at, account: undefined }] as const)
  return {
    cluster,
    folders: new Map([...folders, [clusterName, { at: cluster, account }]]),
    files: new Map([
      [keyringName, aside(config.keyringFile)],
      [ledgerName, aside(config.ledgerFile)],
    ]),
  }
}

/** Puts all entries in their places; answers once the end agrees with what came before. */
async function placeAll(
  entries: AsyncGenerator<TarEntry>,
  places: Places,
  draft: ClusterRecord,
  tally: Tally,
  tell: (line: string) => void,
): Promise<[ClusterRecord, End]> {
  let record: ClusterRecord | undefined
  let end: End | undefined
  let told = ''
  for await (const entry of entries) {
    if (end) throw new TarFault('something stands behind its end')
    const top = entry.name.split('/', 1)[0] ?? ''
    if (top !== told && places.folders.has(top)) tell(top)
    told = top
    if (entry.name === loginsName) record = { ...draft, ...parsed(Logins, await shortText(entry, tally)) }
    else if (entry.name === endName) end = agreed(tally.counted().sha256, parsed(End, await shortText(entry)))
    else await place(entry, places, tally)
  }
  if (!end || !record) throw new TarFault('its end is missing')
  return [record, end]
}

function parsed<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    throw new TarFault('what it says of itself cannot be read')
  }
}

function agreed(sha256: string, said: End): End {
  if (sha256 !== said.sha256) throw new TarFault('its content is not what was written')
  return said
}

async function place(entry: TarEntry, { folders, files }: Places, tally: Tally): Promise<void> {
  const [top = '', ...inside] = entry.name.split('/')
  const isOdd = inside.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))
  const folder = folders.get(top)
  const file = files.get(entry.name)
  if (isOdd || (!folder && !file)) throw new TarFault(`it has an entry of another kind, ${JSON.stringify(entry.name)}`)
  tally.head(entry)
  if (file) return writeFile(file.aside, entry, tally, undefined)
  const path = join(folder?.at ?? '', ...inside)
  if (entry.isFolder) return makePrivate(path, folder?.account)
  return writeFile(path, entry, tally, folder?.account)
}

async function writeFile(
  path: string,
  { content }: TarEntry,
  tally: Tally,
  account: Account | undefined,
): Promise<void> {
  if (!account) makeFolder(dirname(path), 0o700)
  const file: FileHandle = await open(path, 'wx', 0o600)
  try {
    for await (const part of content) {
      tally.content(part)
      await file.writeFile(part) // from where the last one ended
    }
    // PostgreSQL syncs the whole cluster itself when it starts from a copy.
    if (!account) await file.sync()
  } finally {
    await file.close()
  }
  if (account) await chown(path, account.uid, account.gid)
}

/** An installation without obligations has no ledger. */
async function nameWhole(aside: string, at: string): Promise<void> {
  if (await ifThere(stat(aside))) await rename(aside, at).then(() => syncFolder(dirname(at)))
}
