import { Args } from '@oclif/core'
import { tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWorkspace } from '../../find/workspaces.ts'

export default class TenantsResume extends CallerCommand {
  static override summary = 'Resume a suspended workspace'
  static override examples = ['<%= config.bin %> tenants resume acme']
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TenantsResume)
    const caller = await this.open(flags)
    const tenant = await findWorkspace(caller, args.workspace)

    await caller.call(tenantOperations.resumeTenant, { tenantId: tenant.id })

    this.tell(
      tenant.state === 'ACTIVE'
        ? `${tenant.slug} was active already.`
        : `${tenant.slug} is active again and serves its people from their next request.`,
    )
  }
}
