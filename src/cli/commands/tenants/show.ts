import { Args } from '@oclif/core'
import { CallerCommand } from '../../base-command.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { details } from '../../render/details.ts'
import { moment } from '../../render/moment.ts'

export default class TenantsShow extends CallerCommand {
  static override summary = 'Show one workspace'
  static override examples = ['<%= config.bin %> tenants show acme']
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(TenantsShow)
    const tenant = await findWorkspace(await this.open(flags), args.workspace)
    const since = (at: string | null) => (at === null ? null : moment(at))
    this.log(
      details([
        ['slug', tenant.slug],
        ['name', tenant.display_name],
        ['id', tenant.id],
        ['state', tenant.state],
        ['accounts', tenant.account_count],
        ['legal holds', tenant.hold_count],
        ['locale', tenant.default_locale],
        ['time zone', tenant.default_time_zone],
        ['created', moment(tenant.created_at)],
        ['suspended', since(tenant.suspended_at)],
        ['deletion asked', since(tenant.deletion_requested_at)],
        ['purge after', since(tenant.purge_after)],
        ['purge began', since(tenant.purge_started_at)],
        ['passwords until', since(tenant.password_opening?.until ?? null)],
        ['passwords asked by', tenant.password_opening?.requester],
        ['version', tenant.version],
      ]),
    )
    return tenant
  }
}
