import { randomUUID } from 'node:crypto'
import { Flags } from '@oclif/core'
import { webhookOperations } from '../../../core/contract/webhooks/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWebhook, webhookArgument } from '../../find/webhooks.ts'
import { keepingToken, tokenFileFlag, withTokenFile } from '../../input/token-file.ts'
import { moment } from '../../render/moment.ts'
import { webhookDetails } from '../../render/webhook.ts'

export default class WebhooksRotateSecret extends CallerCommand {
  static override summary = 'Sign with a new secret from now on; it is shown once'
  static override description =
    'Until the grace is over deliveries are signed with the secret before as well, so that the receiver can change over in its own time.'
  static override examples = [
    '<%= config.bin %> webhooks rotate-secret 0199c0de --grace-seconds 3600',
    '<%= config.bin %> webhooks rotate-secret 0199c0de --grace-seconds 0 --secret-file svc.secret',
  ]
  static override args = { webhook: webhookArgument }
  static override flags = {
    'grace-seconds': Flags.integer({
      summary: 'How long the secret before is signed with as well; 0 ends it at once. Absent: a day.',
      min: 0,
      max: 604_800,
    }),
    'secret-file': tokenFileFlag('the new secret'),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(WebhooksRotateSecret)
    const caller = await this.open(flags)
    const { id } = await findWebhook(caller, args.webhook)
    const grace = flags['grace-seconds']
    const body = grace === undefined ? {} : { grace_seconds: grace }
    const file = flags['secret-file']
    const call = () =>
      caller.call(webhookOperations.rotateWebhookSecret, { webhookId: id, body, idempotencyKey: randomUUID() })
    const rotated = await keepingToken(file, ({ secret }) => secret, call)
    await this.show(() => webhookDetails(rotated, [['secret', file ? `written to ${file}` : rotated.secret]]))
    const until = rotated.previous_secret_until
    this.tell(
      until === null
        ? '\nThe secret before signs nothing any more.'
        : `\nThe secret before signs as well until ${moment(until)}.`,
    )
    return withTokenFile(rotated, 'secret', file)
  }
}
