import { randomUUID } from 'node:crypto'
import { Args } from '@oclif/core'
import { webhookOperations } from '../../../core/contract/webhooks/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { requiredTypeFlag, typesNamed } from '../../call/event-stream.ts'
import { keepingToken, tokenFileFlag, withTokenFile } from '../../input/token-file.ts'
import { webhookDetails } from '../../render/webhook.ts'

export default class WebhooksCreate extends CallerCommand {
  static override summary = 'Subscribe a target to events; its signing secret is shown once'
  static override examples = [
    '<%= config.bin %> webhooks create https://hooks.example.com/svc --type work.item.created',
    "<%= config.bin %> webhooks create https://hooks.example.com/svc --type 'work.item.*' --secret-file svc.secret",
  ]
  static override args = {
    url: Args.string({ ignoreStdin: true, required: true, description: 'where events are posted to' }),
  }
  static override flags = {
    type: requiredTypeFlag,
    'secret-file': tokenFileFlag('the signing secret'),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(WebhooksCreate)
    const caller = await this.open(flags)
    const event_types = await typesNamed(caller, flags.type)
    const body = { target_url: args.url, event_types }
    const file = flags['secret-file']
    const call = () => caller.call(webhookOperations.createWebhook, { body, idempotencyKey: randomUUID() })
    const made = await keepingToken(file, ({ secret }) => secret, call)
    await this.show(() => webhookDetails(made, [['secret', file ? `written to ${file}` : made.secret]]))
    this.tell(
      `\nThe receiver verifies deliveries with the secret; it is not shown again. ${this.following(`webhooks rotate-secret ${made.id}`, flags)} makes another.`,
    )
    return withTokenFile(made, 'secret', file)
  }
}
