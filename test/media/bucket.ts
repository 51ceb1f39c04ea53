/** A bucket of a real S3 server, and what is in it. */
import { S3mini } from 's3mini'
import type { MediaBucket } from '../../src/core/kernel/config/media-settings.ts'
import { type Release, readRelease } from '../../src/core/kernel/egress/guard.ts'
import { type Swift, startSwift } from '../kit/swift.ts'

export interface Bucket {
  readonly settings: MediaBucket
  readonly swift: Swift
  /** The keys of the objects of a workspace, behind the folder. */
  objects(tenantId: string): Promise<string[]>
  /** How many uploads were begun in the bucket and neither completed nor aborted. */
  uploads(): Promise<number>
  object(tenantId: string, id: string): Promise<Buffer>
  stop(): Promise<void>
}

/** The settings of an installation whose files are in the bucket. */
export const configOfBucket = (bucket: Bucket) => ({
  egress: readRelease('127.0.0.1') as Release,
  media: {
    dir: '/nonexistent/media',
    bucket: bucket.settings,
    maxBytes: 268_435_456,
    refusedTypes: ['application/x-elf'],
    keepDays: 7,
    looseHours: 24,
    linkSeconds: 300,
    clamd: undefined,
  },
})

export async function openBucket(): Promise<Bucket> {
  const swift = await startSwift()
  const { endpoint, accessKeyId, secretAccessKey } = swift
  const settings = { endpoint, accessKeyId, secretAccessKey, region: 'us-east-1', bucket: 'media', prefix: 'svc/' }
  const client = new S3mini({ ...settings, endpoint: `${endpoint}/media` })
  await client.createBucket()
  const folderOf = (tenantId: string) => `svc/tenants/${tenantId}/`
  return {
    settings,
    swift,
    async objects(tenantId) {
      const found = (await client.listObjects('/', folderOf(tenantId))) ?? []
      return found.map(({ Key }) => Key.slice(folderOf(tenantId).length)).sort()
    },
    async uploads() {
      const answer = await client.getObjectRaw('/', true, 0, undefined, { uploads: '' })
      return (await answer.text()).match(/<Upload>/g)?.length ?? 0
    },
    async object(tenantId, id) {
      const answer = await client.getObjectArrayBuffer(`${folderOf(tenantId)}${id}`)
      return Buffer.from(answer ?? new ArrayBuffer(0))
    },
    stop: () => swift.stop(),
  }
}
