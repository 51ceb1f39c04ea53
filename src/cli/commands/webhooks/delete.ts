import { Flags } from '@oclif/core'
import { webhookOperations } from '../../../core/contract/webhooks/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWebhook, webhookArgument } from '../../find/webhooks.ts'
import { confirmByName } from '../../input/prompts.ts'

export default class WebhooksDelete extends CallerCommand {
  static override summary = 'Delete a webhook, its secrets and its deliveries'
  static override examples = ['<%= config.bin %> webhooks delete 0199c0de --confirm https://hooks.example.com/svc']
  static override args = { webhook: webhookArgument }
  static override flags = {
    confirm: Flags.string({ summary: 'Confirm without a prompt: the target of the webhook.', helpValue: 'TARGET' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksDelete)
    const caller = await this.open(flags)
    const webhook = await findWebhook(caller, args.webhook)
    await confirmByName(
      webhook.target_url,
      'The daemon stops sending to this target, and the deliveries are deleted.',
      flags.confirm,
    )
    await caller.call(webhookOperations.deleteWebhook, { webhookId: webhook.id })
    this.tell(`Deleted the webhook to ${webhook.target_url}.`)
  }
}
