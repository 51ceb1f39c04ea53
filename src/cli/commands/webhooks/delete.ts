import { Flags } from '@oclif/core'
import { webhookOperations } from '../../../core/contract/webhooks/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWebhook, webhookArgument } from '../../find/webhooks.ts'
import { confirmByName } from '../../input/prompts.ts'

export default class WebhooksDelete extends CallerCommand {
  static override summary = 'Remove a webhook, its secrets and its deliveries'
  static override examples = ['<%= config.bin %> webhooks delete 0199c0de --confirm https://hooks.example.com/svc']
  static override args = { webhook: webhookArgument }
  static override flags = {
    confirm: Flags.string({ summary: 'Answers the question whether to remove it.', helpValue: 'TARGET' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksDelete)
    const caller = await this.open(flags)
    const webhook = await findWebhook(caller, args.webhook)
    await confirmByName(
      webhook.target_url,
      'Nothing more is sent there, and its deliveries are forgotten.',
      flags.confirm,
    )
    await caller.call(webhookOperations.deleteWebhook, { webhookId: webhook.id })
    this.tell(`Removed the webhook to ${webhook.target_url}.`)
  }
}
