import { Args } from '@oclif/core'
import { webhookOperations } from '../../../core/contract/webhooks/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWebhook, webhookArgument } from '../../find/webhooks.ts'
import { deliveryDetails } from '../../render/delivery.ts'

export default class WebhooksSend extends CallerCommand {
  static override summary = 'Deliver one past event, even of a type that the webhook does not receive'
  static override examples = [
    '<%= config.bin %> webhooks send https://hooks.example.com/svc 0199c0de-0000-7000-8000-000000000099',
  ]
  static override args = {
    webhook: webhookArgument,
    event: Args.string({ ignoreStdin: true, required: true, description: "the event's id" }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(WebhooksSend)
    const caller = await this.open(flags)
    const { id } = await findWebhook(caller, args.webhook)
    const delivery = await caller.call(webhookOperations.sendEvent, { webhookId: id, body: { event_id: args.event } })
    await this.show(() => deliveryDetails(delivery))
    this.tell(`\nTo see the result: ${this.following(`deliveries why ${delivery.id}`, flags)}`)
    return delivery
  }
}
