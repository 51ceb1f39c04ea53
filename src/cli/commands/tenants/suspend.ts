import { Args, Flags } from '@oclif/core'
import { tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWorkspace, ownWorkspaceId } from '../../find/workspaces.ts'
import { confirmByName } from '../../input/prompts.ts'

export default class TenantsSuspend extends CallerCommand {
  static override summary = 'Suspend a workspace; its people are refused from their next request'
  static override description =
    'Its data stays, and `tenants resume` lets its people in again. Suspending twice is no failure.'
  static override examples = [
    '<%= config.bin %> tenants suspend acme',
    '<%= config.bin %> tenants suspend acme --recovery',
  ]
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }
  static override flags = {
    confirm: Flags.string({ summary: 'Answers the question whether to lock yourself out, too.', helpValue: 'SLUG' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TenantsSuspend)
    const caller = await this.open(flags)
    const tenant = await findWorkspace(caller, args.workspace)
    const isOwn = tenant.id === (await ownWorkspaceId(caller))
    if (isOwn) {
      await confirmByName(
        tenant.slug,
        `Your own account is in ${tenant.slug}: this locks you out. Then only another operator, or \`svc tenants resume ${tenant.slug} --recovery\`, can resume it.`,
        flags.confirm,
      )
    }

    await caller.call(tenantOperations.suspendTenant, { tenantId: tenant.id })

    const did =
      tenant.state === 'SUSPENDED'
        ? 'was suspended already'
        : 'is suspended. Its people are refused from their next request'
    const resume = `tenants resume ${tenant.slug}`
    // Whoever has locked himself out has no token any more that would be taken.
    const again = isOwn ? `svc ${resume} --recovery, or another operator` : this.following(resume, flags)
    this.tell(`${tenant.slug} ${did}.\nTo let them in again: ${again}`)
  }
}
