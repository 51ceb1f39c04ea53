import { Args, Flags } from '@oclif/core'
import { type AdminTenant, tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { mailNotice } from '../../follow/mail-place.ts'
import { proofFlags } from '../../input/second-factor-input.ts'
import { moment } from '../../render/moment.ts'

export default class TenantsOpenPassword extends CallerCommand {
  static override summary = 'Allow a workspace to sign in with passwords for some hours, regardless of its switches'
  static override description =
    'For a workspace whose identity provider fails. The opening ends by itself; a second opening replaces the first. Asks for your password again.'
  static override examples = [
    '<%= config.bin %> tenants open-password acme --requester "Ada Lovelace" --reason "their provider is down" --hours 8',
  ]
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }
  static override flags = {
    hours: Flags.integer({ summary: 'The duration in hours: 1 to 168.', default: 24, helpValue: 'HOURS' }),
    requester: Flags.string({ summary: 'The person who asked for it.', required: true, helpValue: 'WHO' }),
    reason: Flags.string({
      summary: 'The reason; the workspace sees it in its audit trail.',
      required: true,
      helpValue: 'TEXT',
    }),
    ...proofFlags,
  }

  async run(): Promise<AdminTenant> {
    const { args, flags } = await this.parse(TenantsOpenPassword)
    const { hours, requester, reason } = flags
    const caller = await this.open(flags)
    const { id: tenantId } = await findWorkspace(caller, args.workspace)

    const tenant = await this.callProven(
      caller,
      tenantOperations.openPassword,
      { tenantId, body: { hours, requester, reason } },
      flags,
    )

    this.tell(
      `${tenant.slug} can sign in with passwords until ${moment(tenant.password_opening?.until ?? null)}.\nTo end it earlier: ${this.following(`tenants close-password ${tenant.slug}`, flags)}`,
    )
    this.tell(mailNotice(caller, 'its administrators'))
    return tenant
  }
}
