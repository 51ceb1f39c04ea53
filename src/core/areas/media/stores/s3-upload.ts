/**
 * Writes a file to S3.
 *
 *    bytes ──▶ a part of 8 MiB in memory ──full──▶ sent, while the next one fills ──last──▶ completed, and its size checked
 *
 * The parts that have come are asked of the service when a call begins, so no table can disagree with it. A part that comes
 * twice replaces itself. A call that lost its file to another one (upload.ts) does no harm: its parts belong to an upload
 * that was completed or aborted, or they are replaced, and then it cannot complete. Spec: items 4, O7; docs/decisions/0350.
 */
import { type S3Client, s3Answered } from '../../../kernel/egress/s3.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import type { Writing } from './media-store.ts'

/** Equal to the parts that clients send; every object but the smallest has parts of exactly this. */
export const uploadPartBytes = 8 * 1024 * 1024

const contentType = 'application/octet-stream'

/** An upload that was begun and neither completed nor aborted. */
export interface MediaUpload {
  readonly key: string
  readonly id: string
}

interface Part {
  readonly partNumber: number
  readonly etag: string
}

/** A file of one request: nothing of it is there before all of it is. */
export function openPut(client: S3Client, key: string, sizeBytes: number): Writing {
  const bytes = Buffer.allocUnsafeSlow(sizeBytes)
  let filled = 0
  return {
    offset: 0,
    async write(some) {
      filled += some.copy(bytes, filled)
    },
    sync: async () => {},
    async finish() {
      await client.putObject(key, bytes.subarray(0, filled), contentType)
      failpoint('media.synced')
      failpoint('media.renamed')
    },
    close: async () => {},
  }
}

/** A file of several parts, from the part on that `asked` begins, or from an earlier one where the service has less. */
export async function openUpload(client: S3Client, key: string, asked: number, sizeBytes: number): Promise<Writing> {
  const begun = await beginOrFind(client, key)
  const kept = begun.parts.slice(0, Math.floor(asked / uploadPartBytes))
  return new UploadWriting(client, begun.upload, kept, sizeBytes)
}

/** The upload with the most parts; others, which a killed daemon may have left, are aborted. */
async function beginOrFind(client: S3Client, key: string): Promise<{ upload: MediaUpload; parts: readonly Part[] }> {
  let best: { upload: MediaUpload; parts: readonly Part[] } | undefined
  for await (const upload of listUploads(client, key)) {
    const parts = await listParts(client, upload)
    const worse = best && best.parts.length >= parts.length ? upload : best?.upload
    if (worse) await abortUploads(client, [worse])
    if (worse !== upload) best = { upload, parts }
  }
  return best ?? { upload: { key, id: await client.getMultipartUploadId(key, contentType) }, parts: [] }
}

class UploadWriting implements Writing {
  readonly offset: number
  private readonly client: S3Client
  private readonly upload: MediaUpload
  private readonly sizeBytes: number
  private readonly parts: Part[]
  private filling: Buffer | undefined
  private filled = 0
  /** On its way, or free. */
  private spare: Buffer | undefined
  private sending: Promise<void> | undefined

  constructor(client: S3Client, upload: MediaUpload, kept: readonly Part[], sizeBytes: number) {
    this.client = client
    this.upload = upload
    this.sizeBytes = sizeBytes
    this.parts = [...kept]
    this.offset = kept.length * uploadPartBytes
  }

  async write(bytes: Buffer): Promise<void> {
    for (let from = 0; from < bytes.byteLength; ) {
      this.filling ??= Buffer.allocUnsafeSlow(uploadPartBytes)
      const copied = bytes.copy(this.filling, this.filled, from)
      from += copied
      this.filled += copied
      if (this.filled === uploadPartBytes) await this.send()
    }
    failpoint('media.written')
  }

  async sync(): Promise<void> {
    await this.sending
  }

  async finish(): Promise<void> {
    if (this.filled > 0) await this.send()
    await this.sending
    failpoint('media.synced')
    const { client, upload, parts, sizeBytes } = this
    await client.completeMultipartUpload(upload.key, upload.id, parts)
    // Services answer 200 before they know whether it succeeds.
    const found = await client.getContentLength(upload.key)
    if (found !== sizeBytes) throw new Error(`the object has ${found} bytes instead of ${sizeBytes}`)
    failpoint('media.renamed')
  }

  /** What has not come stays an upload, which the next call goes on with or the sweep aborts. */
  async close(): Promise<void> {
    await this.sending?.catch(() => {})
  }

  /** Sends what is filled when the part before has arrived. */
  private async send(): Promise<void> {
    const full = this.filling
    if (!full) return
    await this.sending
    this.sending = this.sendPart(full.subarray(0, this.filled))
    this.sending.catch(() => {}) // the next call of this object gets the rejection
    this.filling = this.spare
    this.spare = full
    this.filled = 0
  }

  private async sendPart(bytes: Buffer): Promise<void> {
    const { client, upload, parts } = this
    parts.push(await client.uploadPart(upload.key, upload.id, bytes, parts.length + 1))
  }
}

/** The whole parts that have come, without a gap. */
async function listParts(client: S3Client, upload: MediaUpload): Promise<readonly Part[]> {
  const parts: Part[] = []
  for (let marker = 0; ; ) {
    const answer = await client.getObjectResponse(upload.key, {
      uploadId: upload.id,
      ...(marker > 0 ? { 'part-number-marker': marker } : {}),
    })
    const page = answer ? await answer.text() : ''
    for (const part of page.match(/<Part>.*?<\/Part>/gs) ?? []) {
      if (Number(textOf(part, 'PartNumber')) !== parts.length + 1 || Number(textOf(part, 'Size')) !== uploadPartBytes)
        return parts
      parts.push({ partNumber: parts.length + 1, etag: textOf(part, 'ETag').replaceAll(/"|&quot;|&#34;/g, '') })
    }
    const next = Number(textOf(page, 'NextPartNumberMarker'))
    if (textOf(page, 'IsTruncated') !== 'true' || !(next > marker)) return parts
    marker = next
  }
}

/** The uploads whose keys begin so. */
export async function* listUploads(client: S3Client, start: string): AsyncGenerator<MediaUpload> {
  for (let markers: Record<string, string> = {}; ; ) {
    const page = await client.getObjectRaw('/', true, 0, undefined, { uploads: '', prefix: start, ...markers })
    const text = await page.text()
    for (const upload of text.match(/<Upload>.*?<\/Upload>/gs) ?? []) {
      const found = { key: textOf(upload, 'Key'), id: textOf(upload, 'UploadId') }
      if (found.key.startsWith(start)) yield found
    }
    const [key, id] = [textOf(text, 'NextKeyMarker'), textOf(text, 'NextUploadIdMarker')]
    if (textOf(text, 'IsTruncated') !== 'true' || key === '') return
    markers = { 'key-marker': key, 'upload-id-marker': id }
  }
}

/** One that is gone already is aborted. */
export async function abortUploads(client: S3Client, uploads: readonly MediaUpload[]): Promise<void> {
  for (const { key, id } of uploads)
    await client.abortMultipartUpload(key, id).catch((error: unknown) => {
      if (s3Answered(error).status !== 404) throw error
    })
}

/** Keys and ids of ours and tokens of the service: nothing that XML escapes. */
const textOf = (xml: string, name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? ''
