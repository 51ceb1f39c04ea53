import { Args } from '@oclif/core'
import { tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWorkspace } from '../../find/workspaces.ts'

export default class TenantsCancelDeletion extends CallerCommand {
  static override summary = 'Cancel the deletion of a workspace, until its purge begins'
  static override description =
    'The workspace returns to its previous state, active or suspended. Automations that the deletion switched off run again.'
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
        ? `The deletion of ${tenant.slug} is cancelled; the workspace is ${tenant.state_before_deletion ?? 'SUSPENDED'} again.`
        : `${tenant.slug} was not pending deletion.`,
    )
  }
}
