/**
 * The store behind S3: one object for each file, `<prefix>tenants/<tenant>/<media>`, and one for each preview, whose key ends
 * in `.small` or `.medium`.
 *
 *    up to 8 MiB    one PUT
 *    larger         a multipart upload, a part for each 8 MiB: what has come of it, the service itself knows (s3-upload.ts)
 *
 * An object is there whole or not at all, so no other name is needed until it is. Reading is a request for each 2 MiB: a slow
 * reader holds that much memory and no connection, of which a daemon has few. Keys are ids of ours. Every request passes the
 * egress guard. Spec: items 4, Store; docs/decisions/0350.
 */
import { Readable } from 'node:stream'
import type { MediaBucket } from '../../../kernel/config/media-settings.ts'
import type { Egress } from '../../../kernel/egress/client.ts'
import { openS3Client, type S3Client, s3Answered } from '../../../kernel/egress/s3.ts'
import { type FileKey, type MediaStore, nameOf, previewEndings, readName, type StoredMedia } from './media-store.ts'
import { abortUploads, listUploads, type MediaUpload, openPut, openUpload, uploadPartBytes } from './s3-upload.ts'

/** For one request with its bodies, the largest of which is a part of 8 MiB. */
const requestMs = 60_000
/** Shorter than the claim of a file (upload.ts): an object that comes late never replaces one that came behind it. */
const putMs = 20_000
const readBytes = 2 * 1024 * 1024
const pageSize = 1000
/** Removals that run at once, and for how long. */
const width = 4
const removingMs = 3_000

export function s3Store(egress: Egress, bucket: MediaBucket): MediaStore {
  const client = openS3Client(egress, bucket, requestMs)
  const brief = openS3Client(egress, bucket, putMs)
  const folderOf = (tenantId: string) => `${bucket.prefix}tenants/${tenantId}/`
  const objectOf = (key: FileKey) => `${folderOf(key.tenantId)}${nameOf(key)}`
  return {
    write: (key, { offset, sizeBytes }) =>
      sizeBytes <= uploadPartBytes
        ? Promise.resolve(openPut(brief, objectOf(key), sizeBytes))
        : openUpload(client, objectOf(key), offset, sizeBytes),
    read: (key, range) => read(client, objectOf(key), range),
    async remove(key) {
      const objects = ['', ...Object.values(previewEndings)].map((ending) => `${objectOf(key)}${ending}`)
      await Promise.all(objects.map((object) => removeObject(client, object)))
      for await (const upload of listUploads(client, objectOf(key))) await abortUploads(client, [upload])
    },
    list: (tenantId) => list(client, folderOf(tenantId)),
    removeSome: (tenantId) => removeSome(client, folderOf(tenantId)),
  }
}

/** The first range is read before this resolves, so that what is missing can still be said. */
async function read(client: S3Client, key: string, range?: { readonly from: number; readonly to: number }) {
  const { from, to } = range ?? { from: 0, to: (await sizeOf(client, key)) - 1 }
  const first = from > to ? Buffer.alloc(0) : await readSome(client, key, from, to)
  async function* rest(): AsyncGenerator<Buffer> {
    yield first
    for (let at = from + first.byteLength; at <= to; ) {
      const bytes = await readSome(client, key, at, to)
      at += bytes.byteLength
      yield bytes
    }
  }
  return Readable.from(rest(), { objectMode: true, highWaterMark: 1 })
}

async function readSome(client: S3Client, key: string, from: number, to: number): Promise<Buffer> {
  const behind = Math.min(from + readBytes, to + 1)
  const answer = await client.getObjectRaw(key, false, from, behind).catch(asMissing)
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (bytes.byteLength !== behind - from) throw new Error(`${bytes.byteLength} bytes were answered of ${behind - from}`)
  return bytes
}

const sizeOf = (client: S3Client, key: string): Promise<number> => client.getContentLength(key).catch(asMissing)

function asMissing(error: unknown): never {
  throw s3Answered(error).status === 404
    ? Object.assign(new Error('the bucket has no such object', { cause: error }), { code: 'ENOENT' })
    : error
}

const removeObject = (client: S3Client, key: string): Promise<unknown> =>
  client.deleteObject(key).catch((error: unknown) => {
    if (s3Answered(error).status !== 404) throw error
  })

async function* list(client: S3Client, folder: string): AsyncGenerator<StoredMedia> {
  for await (const { key, sizeBytes } of listObjects(client, folder)) yield stored(key.slice(folder.length), sizeBytes)
  for await (const { key } of listUploads(client, folder))
    yield { mediaId: key.slice(folder.length), sizeBytes: 0, isWhole: false }
}

function stored(name: string, sizeBytes: number): StoredMedia {
  const { mediaId, isPreview } = readName(name)
  return { mediaId, sizeBytes, isWhole: !isPreview }
}

async function* listObjects(
  client: S3Client,
  folder: string,
): AsyncGenerator<{ readonly key: string; readonly sizeBytes: number }> {
  let token: string | undefined
  do {
    const page = await client.listObjectsPaged('/', folder, pageSize, token)
    if (!page) throw new Error('the bucket is missing')
    for (const { Key, Size } of page.objects ?? [])
      if (Key.startsWith(folder)) yield { key: Key, sizeBytes: Number(Size) }
    token = page.nextContinuationToken
  } while (token)
}

async function removeSome(client: S3Client, folder: string): Promise<boolean> {
  const until = performance.now() + removingMs
  for (;;) {
    const page = await client.listObjectsPaged('/', folder, pageSize)
    if (!page) throw new Error('the bucket is missing')
    const keys = (page.objects ?? []).map(({ Key }) => Key).filter((key) => key.startsWith(folder))
    const uploads: MediaUpload[] = []
    for await (const upload of listUploads(client, folder)) uploads.push(upload)
    if (keys.length === 0 && uploads.length === 0) return false
    // One by one: servers differ in whether they delete many at once.
    for (let at = 0; at < keys.length; at += width) {
      await Promise.all(keys.slice(at, at + width).map((key) => removeObject(client, key)))
      if (performance.now() > until) return true
    }
    await abortUploads(client, uploads)
  }
}
