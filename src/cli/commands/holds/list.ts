import { Args, Flags } from '@oclif/core'
import { type Hold, retentionOperations } from '../../../core/contract/retention/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { moment } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<Hold>[] = [
  { head: 'SCOPE', cell: ({ scope }) => scope.kind, whole: true },
  { head: 'TARGET', cell: ({ scope }) => scope.id ?? '-' },
  { head: 'REASON', cell: ({ reason }) => reason },
  { head: 'PLACED', cell: ({ placed_at }) => moment(placed_at) },
  { head: 'RELEASED', cell: ({ released_at }) => moment(released_at) },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

export default class HoldsList extends CallerCommand {
  static override summary = "List a workspace's legal holds, oldest first"
  static override examples = [
    '<%= config.bin %> holds list acme',
    '<%= config.bin %> holds list acme --in-force --json',
  ]
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }
  static override flags = { 'in-force': Flags.boolean({ summary: 'Only holds in force.' }) }

  async run(): Promise<{ data: Hold[] }> {
    const { args, flags } = await this.parse(HoldsList)
    const caller = await this.open(flags)
    const tenant = await findWorkspace(caller, args.workspace)
    const data: Hold[] = []
    const asked = { tenant_id: tenant.id, ...(flags['in-force'] ? { state: 'IN_FORCE' as const } : {}), size: 200 }
    for await (const page of pagesOf(caller, retentionOperations.listHolds, asked)) data.push(...page.data)
    this.log(await table(data, columns, `${tenant.slug} has no legal hold.`))
    return { data }
  }
}
