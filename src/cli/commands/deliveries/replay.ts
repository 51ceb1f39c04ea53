import { Args, Flags } from '@oclif/core'
import { webhookOperations } from '../../../core/contract/webhooks/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { findWebhook, webhookArgument } from '../../find/webhooks.ts'
import { chosenDeliveries, type Repeatable, repeatAll, repeatable } from '../../follow/replaying.ts'
import { spanFlags, spanOf } from '../../input/span.ts'
import { deliveryDetails } from '../../render/delivery.ts'
import { moment } from '../../render/moment.ts'

export default class DeliveriesReplay extends CallerCommand {
  static override summary = 'Send deliveries again: one, or all of a period'
  static override description =
    'A dead letter gets one more attempt, under the same event id. --status SUCCEEDED sends events again that the target has accepted. ' +
    'Sends the oldest first, at most --max deliveries, and at most --per-second each second. Exits 8 if some were refused, or if more than --max match.'
  static override examples = [
    '<%= config.bin %> deliveries replay https://hooks.example.com/svc 0199c0de-0000-7000-8000-000000000042',
    '<%= config.bin %> deliveries replay https://hooks.example.com/svc --since 6h --max 500 --per-second 20',
    '<%= config.bin %> deliveries replay 0199c0de --status SUCCEEDED --since 2026-09-01T09:00:00Z --until 2026-09-01T10:00:00Z --dry-run',
  ]
  static override args = {
    webhook: webhookArgument,
    delivery: Args.string({
      ignoreStdin: true,
      description: "one delivery's id; default: all deliveries that match the flags",
    }),
  }
  static override flags = {
    status: Flags.string({
      summary: 'The status of the deliveries to send again.',
      options: repeatable,
      default: 'DEAD_LETTER',
    }),
    ...spanFlags,
    max: Flags.integer({ summary: 'The maximum number of deliveries.', min: 1, max: 10_000, default: 100 }),
    'per-second': Flags.integer({
      summary: 'The maximum number of deliveries each second.',
      min: 1,
      max: 50,
      default: 5,
    }),
    'dry-run': Flags.boolean({ summary: 'Show what would be sent again, and send nothing.' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(DeliveriesReplay)
    const span = spanOf(flags)
    const caller = await this.open(flags)
    const { id: webhookId, state } = await findWebhook(caller, args.webhook)
    if (args.delivery !== undefined) {
      const delivery = await caller.call(webhookOperations.replayDelivery, { webhookId, deliveryId: args.delivery })
      await this.show(() => deliveryDetails(delivery))
      return delivery
    }

    const status = flags.status as Repeatable
    const { deliveries, over } = await chosenDeliveries(caller, webhookId, { status, span, max: flags.max })
    const [first, last] = [deliveries.at(0), deliveries.at(-1)]
    const between = first && last ? `, from ${moment(first.created_at)} to ${moment(last.created_at)}` : ''
    this.tell(`${deliveries.length} of status ${status}${between}${over > 0 ? `; ${over} more are above --max` : ''}.`)
    if (flags['dry-run']) return { repeated: [], refused: [], chosen: deliveries.map(({ id }) => id), over }
    if (deliveries.length > 0 && state !== 'ACTIVE')
      throw new Failure(
        'conflict',
        `The webhook is ${state} and sends nothing.`,
        `First run: ${this.following(`webhooks resume ${webhookId}`, flags)}`,
      )

    const { repeated, refused } = await repeatAll(caller, deliveries, flags['per-second'])
    await this.show(() =>
      [
        `Sent again: ${repeated.length}.`,
        ...refused.map(({ delivery_id, code }) => `Refused: ${delivery_id} (${code}).`),
      ].join('\n'),
    )
    if (refused.length > 0 || over > 0) process.exitCode = 8
    return { repeated, refused, over }
  }
}
