/**
 * Sends the bytes of files to a target, each content once for all archives of its workspace.
 *
 *    store ──read and hashed──▶ spool ──the hash is right──▶ tenants/<tenant>/media/<name of the form>
 *
 * A file that the target has with this name and size is not sent again, so an export goes on where a killed one stopped.
 * A file is hashed before the target sees any of it, so no other bytes come under its name. The spool holds one file for each
 * that is sent at the time, and memory one chunk. A file that is missing or differs fails the job, when all others have been
 * looked at, so that one run names every one.
 *
 * Bytes of a file that is deleted while the job runs are still there (`SVC_MEDIA_KEEP_DAYS`).
 *
 * Spec: Admin: workspaces, rule 4; items 8; docs/decisions/0275.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { SystemActor } from '../../kernel/values/actor.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { isMissing, mediaStore } from '../media/store.ts'
import type { ArchiveForm } from './archive-form.ts'
import { type ExportManifest, limits, mediaPath } from './archive-format.ts'
import { inLanes } from './lanes.ts'
import { type ListedMedia, readMediaList } from './media-list.ts'
import { type Store, StoreFailure } from './store.ts'

/** Files of the workspace have no bytes, or others than they had. */
export class MediaDamaged extends Error {
  override readonly name = 'MediaDamaged'
  readonly code = 'media.damaged'
  /** At most a hundred. */
  readonly ids: readonly string[]
  constructor(message: string, ids: readonly string[]) {
    super(message)
    this.ids = ids
  }
}

interface Sending {
  readonly installation: Installation
  readonly actor: SystemActor
  readonly tenantId: string
  readonly form: ArchiveForm
  readonly spool: string
  /** The archive's folder at the target. */
  readonly path: string
  readonly signal: AbortSignal
  readonly onBytes: (bytes: number) => void
  /** Told each content that the archive has, with the SHA-256 that it was found to have. */
  readonly onSent?: (sent: SentMedia) => Promise<void>
}

export interface SentMedia {
  readonly sha256: string
  readonly bytes: number
  /** Below `media`. */
  readonly name: string
  /** Null: it is that of every file with this SHA-256. */
  readonly media_id: string | null
}

type Unexamined = NonNullable<ExportManifest['media']['unexamined']>
type Damage = { readonly mediaId: string; readonly what: 'is missing' | 'differs' }

/** The damaged files that the error names. */
const mostNamed = 100

/** Answers the files that nobody had examined. Throws MediaDamaged, StoreFailure. */
export async function sendMedia(store: Store, sending: Sending): Promise<Unexamined> {
  const unexamined: Unexamined = []
  const damages: Damage[] = []
  let damaged = 0
  await inLanes(store.width, readMediaList(sending.spool), async (media, lane) => {
    sending.signal.throwIfAborted()
    const sent = await sendOne(store, sending, media, lane)
    sending.onBytes(media.bytes)
    if (typeof sent === 'string') {
      const isExamined = media.sha256 !== undefined
      await sending.onSent?.({
        sha256: sent,
        bytes: media.bytes,
        name: sending.form.mediaName(sent),
        media_id: isExamined ? null : media.mediaId,
      })
      if (isExamined) return
      if (unexamined.length === limits.unexamined)
        throw new MediaDamaged('too many files wait for their examination', [])
      unexamined.push({ media_id: media.mediaId, bytes: media.bytes, sha256: sent })
    } else if (sent) {
      damaged += 1
      if (damages.length < mostNamed) damages.push(sent)
    }
  })
  if (damaged > 0) {
    const named = damages.map(({ mediaId, what }) => `${mediaId} ${what}`).join(', ')
    const ids = damages.map(({ mediaId }) => mediaId)
    throw new MediaDamaged(`${damaged} files of the workspace ${sending.tenantId} cannot be read: ${named}`, ids)
  }
  return unexamined
}

/** Answers its SHA-256, its damage, or nothing where it has been refused meanwhile. */
async function sendOne(
  store: Store,
  sending: Sending,
  media: ListedMedia,
  lane: number,
): Promise<string | Damage | undefined> {
  const { tenantId, spool, path, form } = sending
  const storedBytes = form.storedSize(media.bytes)
  const placeOf = (sha256: string) => mediaPath(tenantId, form.mediaName(sha256))
  if (media.sha256 !== undefined && (await store.sizeOf(placeOf(media.sha256))) === storedBytes) return media.sha256
  const file = join(spool, `media-${lane}`)
  try {
    const found = await spooled(sending, media, file)
    if (typeof found !== 'string') return (await isRefusedSince(sending, media)) ? undefined : found
    const to = placeOf(found)
    if (media.sha256 !== undefined || (await store.sizeOf(to)) !== storedBytes) {
      await store.put(to, file, `${path}/media-${lane}`)
      if ((await store.sizeOf(to)) !== storedBytes) throw new StoreFailure('failed')
      failpoint('export.media_sent')
    }
    return found
  } finally {
    await rm(file, { force: true })
  }
}

/** Copies a file of the store into the spool, in the archive's form, and answers the SHA-256 of its content. */
async function spooled(
  { installation, tenantId, signal, form }: Sending,
  { mediaId, bytes, sha256 }: ListedMedia,
  path: string,
): Promise<string | Damage> {
  const source = await mediaStore(installation)
    .read({ tenantId, mediaId })
    .catch((error: unknown) => (isMissing(error) ? undefined : Promise.reject(error)))
  if (!source) return { mediaId, what: 'is missing' }
  const hash = createHash('sha256')
  let length = 0
  async function* read() {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      signal.throwIfAborted()
      hash.update(chunk)
      length += chunk.byteLength
      yield chunk
    }
  }
  const file = await open(path, 'w', 0o600)
  try {
    for await (const chunk of form.stored(read())) await writeWhole(file, chunk)
  } finally {
    source.destroy()
    await file.close()
  }
  const found = hash.digest('hex')
  return length === bytes && (sha256 === undefined || sha256 === found) ? found : { mediaId, what: 'differs' }
}

async function writeWhole(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.byteLength; ) at += (await file.write(bytes, at)).bytesWritten
}

/** The examination that followed may have refused a file, whose bytes then belong to nobody. */
const isRefusedSince = ({ installation, actor, tenantId }: Sending, { mediaId, sha256 }: ListedMedia) =>
  sha256 === undefined &&
  installation.transaction(actor, { tenantId, readOnly: true }, async ({ tx }) => {
    const [row] = await tx.last<{ state: string }[]>`
      select state from media where tenant_id = ${tenantId} and id = ${mediaId}`
    return row === undefined || row.state === 'REFUSED'
  })
