import { Flags } from '@oclif/core'
import { deliveryOperations } from '../../../core/contract/webhooks/operator-view.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { histogram, statsTable } from '../../render/delivery-stats.ts'

export default class DeliveriesStats extends CallerCommand {
  static override summary = 'How deliveries fare, by workspace and host'
  static override description =
    'For operators: counts, states and durations, never content. WEBHOOKS counts active, paused and disabled ones; those with the most waiting come first.'
  static override examples = [
    '<%= config.bin %> deliveries stats',
    '<%= config.bin %> deliveries stats --workspace acme --hours 1 --histogram',
  ]
  static override flags = {
    hours: Flags.integer({ summary: 'How far back attempts are counted.', min: 1, max: 720, default: 24 }),
    workspace: Flags.string({ summary: "Only this one's.", helpValue: 'SLUG' }),
    histogram: Flags.boolean({ summary: 'Also how long attempts took, and what failures were.' }),
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
