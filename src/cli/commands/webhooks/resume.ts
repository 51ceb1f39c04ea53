import { Args } from '@oclif/core'
import { webhookOperations } from '../../../core/webhooks/contract.ts'
import { CallerCommand } from '../../base-command.ts'
import { webhookDetails } from '../../render/webhook.ts'
import { findWebhook } from '../../webhooks.ts'

export default class WebhooksResume extends CallerCommand {
  static override summary = 'Set a paused or disabled webhook going again'
  static override description =
    'A disabled one begins anew: its count of failures is 0 again. What was pending goes on.'
  static override examples = ['<%= config.bin %> webhooks resume https://hooks.example.com/svc']
  static override args = {
    webhook: Args.string({
      ignoreStdin: true,
      required: true,
      description: 'its id, the beginning of it, or its target',
    }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(WebhooksResume)
    const caller = await this.open(flags)
    const { id } = await findWebhook(caller, args.webhook)
    const changed = await caller.call(webhookOperations.changeWebhook, { webhookId: id, body: { state: 'ACTIVE' } })
    await this.show(() => webhookDetails(changed))
    return changed
  }
}
