import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { link, open, rm, stat } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { Args } from '@oclif/core'
import { type Config, readConfig } from '../../../core/kernel/config/config.ts'
import type { Created } from '../../../core/snapshot/create.ts'
import { BaseCommand } from '../../base-command.ts'
import { withDatabase } from '../../call/database.ts'
import { Failure } from '../../failure.ts'
import { notArchived } from '../../render/media.ts'
import { withToldProgress } from '../../render/progress.ts'
import { sizeInWords } from '../../render/sparkline.ts'

/** Most of the bytes are pages of the database, which the fastest level halves already. */
const gzipLevel = 1

const copyToo = 'Copy the bucket after this backup, too (docs/runbooks/media.md).'

export default class BackupCreate extends BaseCommand {
  static override summary = 'Back up the embedded installation: database, keyring, ledger, files, archives, mails'
  static override description =
    'Writes one file while the installation serves, or is stopped. It holds the keyring, so it opens every secret of the installation: the file has mode 0600; keep it as carefully. With - it goes to standard output, for example to a program that encrypts it. The environment and the files that it names (SVC_SETTINGS_FILE) are not in it, nor are files in a bucket (SVC_MEDIA_STORE=s3).'
  static override examples = [
    '<%= config.bin %> backup create svc.backup.tar.gz',
    '<%= config.bin %> backup create - | age -r age1… > svc.backup.age',
  ]
  static override args = {
    file: Args.string({
      ignoreStdin: true,
      required: true,
      description: 'The file to make, or - for standard output.',
    }),
  }

  async run(): Promise<unknown> {
    const { args } = await this.parse(BackupCreate)
    const config = readConfig()
    if (config.database)
      throw new Failure(
        'usage',
        'SVC_DATABASE_URL is set, and this command backs up an embedded installation.',
        'Back up your PostgreSQL with its own tools, and the keyring apart from it (docs/deploying.md, "Back up").',
      )
    return args.file === '-' ? this.toOutput(config) : this.toFile(config, resolve(args.file))
  }

  private async toOutput(config: Config): Promise<undefined> {
    if (process.stdout.isTTY || this.jsonEnabled())
      throw new Failure(
        'usage',
        'The archive is binary and does not go to a terminal or beside --json.',
        'Name a file, or pipe it.',
      )
    const { entries, bytes, as_of, media_bucket } = await this.make(config, process.stdout)
    this.note(`Wrote the installation as of ${as_of}: ${entries} entries, ${sizeInWords(bytes)} before compression.`)
    this.note('It holds the keyring: whoever reads it opens every secret of the installation.')
    if (media_bucket) this.note(`${notArchived(media_bucket)} ${copyToo}`)
  }

  private async toFile(config: Config, file: string): Promise<unknown> {
    const inside = [config.media.dir, config.backupDir, config.mail.folder].find((folder) =>
      file.startsWith(folder + sep),
    )
    if (inside)
      throw new Failure('usage', `${inside} is backed up itself.`, 'Name a file elsewhere, best on another disk.')
    const aside = `${file}.${randomUUID()}.partial`
    const handle = await open(aside, 'wx', 0o600)
    try {
      const created = await this.make(config, handle.createWriteStream({ flush: true }), aside)
      await link(aside, file).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'EEXIST'
          ? new Failure('conflict', `${file} exists already.`, 'A backup replaces no file: name another one.')
          : error
      })
      const folder = await open(dirname(file), 'r')
      await folder.sync().finally(() => folder.close())
      const { size } = await stat(file)
      this.tell(`Wrote ${file} (mode 600, ${sizeInWords(size)}): the installation as of ${created.as_of}.`)
      this.tell('It holds the keyring: whoever reads the file opens every secret of the installation.')
      if (created.media_bucket) this.tell(`${notArchived(created.media_bucket)} ${copyToo}`)
      this.tell(`To restore it elsewhere: SVC_DATA_DIR=/an/empty/folder svc backup restore ${file}`)
      return { file, size_bytes: size, ...created }
    } finally {
      await handle.close().catch(() => {}) // the stream has closed it already, if it was used
      await rm(aside, { force: true })
    }
  }

  /** `unfinished`: the file to remove on Ctrl-C, because it has the keyring. */
  private make(config: Config, to: Writable, unfinished?: string): Promise<Created> {
    // withDatabase ends the process then, after it has released the database.
    const forget = () => unfinished && rmSync(unfinished, { force: true })
    return withDatabase(config, this.note, () =>
      withToldProgress('Backing up', async (tell) => {
        const { createSnapshot } = await import('../../../core/snapshot/create.ts')
        process.once('SIGINT', forget).once('SIGTERM', forget)
        const packed = createGzip({ level: gzipLevel })
        const [created] = await Promise.all([
          createSnapshot(config, packed, (part) => tell(`Backing up: ${part}`)).catch((error: Error) => {
            packed.destroy(error)
            throw error
          }),
          pipeline(packed, to),
        ])
        process.off('SIGINT', forget).off('SIGTERM', forget)
        return created
      }),
    )
  }
}
