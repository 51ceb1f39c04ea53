import { Args, Flags } from '@oclif/core'
import { workspaceBackupOperations } from '../../../core/contract/backup/backups.ts'
import { CallerCommand } from '../../base-command.ts'
import { followJob } from '../../follow/jobs.ts'

export default class BackupsVerify extends CallerCommand {
  static override summary = 'Read a backup back to its last byte, or restore it for a try'
  static override description =
    'The daemon reads it in a job; with --recovery and --wait this command reads it itself. Exits 8 if anything differs. ' +
    '--restore also loads it into a schema of its own (SVC_SCRATCH_URL, or this database), checks its keys, and compares what comes ' +
    'out with what went in.'
  static override examples = [
    '<%= config.bin %> backups verify 0190c9d2-7a3b-7cde-8f01-23456789abcd --wait',
    '<%= config.bin %> backups verify 0190c9d2-7a3b-7cde-8f01-23456789abcd --restore --wait',
  ]
  static override args = { backup: Args.string({ ignoreStdin: true, required: true, description: "the backup's id" }) }
  static override flags = {
    restore: Flags.boolean({ summary: 'Restore it for a try, and not only read it.' }),
    wait: Flags.boolean({ summary: 'Wait until all of it was read, and show the progress.' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(BackupsVerify)
    const caller = await this.open(flags)
    const backup = await caller.call(workspaceBackupOperations.getBackup, { backupId: args.backup })
    const queued = await caller.call(workspaceBackupOperations.verifyBackup, {
      backupId: args.backup,
      body: { depth: flags.restore ? 'RESTORE' : 'HASHES' },
    })
    if (!flags.wait) {
      this.log(queued.job_id)
      this.tell(`Queued. To see the progress: ${this.following(`jobs show ${queued.job_id}`, flags)}`)
      return queued
    }
    const job = await followJob(caller, queued, backup.tenant_id)
    this.tell(flags.restore ? 'It can be restored.' : 'Every byte is as it was written.')
    return job
  }
}
