/**
 * The backup of an embedded installation: one file, a tar that gzip compressed.
 *
 *    svc-backup.json         format, release, PostgreSQL's major version, kind of machine; the bucket that it lacks
 *    database.json           passwords of the database's logins
 *    cluster/…               a base backup of the cluster; its log and backup_label last
 *    ledger.jsonl            the obligation ledger at the same moment
 *    keyring.json            the master keys
 *    backups/… media/… mail/…
 *    svc-backup.end.json     its moment; entries, bytes, SHA-256 over all names, sizes and contents
 *
 * An archive without its end is not restored, nor one whose bytes differ from it. That finds accidents; it is no signature,
 * because whoever can write the file can compute it again. The file opens every secret of the installation: mode 0600.
 * Ours; docs/decisions/0300.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Config } from '../kernel/config/config.ts'
import type { TarHead } from '../kernel/values/tar.ts'

/** An archive that cannot be restored, or a backup that cannot be made; one line, and what to do. */
export class SnapshotRefused extends Error {
  override readonly name = 'SnapshotRefused'
  readonly remedy: string | undefined

  constructor(message: string, remedy?: string) {
    super(message)
    this.remedy = remedy
  }
}

export const Head = z.object({
  format: z.literal(1),
  release: z.string(),
  postgresql: z.string(),
  /** e.g. `linux-x64`: files of a cluster belong to one kind of machine. */
  machine: z.string(),
  /** Where the files of people are that the archive does not have; absent if they were in a folder only. */
  media_bucket: z.object({ endpoint: z.string(), bucket: z.string(), prefix: z.string() }).optional(),
})
export type Head = z.infer<typeof Head>

export const Logins = z.object({
  passwords: z.object({ superuser: z.string(), owner: z.string(), daemon: z.string() }),
})

/** `as_of`: what was committed before this moment is in the archive, and nothing after it. */
export const End = z.object({ as_of: z.string(), entries: z.int(), bytes: z.int(), sha256: z.string() })
export type End = z.infer<typeof End>

export const machine = `${process.platform}-${process.arch}`

export const headName = 'svc-backup.json'
export const loginsName = 'database.json'
export const endName = 'svc-backup.end.json'
export const clusterName = 'cluster'
export const keyringName = 'keyring.json'
export const ledgerName = 'ledger.jsonl'

/** Folders whose files are archived as they are, by their name in the archive. */
export const foldersOf = ({ backupDir, media, mail }: Config) => ({
  backups: backupDir,
  media: media.dir,
  mail: mail.folder,
})

/** What the head says of a bucket: its place, and no key. */
export const bucketOf = ({ media: { bucket: found } }: Config): Pick<Head, 'media_bucket'> =>
  found === undefined ? {} : { media_bucket: { endpoint: found.endpoint, bucket: found.bucket, prefix: found.prefix } }

/** Counts what passes and digests it; both sides do the same. */
export function openTally() {
  const hash = createHash('sha256')
  let [entries, bytes] = [0, 0]
  return {
    head({ name, isFolder, size }: TarHead): void {
      entries += 1
      hash.update(`${JSON.stringify([name, isFolder, size])}\n`)
    },
    content(part: Buffer): void {
      bytes += part.length
      hash.update(part)
    },
    counted: () => ({ entries, bytes, sha256: hash.copy().digest('hex') }),
  }
}
