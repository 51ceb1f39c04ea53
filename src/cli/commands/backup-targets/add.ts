import { Args } from '@oclif/core'
import { backupOperations } from '../../../core/contract/backup/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { whereOf } from '../../find/backup-targets.ts'
import { proofFlags } from '../../input/second-factor-input.ts'
import { kindFlag, readStore, storeFlags } from '../../input/store-flags.ts'
import { details } from '../../render/details.ts'

export default class BackupTargetsAdd extends CallerCommand {
  static override summary = 'Add a backup target: a folder, an S3 bucket or an SFTP server'
  static override description =
    'The command asks for secrets, or reads them from a file or standard input. They are sealed and are never shown again. ' +
    'local: --path below SVC_BACKUP_DIR. s3: --endpoint, --region, --bucket, --access-key-id, and the secret access key. ' +
    "sftp: --host, --username, --path, the server's --host-key as `ssh-keyscan` prints it, and a password or --private-key-file. " +
    'Asks for your own password again.'
  static override examples = [
    '<%= config.bin %> backup-targets add disk --kind local --path archives',
    '<%= config.bin %> backup-targets add bucket --kind s3 --endpoint https://s3.example.org --region eu-1 --bucket backups --access-key-id AKIA --secret-file s3.key',
    '<%= config.bin %> backup-targets add vault --kind sftp --host vault.example.org --username svc --path backups --host-key "ssh-ed25519 AAAA..." --private-key-file vault.key',
  ]
  static override args = {
    name: Args.string({ ignoreStdin: true, required: true, description: 'the name of the target' }),
  }
  static override flags = {
    ...storeFlags,
    ...proofFlags,
    'password-stdin': { ...proofFlags['password-stdin'], exclusive: ['password-file', 'secret-stdin'] },
    kind: kindFlag({ required: true }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(BackupTargetsAdd)
    const { kind, config } = await readStore(flags.kind, flags)
    const caller = await this.open(flags)
    const body = { name: args.name, kind, config }
    const target = await this.callProven(caller, backupOperations.createBackupTarget, { body }, flags)
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
