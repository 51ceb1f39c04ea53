import { randomUUID } from 'node:crypto'
import { Args } from '@oclif/core'
import { webhookOperations } from '../../../core/contract/webhooks/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { requiredTypeFlag, typesNamed } from '../../call/event-stream.ts'
import { keepingToken, tokenFileFlag, withTokenFile } from '../../input/token-file.ts'
import { webhookDetails } from '../../render/webhook.ts'

export default class WebhooksCreate extends CallerCommand {
  static override summary = 'Send events to a target URL; the signing secret is shown only once'
  static override examples = [
    '<%= config.bin %> webhooks create https://hooks.example.com/svc --type work.item.created',
    "<%= config.bin %> webhooks create https://hooks.example.com/svc --type 'work.item.*' --secret-file svc.secret",
  ]
  static override args = {
    url: Args.string({ ignoreStdin: true, required: true, description: 'the URL that receives events' }),
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
      `\nThe receiver verifies deliveries with the secret, which is not shown again. To make a new secret: ${this.following(`webhooks rotate-secret ${made.id}`, flags)}`,
    )
    return withTokenFile(made, 'secret', file)
  }
}
