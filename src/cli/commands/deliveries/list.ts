import { Flags } from '@oclif/core'
import { type Delivery, deliveryStatuses, webhookOperations } from '../../../core/contract/webhooks/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { findWebhook, webhookArgument } from '../../find/webhooks.ts'
import { isWithin, spanFlags, spanOf } from '../../input/span.ts'
import { moment } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<Delivery>[] = [
  { head: 'CREATED', cell: ({ created_at }) => moment(created_at) },
  { head: 'EVENT', cell: ({ event_type }) => event_type },
  { head: 'STATUS', cell: ({ status }) => status, whole: true },
  { head: 'ATTEMPTS', cell: ({ attempt }) => String(attempt), align: 'right' },
  { head: 'LAST', cell: ({ attempts }) => lastOf(attempts.at(-1)) },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

const lastOf = (attempt: Delivery['attempts'][number] | undefined) =>
  attempt === undefined ? '' : (attempt.error ?? String(attempt.status ?? 'under way'))

export default class DeliveriesList extends CallerCommand {
  static override summary = 'List the deliveries of a webhook, newest first'
  static override examples = [
    '<%= config.bin %> deliveries list https://hooks.example.com/svc --status DEAD_LETTER',
    '<%= config.bin %> deliveries list 0199c0de --since 6h --json',
  ]
  static override args = { webhook: webhookArgument }
  static override flags = {
    status: Flags.string({ summary: 'Only deliveries of this status.', options: deliveryStatuses }),
    ...spanFlags,
    max: Flags.integer({ summary: 'The maximum number of deliveries.', min: 1, default: 50 }),
  }

  async run(): Promise<{ data: Delivery[] }> {
    const { args, flags } = await this.parse(DeliveriesList)
    const span = spanOf(flags)
    const caller = await this.open(flags)
    const { id } = await findWebhook(caller, args.webhook)
    const status = flags.status as Delivery['status'] | undefined
    const asked = { webhookId: id, size: Math.min(flags.max, 200), ...(status === undefined ? {} : { status }) }
    const data: Delivery[] = []
    for await (const page of pagesOf(caller, webhookOperations.listDeliveries, asked)) {
      data.push(...page.data.filter(({ created_at }) => isWithin(span, created_at)))
      // Newest first: every delivery after one that is too old is older still.
      if (data.length >= flags.max || page.data.some(({ created_at }) => Date.parse(created_at) < span.from)) break
    }
    const shown = data.slice(0, flags.max)
    await this.show(() => table(shown, columns, 'No delivery matches.'))
    return { data: shown }
  }
}
