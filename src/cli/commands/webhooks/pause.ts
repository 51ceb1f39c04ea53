import { CallerCommand } from '../../base-command.ts'
import { setWebhookState, webhookArgument } from '../../find/webhooks.ts'
import { webhookDetails } from '../../render/webhook.ts'

export default class WebhooksPause extends CallerCommand {
  static override summary = 'Pause a webhook: what is pending waits'
  static override description =
    'What happens meanwhile is not delivered later; `svc deliveries` keeps what was pending.'
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
