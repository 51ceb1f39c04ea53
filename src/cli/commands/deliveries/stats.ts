import { Flags } from '@oclif/core'
import { deliveryOperations } from '../../../core/contract/webhooks/operator-view.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { histogram, statsTable } from '../../render/delivery-stats.ts'

export default class DeliveriesStats extends CallerCommand {
  static override summary = 'Show statistics of deliveries for each workspace and host'
  static override description =
    'For operators. Shows counts, states and durations, never content. WEBHOOKS counts active, paused and disabled webhooks. The hosts with the most waiting deliveries come first.'
  static override examples = [
    '<%= config.bin %> deliveries stats',
    '<%= config.bin %> deliveries stats --workspace acme --hours 1 --histogram',
  ]
  static override flags = {
    hours: Flags.integer({ summary: 'Count the attempts of this many past hours.', min: 1, max: 720, default: 24 }),
    workspace: Flags.string({ summary: 'Only this workspace.', helpValue: 'SLUG' }),
    histogram: Flags.boolean({ summary: 'Also show how long attempts took, and the kinds of failures.' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(DeliveriesStats)
    const caller = await this.open(flags)
    const tenant = flags.workspace === undefined ? undefined : await findWorkspace(caller, flags.workspace)
    const answer = await caller.call(deliveryOperations.getDeliveryStats, {
      hours: flags.hours,
      ...(tenant ? { tenant_id: tenant.id } : {}),
    })
    await this.show(async () =>
      [
        await statsTable(answer.data),
        ...(flags.histogram && answer.data.length > 0 ? ['', histogram(answer.data)] : []),
      ].join('\n'),
    )
    return answer
  }
}
