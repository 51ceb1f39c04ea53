import { Args } from '@oclif/core'
import { webhookOperations } from '../../../core/webhooks/contract.ts'
import { CallerCommand } from '../../base-command.ts'
import { webhookDetails } from '../../render/webhook.ts'
import { findWebhook } from '../../webhooks.ts'

export default class WebhooksPause extends CallerCommand {
  static override summary = 'Pause a webhook: what is pending waits'
  static override description =
    'What happens meanwhile is not delivered later; `svc deliveries` keeps what was pending.'
  static override examples = ['<%= config.bin %> webhooks pause https://hooks.example.com/svc']
  static override args = {
    webhook: Args.string({
      ignoreStdin: true,
      required: true,
      description: 'its id, the beginning of it, or its target',
    }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(WebhooksPause)
    const caller = await this.open(flags)
    const { id } = await findWebhook(caller, args.webhook)
    const changed = await caller.call(webhookOperations.changeWebhook, { webhookId: id, body: { state: 'PAUSED' } })
    await this.show(() => webhookDetails(changed))
    return changed
  }
}
