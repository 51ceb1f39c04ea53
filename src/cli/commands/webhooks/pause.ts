import { CallerCommand } from '../../base-command.ts'
import { setWebhookState, webhookArgument } from '../../find/webhooks.ts'
import { webhookDetails } from '../../render/webhook.ts'

export default class WebhooksPause extends CallerCommand {
  static override summary = 'Pause a webhook; its pending deliveries wait'
  static override description =
    'Events that happen during the pause are never delivered. Deliveries that were pending continue after `webhooks resume`.'
  static override examples = ['<%= config.bin %> webhooks pause https://hooks.example.com/svc']
  static override args = { webhook: webhookArgument }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(WebhooksPause)
    const caller = await this.open(flags)
    const changed = await setWebhookState(caller, args.webhook, 'PAUSED')
    await this.show(() => webhookDetails(changed))
    return changed
  }
}
