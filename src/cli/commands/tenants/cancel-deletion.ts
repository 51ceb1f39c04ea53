import { Args } from '@oclif/core'
import { tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWorkspace } from '../../find/workspaces.ts'

export default class TenantsCancelDeletion extends CallerCommand {
  static override summary = 'Take the deletion of a workspace back, as long as its purge has not begun'
  static override description =
    'It is again what it was before, active or suspended, and automations that the deletion switched off run again.'
  static override examples = ['<%= config.bin %> tenants cancel-deletion acme']
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TenantsCancelDeletion)
    const caller = await this.open(flags)
    const tenant = await findWorkspace(caller, args.workspace)

    await caller.call(tenantOperations.cancelTenantDeletion, { tenantId: tenant.id })

    this.tell(
      tenant.state === 'PENDING_DELETION'
        ? `${tenant.slug} stays; it is ${tenant.state_before_deletion ?? 'SUSPENDED'} again.`
        : `${tenant.slug} was not pending deletion.`,
    )
  }
}
