import { Flags } from '@oclif/core'
import { type AdminTenant, tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { day } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<AdminTenant>[] = [
  { head: 'SLUG', cell: (tenant) => tenant.slug, whole: true },
  { head: 'NAME', cell: (tenant) => tenant.display_name },
  { head: 'STATE', cell: (tenant) => tenant.state, whole: true },
  { head: 'ACCOUNTS', cell: (tenant) => String(tenant.account_count), align: 'right' },
  { head: 'CREATED', cell: (tenant) => day(tenant.created_at) },
  { head: 'ID', cell: (tenant) => tenant.id, whole: true },
]

export default class TenantsList extends CallerCommand {
  static override summary = 'List the workspaces, oldest first'
  static override examples = [
    '<%= config.bin %> tenants list',
    '<%= config.bin %> tenants list --state SUSPENDED --json',
  ]
  static override flags = {
    state: Flags.string({
      summary: 'Only workspaces in this state.',
      options: ['ACTIVE', 'SUSPENDED', 'PENDING_DELETION'] as const,
    }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(TenantsList)
    const caller = await this.open(flags)
    const state = flags.state as AdminTenant['state'] | undefined
    const answer = await caller.call(tenantOperations.listTenants, state === undefined ? {} : { state })
    await this.show(() =>
      table(
        answer.data,
        columns,
        state ? `No workspace is ${state}.` : 'There is no workspace yet. `svc tenants provision` makes one.',
      ),
    )
    return answer
  }
}
