import { Args } from '@oclif/core'
import { type AdminTenant, tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { toldByMail } from '../../follow/mail-place.ts'

export default class TenantsClosePassword extends CallerCommand {
  static override summary = 'End the password opening of a workspace before its time'
  static override examples = ['<%= config.bin %> tenants close-password acme']
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }

  async run(): Promise<AdminTenant> {
    const { args, flags } = await this.parse(TenantsClosePassword)
    const caller = await this.open(flags)
    const before = await findWorkspace(caller, args.workspace)

    const tenant = await caller.call(tenantOperations.closePassword, { tenantId: before.id })

    this.tell(before.password_opening ? `The opening of ${tenant.slug} is closed.` : `${tenant.slug} had no opening.`)
    if (before.password_opening) this.tell(toldByMail(caller, 'Its administrators are'))
    return tenant
  }
}
