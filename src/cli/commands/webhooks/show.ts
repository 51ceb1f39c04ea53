import { CallerCommand } from '../../base-command.ts'
import { findWebhook, webhookArgument } from '../../find/webhooks.ts'
import { webhookDetails } from '../../render/webhook.ts'

export default class WebhooksShow extends CallerCommand {
  static override summary = 'Show one webhook'
  static override examples = ['<%= config.bin %> webhooks show https://hooks.example.com/svc']
  static override args = { webhook: webhookArgument }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(WebhooksShow)
    const webhook = await findWebhook(await this.open(flags), args.webhook)
    await this.show(() => webhookDetails(webhook))
    return webhook
  }
}
