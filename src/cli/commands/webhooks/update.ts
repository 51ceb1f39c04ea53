import { Flags } from '@oclif/core'
import { webhookOperations } from '../../../core/contract/webhooks/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { changedTypesFlag, typesNamed } from '../../call/event-stream.ts'
import { Failure } from '../../failure.ts'
import { findWebhook, webhookArgument } from '../../find/webhooks.ts'
import { webhookDetails } from '../../render/webhook.ts'

export default class WebhooksUpdate extends CallerCommand {
  static override summary = 'Change the target of a webhook, or the events that it receives'
  static override description = 'The given types replace all previous types. Pending deliveries go to the new target.'
  static override examples = [
    '<%= config.bin %> webhooks update 0199c0de --url https://hooks.example.com/new',
    "<%= config.bin %> webhooks update 0199c0de --type 'work.item.*' --type work.bucket.created",
  ]
  static override args = { webhook: webhookArgument }
  static override flags = {
    url: Flags.string({ summary: 'The new target.', helpValue: 'URL' }),
    type: changedTypesFlag,
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(WebhooksUpdate)
    if (flags.url === undefined && flags.type === undefined)
      throw new Failure('usage', 'No change was given.', 'Give --url, --type, or both.')
    const caller = await this.open(flags)
    const { id, version } = await findWebhook(caller, args.webhook)
    const body = {
      ...(flags.url === undefined ? {} : { target_url: flags.url }),
      ...(flags.type === undefined ? {} : { event_types: await typesNamed(caller, flags.type) }),
    }
    const changed = await caller.call(webhookOperations.changeWebhook, { webhookId: id, body, ifMatch: `"${version}"` })
    await this.show(() => webhookDetails(changed))
    return changed
  }
}
