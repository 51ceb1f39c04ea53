import { Args, Flags } from '@oclif/core'
import { workspaceBackupOperations } from '../../../core/contract/backup/backups.ts'
import { jobOperations } from '../../../core/contract/jobs/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findTarget } from '../../find/backup-targets.ts'
import { isId } from '../../find/pick.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { followJob } from '../../follow/jobs.ts'

export default class BackupsCreate extends CallerCommand {
  static override summary = 'Back a workspace up to a target, encrypted'
  static override description =
    'The daemon writes it in a job; with --recovery and --wait this command writes it itself. Without --recipient only this ' +
    'installation can read it: if the keyring is lost, nobody can. docs/archive-format.md describes the archive.'
  static override examples = [
    '<%= config.bin %> backups create acme --target disk --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p --wait',
    '<%= config.bin %> backups create acme --target disk --keep-days 30',
  ]
  static override args = {
    workspace: Args.string({
      ignoreStdin: true,
      description: "the workspace's slug or id; for others than operators it is their own",
    }),
  }
  static override flags = {
    target: Flags.string({ summary: "The backup target's name or id.", required: true, helpValue: 'TARGET' }),
    recipient: Flags.string({
      summary: 'Who can read it besides this installation, as `age-keygen -y` prints it; up to five.',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'AGE1…',
    }),
    'keep-days': Flags.integer({ summary: 'How many days it is kept; otherwise until somebody removes it.', min: 1 }),
    wait: Flags.boolean({ summary: 'Wait until the backup is complete, and show the progress.' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(BackupsCreate)
    const caller = await this.open(flags)
    const tenant = args.workspace === undefined ? undefined : await findWorkspace(caller, args.workspace)
    const targetId = isId(flags.target) ? flags.target : (await findTarget(caller, flags.target)).id
    const backup = await caller.call(workspaceBackupOperations.createBackup, {
      body: {
        target_id: targetId,
        ...(tenant ? { tenant_id: tenant.id } : {}),
        ...(flags.recipient ? { recipients: flags.recipient } : {}),
        ...(flags['keep-days'] === undefined ? {} : { keep_days: flags['keep-days'] }),
      },
    })
    if (!flags.wait) {
      this.log(backup.id)
      this.tell(`Queued. To see how far it is: ${this.following(`backups show ${backup.id}`, flags)}`)
      return backup
    }
    const queued = await caller.call(jobOperations.getJob, { jobId: backup.job_id })
    await followJob(caller, queued, backup.tenant_id)
    const made = await caller.call(workspaceBackupOperations.getBackup, { backupId: backup.id })
    this.log(made.id)
    this.tell(`The backup is complete. To read it back: ${this.following(`backups verify ${made.id} --wait`, flags)}`)
    return made
  }
}
