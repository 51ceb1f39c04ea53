import { Args } from '@oclif/core'
import { tenantOperations } from '../../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../../base-command.ts'
import { findWorkspace } from '../../../find/workspaces.ts'
import { quotaTable } from '../../../render/quotas.ts'

export default class TenantsQuotasShow extends CallerCommand {
  static override summary = "Show a workspace's quotas, the source of each, and how much is used"
  static override examples = ['<%= config.bin %> tenants quotas show acme']
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(TenantsQuotasShow)
    const caller = await this.open(flags)
    const tenant = await findWorkspace(caller, args.workspace)
    // An empty patch changes nothing and returns the quotas (the contract has no GET).
    const quotas = await caller.call(tenantOperations.changeTenantQuotas, { tenantId: tenant.id, body: {} })
    await this.show(() => quotaTable(quotas))
    return quotas
  }
}
