/**
 * S3: objects below a prefix of a bucket.
 *
 * Every request goes through the egress guard (kernel/egress/s3.ts). A file larger than one part is sent in
 * parts, with one part in memory at a time. A failed upload is aborted, so that the bucket holds no
 * partial file.
 *
 * Spec: decisions 4, A backup target; T-17.
 */
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { Egress } from '../../../kernel/egress/client.ts'
import { openS3Client, type S3Client, s3Answered } from '../../../kernel/egress/s3.ts'
import { type IsEntered, type OpenedTarget, type Store, type StoredFile, StoreFailure, storeFailure } from '../store.ts'

/** S3 accepts 10,000 parts, so one compressed file may have 156 GiB. */
const partBytes = 16 * 1024 * 1024
const requestMs = 120_000
const pageSize = 1000

export async function openS3(egress: Egress, { config, secrets }: OpenedTarget): Promise<Store> {
  const client = clientOf(egress, { kind: 'S3', config, secrets })
  const prefix = config.prefix === undefined ? '' : `${config.prefix}/`
  // A wrong bucket or secret fails here, and does not look like an empty list.
  await guarded(async () => {
    if (!(await client.listObjectsPaged('/', prefix, 1))) throw new StoreFailure('missing')
  })
  return {
    width: 2, // each holds a part in memory
    put: (path, file) => guarded(() => put(client, `${prefix}${path}`, file)),
    get: (path) => guarded(() => get(client, `${prefix}${path}`)),
    sizeOf: (path) => sizeAt(client, `${prefix}${path}`),
    list: (folder, isEntered) => list(client, prefix, folder, isEntered),
    async remove(folder) {
      const keys: string[] = []
      for await (const { path } of list(client, prefix, folder)) keys.push(`${prefix}${path}`)
      // One by one: servers differ in whether they delete many at once.
      for (const key of keys) await guarded(() => client.deleteObject(key))
    },
    close: async () => {},
  }
}

function clientOf(egress: Egress, { config, secrets }: OpenedTarget): S3Client {
  const address = {
    endpoint: config.endpoint ?? '',
    region: config.region ?? '',
    bucket: config.bucket ?? '',
    accessKeyId: config.access_key_id ?? '',
    secretAccessKey: secrets.secret_access_key ?? '',
  }
  return openS3Client(egress, address, requestMs)
}

async function put(client: S3Client, key: string, path: string): Promise<void> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    if (size <= partBytes) await client.putObject(key, await file.readFile(), 'application/octet-stream')
    else await putParts(client, key, file, size)
  } finally {
    await file.close()
  }
}

async function putParts(client: S3Client, key: string, file: Awaited<ReturnType<typeof open>>, size: number) {
  const upload = await client.getMultipartUploadId(key, 'application/octet-stream')
  try {
    const parts: { partNumber: number; etag: string }[] = []
    for (let at = 0; at < size; at += partBytes) {
      const part = Buffer.alloc(Math.min(partBytes, size - at))
      await file.read(part, 0, part.length, at)
      parts.push(await client.uploadPart(key, upload, part, parts.length + 1))
    }
    await client.completeMultipartUpload(key, upload, parts)
  } catch (error) {
    await client.abortMultipartUpload(key, upload).catch(() => {})
    throw error
  }
}

async function get(client: S3Client, key: string): Promise<Readable> {
  const answer = await client.getObjectResponse(key)
  if (!answer?.body) throw new StoreFailure('missing')
  return Readable.fromWeb(answer.body as never)
}

async function sizeAt(client: S3Client, key: string): Promise<number | undefined> {
  return guarded(() =>
    client.getContentLength(key).catch((error: Error) => {
      const cause = (error.cause ?? error) as { readonly status?: number }
      if (cause.status === 404) return undefined
      throw cause
    }),
  )
}

async function* list(
  client: S3Client,
  prefix: string,
  folder: string,
  isEntered: IsEntered = () => true,
): AsyncGenerator<StoredFile> {
  let token: string | undefined
  do {
    const page = await guarded(() => client.listObjectsPaged('/', `${prefix}${folder}/`, pageSize, token))
    for (const { Key, Size } of page?.objects ?? [])
      if (Key.startsWith(prefix) && isEntered(Key.slice(prefix.length, Key.lastIndexOf('/'))))
        yield { path: Key.slice(prefix.length), sizeBytes: Number(Size) }
    token = page?.nextContinuationToken
  } while (token)
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { status, said } = s3Answered(error)
    if (status === 404 || /NoSuchBucket|NoSuchKey/.test(said)) throw new StoreFailure('missing', error)
    if (status === 401 || status === 403) throw new StoreFailure('credentials', error)
    if (status === 507 || /EntityTooLarge|QuotaExceeded|StorageFull/.test(said)) throw new StoreFailure('full', error)
    throw storeFailure(error)
  }
}
