import { randomUUID } from 'node:crypto'
import { Flags } from '@oclif/core'
import { webhookOperations } from '../../../core/contract/webhooks/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findWebhook, webhookArgument } from '../../find/webhooks.ts'
import { keepingToken, tokenFileFlag, withTokenFile } from '../../input/token-file.ts'
import { moment } from '../../render/moment.ts'
import { webhookDetails } from '../../render/webhook.ts'

export default class WebhooksRotateSecret extends CallerCommand {
  static override summary = 'Make a new signing secret and sign with it from now on; it is shown only once'
  static override description =
    'During the grace period, deliveries are also signed with the previous secret, so that the receiver has time to change over.'
  static override examples = [
    '<%= config.bin %> webhooks rotate-secret 0199c0de --grace-seconds 3600',
    '<%= config.bin %> webhooks rotate-secret 0199c0de --grace-seconds 0 --secret-file svc.secret',
  ]
  static override args = { webhook: webhookArgument }
  static override flags = {
    'grace-seconds': Flags.integer({
      summary: 'The grace period of the previous secret in seconds; 0 ends it at once. Default: one day.',
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
        ? '\nThe previous secret is no longer used.'
        : `\nDeliveries are also signed with the previous secret until ${moment(until)}.`,
    )
    return withTokenFile(rotated, 'secret', file)
  }
}
