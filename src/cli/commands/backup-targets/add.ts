import { Args, Flags } from '@oclif/core'
import { backupOperations, type NewTargetConfig, type TargetKind } from '../../../core/backup/contract.ts'
import { whereOf } from '../../backup-targets.ts'
import { CallerCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { details } from '../../render/details.ts'
import { readSecret, secretOrAsk } from '../../secret-input.ts'

export default class BackupTargetsAdd extends CallerCommand {
  static override summary = 'Add a backup target: a folder, an S3 bucket or an SFTP server'
  static override description =
    'Secrets are asked for, or read from a file or standard input; they are sealed and never shown again. ' +
    'local: --path below SVC_BACKUP_DIR. s3: --endpoint, --region, --bucket, --access-key-id, and the secret access key. ' +
    "sftp: --host, --username, --path, the server's --host-key as `ssh-keyscan` prints it, and a password or --private-key-file."
  static override examples = [
    '<%= config.bin %> backup-targets add disk --kind local --path archives',
    '<%= config.bin %> backup-targets add bucket --kind s3 --endpoint https://s3.example.org --region eu-1 --bucket backups --access-key-id AKIA --secret-file s3.key',
    '<%= config.bin %> backup-targets add vault --kind sftp --host vault.example.org --username svc --path backups --host-key "ssh-ed25519 AAAA..." --private-key-file vault.key',
  ]
  static override args = {
    name: Args.string({ ignoreStdin: true, required: true, description: 'what people call it' }),
  }
  static override flags = {
    kind: Flags.string({ summary: 'What it is.', options: ['local', 's3', 'sftp'] as const, required: true }),
    path: Flags.string({ summary: 'local, sftp: the folder.' }),
    endpoint: Flags.string({ summary: 's3: https://host, or https://host:port.', helpValue: 'URL' }),
    region: Flags.string({ summary: 's3: the region that requests are signed for.' }),
    bucket: Flags.string({ summary: 's3: the bucket, which must exist.' }),
    prefix: Flags.string({ summary: 's3: put before every key.' }),
    'access-key-id': Flags.string({ summary: 's3: who signs.', helpValue: 'ID' }),
    host: Flags.string({ summary: 'sftp: the server.' }),
    port: Flags.integer({ summary: 'sftp: its port; 22 where absent.', min: 1, max: 65_535 }),
    username: Flags.string({ summary: 'sftp: who signs in.' }),
    'host-key': Flags.string({ summary: "sftp: the server's public key.", helpValue: 'KEY' }),
    'private-key-file': Flags.string({ summary: 'sftp: sign in with this key, of mode 0600.', helpValue: 'FILE' }),
    'secret-file': Flags.string({
      summary: 'Read the secret access key or the password from a file of mode 0600.',
      helpValue: 'FILE',
      exclusive: ['private-key-file'],
    }),
    'secret-stdin': Flags.boolean({
      summary: 'Read it from standard input.',
      exclusive: ['secret-file', 'private-key-file'],
    }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(BackupTargetsAdd)
    const plain = Object.entries({
      path: flags.path,
      endpoint: flags.endpoint,
      region: flags.region,
      bucket: flags.bucket,
      prefix: flags.prefix,
      access_key_id: flags['access-key-id'],
      host: flags.host,
      port: flags.port,
      username: flags.username,
      host_key: flags['host-key'],
    }).filter(([, value]) => value !== undefined)
    const kind = flags.kind.toUpperCase() as TargetKind
    const config = { ...Object.fromEntries(plain), ...(await secretOf(kind, flags)) } as NewTargetConfig
    const caller = await this.open(flags)
    const target = await caller.call(backupOperations.createBackupTarget, { body: { name: args.name, kind, config } })
    this.log(
      details([
        ['name', target.name],
        ['kind', target.kind],
        ['where', whereOf(target)],
        ['id', target.id],
      ]),
    )
    this.tell(`Next: ${this.following(`backup-targets test ${target.id}`, flags)}`)
    return target
  }
}

interface SecretFlags {
  readonly 'private-key-file'?: string | undefined
  readonly 'secret-file'?: string | undefined
  readonly 'secret-stdin'?: boolean
}

async function secretOf(kind: TargetKind, flags: SecretFlags): Promise<Partial<NewTargetConfig>> {
  const source = { stdin: flags['secret-stdin'], file: flags['secret-file'] }
  if (kind === 'LOCAL') {
    if (source.stdin || source.file !== undefined) throw new Failure('usage', 'A local target takes no secret.')
    return {}
  }
  if (kind === 'S3') return { secret_access_key: await secretOrAsk(source, 'secret', 'Secret access key:') }
  const key = await readSecret({ file: flags['private-key-file'] }, 'private key')
  // OpenSSH's own files end with a line feed, which reading a secret takes off.
  if (key !== undefined) return { private_key: `${key}\n` }
  return { password: await secretOrAsk(source, 'secret', 'Password:') }
}
