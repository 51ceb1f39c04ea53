import { Args } from '@oclif/core'
import { statisticsOperations, type TenantStatistics } from '../../../core/contract/statistics/operations.ts'
import { portionsOf } from '../../../core/kernel/values/portions.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { sizeInWords, sparkline } from '../../render/sparkline.ts'
import { type Column, table } from '../../render/table.ts'

type Counted = TenantStatistics['entities'][number]

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

/** A bar for each day; in a narrow terminal for each two, so that the entities stay a table. */
const barsOf = (newPerDay: readonly number[], width = process.stdout.columns) =>
  sparkline(width && width < 80 ? portionsOf(newPerDay, 2).map(sum) : newPerDay)

const columns = (days: number): readonly Column<Counted>[] => [
  { head: 'ENTITY', cell: ({ entity }) => entity, whole: true },
  { head: 'ROWS', cell: ({ rows }) => String(rows), align: 'right', whole: true },
  { head: 'SIZE', cell: ({ bytes }) => sizeInWords(bytes), align: 'right', whole: true },
  { head: `LAST ${days} DAYS`, cell: ({ new_per_day }) => (new_per_day ? barsOf(new_per_day) : ''), whole: true },
  {
    head: 'NEW',
    cell: ({ new_per_day }) => (new_per_day ? String(sum(new_per_day)) : ''),
    align: 'right',
    whole: true,
  },
]

export default class TenantsStats extends CallerCommand {
  static override summary = 'Show the size and growth of a workspace: counts and sizes, never content'
  static override examples = ['<%= config.bin %> tenants stats acme', '<%= config.bin %> tenants stats acme --json']
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(TenantsStats)
    const caller = await this.open(flags)
    const { id } = await findWorkspace(caller, args.workspace)
    const statistics = await caller.call(statisticsOperations.getTenantStatistics, { tenantId: id })
    await this.show(() => table(statistics.entities, columns(statistics.days), ''))
    return statistics
  }
}
