/**
 * How the bytes of an archive lie at a target: in clear (exports), or encrypted with age (backups).
 *
 * A backup is encrypted for a recipient that is derived from the keyring's current key, and for the owner's own. The bytes of a
 * file of people are shared by all archives of the workspace at a target. So their name is an HMAC under a key of the ring, of
 * the content and the recipients: it shows nobody which file it is, and a backup for other recipients gets bytes of its own
 * that these can read (docs/decisions/0402).
 *
 * Spec: Keeping, 3; docs/archive-format.md.
 */
import { createHmac } from 'node:crypto'
import { encrypted, encryptedSize, recipientOf, ringIdentity } from '../../kernel/sealing/age.ts'
import type { Keyring } from '../../kernel/sealing/keyring.ts'
import { lengthPrefixed } from '../../kernel/sealing/sealing.ts'
import { type ArchiveKind, encryptedMediaName, type ManifestRecipient } from './archive-format.ts'

export interface ArchiveForm {
  readonly kind: ArchiveKind
  /** Whom it is encrypted for; none: it lies in clear. */
  readonly recipients: readonly ManifestRecipient[]
  /** Bytes as they lie at the target. */
  stored(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer>
  storedSize(bytes: number): number
  /** The name of a file of people, by the SHA-256 of its content. */
  mediaName(sha256: string): string
}

export const inClear: ArchiveForm = {
  kind: 'TENANT_EXPORT',
  recipients: [],
  stored: (chunks) => chunks,
  storedSize: (bytes) => bytes,
  mediaName: (sha256) => sha256,
}

const namePurpose = 'svc/backup-media/v1'

/** Encrypted for the ring's current key and for these recipients `age1…`. */
export async function underAge(keyring: Keyring, tenantId: string, outside: readonly string[]): Promise<ArchiveForm> {
  const keyId = keyring.current
  const own = await recipientOf(await ringIdentity(keyring, keyId))
  const recipients: ManifestRecipient[] = [
    { kind: 'RING', id: keyId, recipient: own },
    ...outside.map((recipient) => ({ kind: 'OUTSIDE' as const, id: recipient, recipient })),
  ]
  const names = recipients.map(({ recipient }) => recipient)
  const namingKey = keyring.derive(keyId, namePurpose)
  return {
    kind: 'TENANT_BACKUP',
    recipients,
    stored: (chunks) => encrypted(names, chunks),
    storedSize: (bytes) => encryptedSize(names.length, bytes),
    mediaName: (sha256) =>
      encryptedMediaName(
        createHmac('sha256', namingKey)
          .update(lengthPrefixed(tenantId, sha256, ...names.toSorted()))
          .digest('hex'),
      ),
  }
}
