import { open } from 'node:fs/promises'
import { Args } from '@oclif/core'
import { type Config, readConfig } from '../../../core/kernel/config/config.ts'
import type { Restored } from '../../../core/snapshot/restore.ts'
import { BaseCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { unreadable } from '../../input/unreadable.ts'
import { notArchived } from '../../render/media.ts'
import { withToldProgress } from '../../render/progress.ts'

export default class BackupRestore extends BaseCommand {
  static override summary = 'Restore a backup of an embedded installation into an empty folder'
  static override description =
    'Restores into SVC_DATA_DIR and into the other places that the environment names, all of which must be empty. Nothing is kept of an archive that is cut off or altered. The database is started once, to see that it starts.'
  static override examples = [
    'SVC_DATA_DIR=/srv/svc <%= config.bin %> backup restore svc.backup.tar.gz',
    'age -d -i key.txt svc.backup.age | <%= config.bin %> backup restore -',
  ]
  static override args = {
    file: Args.string({
      ignoreStdin: true,
      required: true,
      description: 'A file that `svc backup create` made, or - for standard input.',
    }),
  }

  async run(): Promise<Restored & { data_dir: string }> {
    const { args } = await this.parse(BackupRestore)
    const config = readConfig()
    if (config.database)
      throw new Failure(
        'usage',
        'SVC_DATABASE_URL is set, and a backup is restored as an embedded installation.',
        'Unset it, and name an empty folder with SVC_DATA_DIR.',
      )
    const restored = await this.restore(config, args.file)
    this.tell(`Restored into ${config.dataDir}: the installation as of ${restored.as_of}, ${restored.entries} entries.`)
    if (restored.media_bucket)
      this.tell(
        `${notArchived(restored.media_bucket)} Name the bucket, or a copy of it, with SVC_MEDIA_STORE=s3 and SVC_MEDIA_S3_…; then \`svc recovery check\` says which files are missing.`,
      )
    this.tell('The one that it is a copy of must not run beside it: both would send its mails and deliveries.')
    this.tell(
      `Was a token revoked, a hold placed or a workspace purged after that moment? Then first \`svc recovery begin --recovery-point ${restored.as_of}\` (docs/runbooks/moving.md). Otherwise: svc up`,
    )
    return { data_dir: config.dataDir, ...restored }
  }

  private async restore(config: Config, file: string): Promise<Restored> {
    const { restoreSnapshot } = await import('../../../core/snapshot/restore.ts')
    const archive = file === '-' ? process.stdin : await opened(file)
    try {
      return await withToldProgress('Restoring', (tell) =>
        restoreSnapshot(config, archive, (part) => tell(`Restoring: ${part}`)),
      )
    } finally {
      archive.destroy()
    }
  }
}

async function opened(file: string) {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    throw unreadable(`the file ${file}`, error)
  })
  return handle.createReadStream()
}
