/**
 * The manifest of an archive, and its signature.
 *
 * A backup's `manifest.sig` is one JSON object: algorithm, key_id, public_key and value, an Ed25519 signature of the bytes of
 * `manifest.json`. The manifest has the hashes of all files, and these name the bytes of files of people by their hashes: so
 * the signature is one of everything. Anybody can encrypt for a recipient, which is why the hashes alone would not do.
 */
import { z } from 'zod'
import type { Keyring } from '../../kernel/sealing/keyring.ts'
import { signatureFaultOf, signed } from '../../kernel/sealing/signing.ts'
import { productVersion } from '../../kernel/values/product.ts'
import type { ArchiveForm } from './archive-form.ts'
import {
  type BackupManifest,
  type ExportManifest,
  formatName,
  type Manifest,
  type ManifestFile,
} from './archive-format.ts'
import type { WrittenArchive } from './archive-writer.ts'

interface Sent {
  readonly unexamined: NonNullable<ExportManifest['media']['unexamined']>
  /** The file of `media_files`; exports have none. */
  readonly index: ManifestFile | undefined
}

export function manifestOf(
  written: WrittenArchive,
  { tenantId, jobId }: { readonly tenantId: string; readonly jobId: string },
  form: ArchiveForm,
  { unexamined, index }: Sent,
): Manifest {
  const { slug, schemaVersion, snapshotAt, files, media, omitted, sealedUnder } = written
  const ofBoth = {
    format: formatName,
    product_version: productVersion,
    schema_version: schemaVersion,
    tenant: { id: tenantId, slug },
    job_id: jobId,
    snapshot_at: snapshotAt,
  } as const
  if (form.kind === 'TENANT_EXPORT')
    return {
      ...ofBoth,
      format_version: 1,
      kind: 'TENANT_EXPORT',
      files: files as ExportManifest['files'],
      media: unexamined.length === 0 ? media : { ...media, unexamined },
      omitted: { ...omitted },
    }
  const ring = form.recipients.filter(({ kind }) => kind === 'RING').map(({ id }) => id)
  return {
    ...ofBoth,
    format_version: 2,
    kind: 'TENANT_BACKUP',
    recipients: [...form.recipients],
    sealed_under: [...new Set([...ring, ...sealedUnder])],
    files: [...files, ...(index ? [index] : [])] as BackupManifest['files'],
    media,
    omitted: { ...omitted },
  }
}

const purpose = 'svc/backup-manifest/v1'

const SignatureFile = z.object({
  algorithm: z.literal('Ed25519'),
  key_id: z.string().max(32),
  public_key: z.base64url().max(100),
  value: z.base64url().max(200),
})

export const signatureBytes = 4096

/** The text of `manifest.sig`. */
export function signManifest(keyring: Keyring, manifest: string): string {
  const { key_id, public_key, signature } = signed(keyring, purpose, manifest)
  const file: z.output<typeof SignatureFile> = {
    algorithm: 'Ed25519',
    key_id,
    public_key: public_key.toString('base64url'),
    value: signature.toString('base64url'),
  }
  return `${JSON.stringify(file, null, 2)}\n`
}

/** Whether this installation signed the manifest: its key is in the ring, and no byte differs. */
export function isSignedByUs(keyring: Keyring, manifest: Buffer, text: string): boolean {
  const file = SignatureFile.safeParse(parsed(text))
  if (!file.success) return false
  const { key_id, public_key, value } = file.data
  const signature = {
    key_id,
    public_key: Buffer.from(public_key, 'base64url'),
    signature: Buffer.from(value, 'base64url'),
  }
  return signatureFaultOf(keyring, purpose, manifest, signature) === undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
