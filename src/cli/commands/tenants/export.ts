import { Args, Flags } from '@oclif/core'
import { tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findTarget } from '../../find/backup-targets.ts'
import { isId } from '../../find/pick.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { followJob } from '../../follow/jobs.ts'

export default class TenantsExport extends CallerCommand {
  static override summary = "Write a workspace's archive to a backup target"
  static override description =
    'The daemon writes it in a job; with --recovery and --wait this command writes it itself. ' +
    'docs/archive-format.md describes the archive.'
  static override examples = [
    '<%= config.bin %> tenants export acme --target disk',
    '<%= config.bin %> tenants export acme --target disk --wait',
  ]
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }
  static override flags = {
    target: Flags.string({ summary: "The backup target's name or id.", required: true, helpValue: 'TARGET' }),
    wait: Flags.boolean({ summary: 'Wait until the archive is complete, and show the progress.' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(TenantsExport)
    const caller = await this.open(flags)
    const tenant = await findWorkspace(caller, args.workspace)
    // An id may be that of the workspace's own target, which the operators' list does not show.
    const targetId = isId(flags.target) ? flags.target : (await findTarget(caller, flags.target)).id
    const queued = await caller.call(tenantOperations.exportTenant, {
      tenantId: tenant.id,
      body: { target_id: targetId },
    })
    if (!flags.wait) {
      this.log(queued.job_id)
      this.tell(`Queued. To see the progress: ${this.following(`jobs show ${queued.job_id}`, flags)}`)
      return queued
    }
    const job = await followJob(caller, queued, tenant.id)
    this.log(job.result?.path ?? '')
    this.tell(`The archive of ${tenant.slug} is complete.`)
    return job
  }
}
