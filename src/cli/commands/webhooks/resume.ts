import { CallerCommand } from '../../base-command.ts'
import { setWebhookState, webhookArgument } from '../../find/webhooks.ts'
import { webhookDetails } from '../../render/webhook.ts'

export default class WebhooksResume extends CallerCommand {
  static override summary = 'Resume a paused or disabled webhook'
  static override description =
    'Pending deliveries continue. For a disabled webhook the count of failures starts again at 0.'
  static override examples = ['<%= config.bin %> webhooks resume https://hooks.example.com/svc']
  static override args = { webhook: webhookArgument }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(WebhooksResume)
    const caller = await this.open(flags)
    const changed = await setWebhookState(caller, args.webhook, 'ACTIVE')
    await this.show(() => webhookDetails(changed))
    return changed
  }
}
