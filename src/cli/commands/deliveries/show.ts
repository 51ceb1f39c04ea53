import { Args, Flags } from '@oclif/core'
import { CallerCommand } from '../../base-command.ts'
import { findDelivery } from '../../find/webhooks.ts'
import { attemptLine, deliveryDetails, traceLines } from '../../render/delivery.ts'
import { printableLines } from '../../render/printable.ts'

export default class DeliveriesShow extends CallerCommand {
  static override summary = 'Show one delivery with every attempt and every answer of the target'
  static override examples = ['<%= config.bin %> deliveries show 0199c0de-0000-7000-8000-000000000042']
  static override args = {
    delivery: Args.string({ ignoreStdin: true, required: true, description: "the delivery's id" }),
  }
  static override flags = {
    webhook: Flags.string({
      summary: 'The webhook of the delivery; default: search all webhooks.',
      helpValue: 'WEBHOOK',
    }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(DeliveriesShow)
    const { delivery } = await findDelivery(await this.open(flags), args.delivery, flags.webhook)
    await this.show(() =>
      [
        deliveryDetails(delivery),
        ...delivery.attempts.flatMap((attempt) => [
          '',
          attemptLine(attempt),
          ...traceLines(attempt.trace),
          ...(attempt.body ? [printableLines(`      body    ${attempt.body}`)] : []),
        ]),
      ].join('\n'),
    )
    return delivery
  }
}
