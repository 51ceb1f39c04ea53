/**
 * S3 through the guard: a client for one bucket, addressed by path (`endpoint/bucket/key`), which every implementation
 * supports. Used by backup targets and by the store of files. Spec: decisions 4, A backup target; items 4, Store; T-17.
 */
import { S3mini } from 's3mini'
import type { Egress } from './client.ts'

export interface S3Address {
  /** `http(s)://host[:port]` */
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

export type S3Client = S3mini

/** `deadlineMs` bounds each request, its body and its answer's body included. */
export function openS3Client(egress: Egress, address: S3Address, deadlineMs: number): S3Client {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = address
  const guarded = (url: unknown, init: unknown) =>
    egress.fetch(url instanceof URL ? url : String(url), { ...(init as object), deadlineMs })
  return new S3mini({
    endpoint: `${endpoint.replace(/\/$/, '')}/${bucket}`,
    region,
    accessKeyId,
    secretAccessKey,
    fetch: guarded as unknown as NonNullable<ConstructorParameters<typeof S3mini>[0]['fetch']>,
  })
}

/** The status and the text of a server's error, 0 where it has none; for some calls the client keeps only a text. */
export function s3Answered(error: unknown): { readonly status: number; readonly said: string } {
  const failed = error as { status?: number; serviceCode?: string; message: string; cause?: unknown }
  const { status } = failed.status === undefined ? ((failed.cause ?? {}) as { status?: number }) : failed
  const [, listed] = /(?:failed with status|S3 returned) (\d{3})/.exec(failed.message) ?? []
  return { status: status ?? Number(listed ?? 0), said: `${failed.serviceCode ?? ''} ${failed.message}` }
}
