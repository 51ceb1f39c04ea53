/**
 * The archive format: names, limits and the manifest. docs/archive-format.md describes it for
 * readers of archives, and must agree with this module.
 *
 *    tenants/<tenant id>/<moment>-<job id>-<attempt>/
 *      <entity>.jsonl.zst …     one JSON object a line, zstd
 *      manifest.json            last: an archive without it is not one
 *    tenants/<tenant id>/media/<SHA-256>
 *                               the bytes of a file, once for all archives of the workspace
 *
 * Spec: Admin: workspaces, rule 4; Operations, 6 (importable from its documentation alone).
 */
import { z } from 'zod'
import { uuid } from '../../contract/vocabulary.ts'

export const formatName = 'svc-archive'
/** Raised when a reader of the older number would read the newer archive wrongly. */
export const formatVersion = 1

export const manifestName = 'manifest.json'
export const fileNameOf = (entity: string) => `${entity}.jsonl.zst`

/** Limits of what is read; what we write stays below them. */
export const limits = {
  manifestBytes: 1024 * 1024,
  /** Of one line without its line feed. Every request body is smaller. */
  lineBytes: 16 * 1024 * 1024,
  files: 200,
  holds: 1000,
  /** Files that nobody had examined: the manifest names each. */
  unexamined: 1000,
  /** 8 MiB: what a decompressor needs at most. */
  windowLog: 23,
} as const

const digest = z.string().regex(/^[0-9a-f]{64}$/)
const whole = z.int().min(0)
const entityName = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/)

const ManifestFile = z.object({
  name: z.string(),
  entity: entityName,
  rows: whole,
  bytes: whole,
  sha256: digest,
  compressed_bytes: whole,
  compressed_sha256: digest,
})
export type ManifestFile = z.output<typeof ManifestFile>

/** Unknown members are ignored, so that a later release may add some. */
export const Manifest = z.object({
  format: z.literal(formatName),
  format_version: z.int().min(1),
  kind: z.literal('TENANT_EXPORT'),
  product_version: z.string().max(100),
  schema_version: z.string().max(200),
  tenant: z.object({ id: uuid, slug: z.string().max(100) }),
  job_id: uuid,
  snapshot_at: z.string().max(40),
  files: z.array(ManifestFile).max(limits.files),
  /** The files that are READY, each content once; `unexamined` names those that were whole and not examined yet. */
  media: z.object({
    count: whole,
    bytes: whole,
    unexamined: z
      .array(z.object({ media_id: uuid, bytes: whole, sha256: digest }))
      .max(limits.unexamined)
      .optional(),
  }),
  omitted: z.record(z.string(), z.string()),
  /** Keys of the keyring without which the archive cannot be used; an export holds no sealed value, and names none. */
  sealed_under: z.array(z.string().max(32)).max(100).optional(),
})
export type Manifest = z.output<typeof Manifest>

export interface ArchiveName {
  readonly tenantId: string
  readonly createdAt: string
  readonly jobId: string
  readonly attempt: number
}

const folder = 'tenants'
export const folderOf = (tenantId: string) => `${folder}/${tenantId}`
export const everyFolder = folder

/** Where the bytes of a file are, beside the archives. */
export const mediaPath = (tenantId: string, sha256: string) => `${folderOf(tenantId)}/media/${sha256}`
/** Whether a folder holds archives or what is in them, and not the bytes of files, of which there may be millions. */
export const isOfArchives = (path: string) => !/^tenants\/[^/]+\/media$/.test(path)

/** The path of an archive; no user chooses any part of it. `createdAt` is ISO 8601 in UTC. */
export const archivePath = ({ tenantId, createdAt, jobId, attempt }: ArchiveName) =>
  `${folderOf(tenantId)}/${createdAt.replace(/[-:]|\.\d+/g, '')}-${jobId}-${attempt}`

const id = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const pathShape = new RegExp(
  `^${folder}/(${id})/(\\d{4})(\\d\\d)(\\d\\d)T(\\d\\d)(\\d\\d)(\\d\\d)Z-(${id})-([1-9]\\d{0,2})$`,
)

/** The parts of an archive's path; undefined for anything that is not exactly such a path. */
export function readArchivePath(path: string): ArchiveName | undefined {
  const [, tenantId = '', year, month, day, hour, minute, second, jobId = '', attempt] = pathShape.exec(path) ?? []
  if (tenantId === '') return undefined
  const createdAt = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`
  return Number.isNaN(Date.parse(createdAt)) ? undefined : { tenantId, createdAt, jobId, attempt: Number(attempt) }
}
