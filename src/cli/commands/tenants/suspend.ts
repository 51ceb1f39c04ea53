import { Args, Flags } from '@oclif/core'
import { tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWorkspace, ownWorkspaceId } from '../../find/workspaces.ts'
import { confirmByName } from '../../input/prompts.ts'

export default class TenantsSuspend extends CallerCommand {
  static override summary = 'Suspend a workspace; it refuses its people from their next request'
  static override description =
    'Its data stays. `tenants resume` lets its people in again. Suspending a suspended workspace succeeds.'
  static override examples = [
    '<%= config.bin %> tenants suspend acme',
    '<%= config.bin %> tenants suspend acme --recovery',
  ]
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }
  static override flags = {
    confirm: Flags.string({
      summary: "Confirm without a prompt that you lock yourself out: the workspace's slug.",
      helpValue: 'SLUG',
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TenantsSuspend)
    const caller = await this.open(flags)
    const tenant = await findWorkspace(caller, args.workspace)
    const isOwn = tenant.id === (await ownWorkspaceId(caller))
    if (isOwn) {
      await confirmByName(
        tenant.slug,
        `Your own account is in ${tenant.slug}, so this locks you out. Only another operator, or \`svc tenants resume ${tenant.slug} --recovery\`, can resume it.`,
        flags.confirm,
      )
    }

    await caller.call(tenantOperations.suspendTenant, { tenantId: tenant.id })

    const did =
      tenant.state === 'SUSPENDED'
        ? 'was suspended already'
        : 'is suspended and refuses its people from their next request'
    const resume = `tenants resume ${tenant.slug}`
    // An operator that has locked itself out has no valid token any more.
    const again = isOwn ? `svc ${resume} --recovery, or another operator` : this.following(resume, flags)
    this.tell(`${tenant.slug} ${did}.\nTo let them in again: ${again}`)
  }
}
