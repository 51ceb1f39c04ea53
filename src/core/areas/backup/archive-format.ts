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
 * That is an export, format 1. A backup is format 2: each file is encrypted with age and its name ends in `.age`, the manifest
 * is in clear and `manifest.sig` signs it.
 *
 * Spec: Admin: workspaces, rule 4; Operations, 6 (importable from its documentation alone); Keeping, 3.
 */
import { z } from 'zod'
import { uuid } from '../../contract/vocabulary.ts'

export const formatName = 'svc-archive'
/** The newest format. A number is raised when a reader of the older one would read the newer archive wrongly. */
export const formatVersion = 2

export type ArchiveKind = 'TENANT_EXPORT' | 'TENANT_BACKUP'

export const manifestName = 'manifest.json'
export const signatureName = 'manifest.sig'
/** How the name of a file ends that is encrypted. */
export const encryptedEnd = '.age'
export const fileNameOf = (entity: string, kind: ArchiveKind) =>
  `${entity}.jsonl.zst${kind === 'TENANT_BACKUP' ? encryptedEnd : ''}`
/** The entity of a backup that says where the bytes of files are; no table has it. */
export const mediaFiles = 'media_files'

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

const Described = { name: z.string(), entity: entityName, rows: whole, bytes: whole }
const ClearFile = z.object({ ...Described, sha256: digest, compressed_bytes: whole, compressed_sha256: digest })
/** A hash of what is encrypted says nothing of the content; one of the content would let a guess be confirmed. */
const EncryptedFile = z.object({ ...Described, encrypted_bytes: whole, encrypted_sha256: digest })
export type ManifestFile = z.output<typeof ClearFile> | z.output<typeof EncryptedFile>

const Recipient = z.object({
  kind: z.enum(['RING', 'OUTSIDE']),
  id: z.string().max(100).describe('RING: the key of the keyring; OUTSIDE: the recipient'),
  recipient: z.string().max(100),
})
export type ManifestRecipient = z.output<typeof Recipient>

const Common = {
  format: z.literal(formatName),
  product_version: z.string().max(100),
  schema_version: z.string().max(200),
  tenant: z.object({ id: uuid, slug: z.string().max(100) }),
  job_id: uuid,
  snapshot_at: z.string().max(40),
  omitted: z.record(z.string(), z.string()),
  /** Keys of the keyring without which the archive cannot be used whole; an export needs none, and has no such member. */
  sealed_under: z.array(z.string().max(32)).max(100).optional(),
}

/** Unknown members are ignored, so that a later release may add some. */
const ExportManifest = z.object({
  ...Common,
  format_version: z.literal(1),
  kind: z.literal('TENANT_EXPORT'),
  files: z.array(ClearFile).max(limits.files),
  /** The files that are READY, each content once; `unexamined` names those that were whole and not examined yet. */
  media: z.object({
    count: whole,
    bytes: whole,
    unexamined: z
      .array(z.object({ media_id: uuid, bytes: whole, sha256: digest }))
      .max(limits.unexamined)
      .optional(),
  }),
})
export type ExportManifest = z.output<typeof ExportManifest>

const BackupManifest = z.object({
  ...Common,
  format_version: z.literal(2),
  kind: z.literal('TENANT_BACKUP'),
  recipients: z.array(Recipient).min(1).max(20),
  files: z.array(EncryptedFile).max(limits.files),
  /** The files that are READY, each content once; the entity `media_files` names them all. */
  media: z.object({ count: whole, bytes: whole }),
})
export type BackupManifest = z.output<typeof BackupManifest>

export const Manifest = z.discriminatedUnion('format_version', [ExportManifest, BackupManifest])
export type Manifest = z.output<typeof Manifest>

/** What lies at the target under the name of a file. */
export const storedOf = (file: ManifestFile): { readonly bytes: number; readonly sha256: string } =>
  'encrypted_bytes' in file
    ? { bytes: file.encrypted_bytes, sha256: file.encrypted_sha256 }
    : { bytes: file.compressed_bytes, sha256: file.compressed_sha256 }

export interface ArchiveName {
  readonly tenantId: string
  readonly createdAt: string
  readonly jobId: string
  readonly attempt: number
}

const folder = 'tenants'
export const folderOf = (tenantId: string) => `${folder}/${tenantId}`
export const everyFolder = folder

/** Where the bytes of a file are, beside the archives; in clear under their SHA-256, encrypted under a name that tells nothing. */
export const mediaPath = (tenantId: string, name: string) => `${folderOf(tenantId)}/media/${name}`
export const encryptedMediaName = (hmac: string) => `${hmac}${encryptedEnd}`
export const isEncryptedMediaName = (name: string) => /^[0-9a-f]{64}\.age$/.test(name)
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
