import { Args } from '@oclif/core'
import { type AdminTenant, tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { mailNotice } from '../../follow/mail-place.ts'

export default class TenantsClosePassword extends CallerCommand {
  static override summary = 'End the password opening of a workspace early'
  static override examples = ['<%= config.bin %> tenants close-password acme']
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }

  async run(): Promise<AdminTenant> {
    const { args, flags } = await this.parse(TenantsClosePassword)
    const caller = await this.open(flags)
    const before = await findWorkspace(caller, args.workspace)

    const tenant = await caller.call(tenantOperations.closePassword, { tenantId: before.id })

    this.tell(
      before.password_opening
        ? `The password opening of ${tenant.slug} has ended.`
        : `${tenant.slug} had no password opening.`,
    )
    if (before.password_opening) this.tell(mailNotice(caller, 'its administrators'))
    return tenant
  }
}
