import { Args, Flags } from '@oclif/core'
import { mintSecret } from '../../../core/areas/webhooks/signature.ts'
import { type CloudEvent, eventTypeOperations, triggerOperations } from '../../../core/contract/events/operations.ts'
import { webhookOperations } from '../../../core/contract/webhooks/operations.ts'
import { newId } from '../../../core/kernel/values/id.ts'
import { CallerCommand } from '../../base-command.ts'
import type { Caller } from '../../call/caller.ts'
import { typesNamed } from '../../call/event-stream.ts'
import { Failure } from '../../failure.ts'
import { findWebhook } from '../../find/webhooks.ts'
import { forward, forwardedLine, receiverUrl } from '../../follow/forwarding.ts'
import { secretOrAsk } from '../../input/secret-input.ts'
import { deliveryDetails } from '../../render/delivery.ts'

export default class WebhooksTrigger extends CallerCommand {
  static override summary = 'Send an event of one type, to test a receiver'
  static override description =
    'With --forward-to, the command posts the example event of the type to a receiver on this machine, under a new id. With --webhook, ' +
    'the daemon delivers the newest stored event of the type in the workspace to that webhook, in the usual way.'
  static override examples = [
    '<%= config.bin %> webhooks trigger work.label.created --forward-to http://localhost:3000/hooks',
    '<%= config.bin %> webhooks trigger work.label.created --webhook https://hooks.example.com/svc',
  ]
  static override args = {
    type: Args.string({ ignoreStdin: true, required: true, description: 'the event type' }),
  }
  static override flags = {
    'forward-to': Flags.string({
      summary: 'The URL of a receiver that this machine can reach.',
      helpValue: 'URL',
      exactlyOne: ['forward-to', 'webhook'],
    }),
    webhook: Flags.string({ summary: 'A webhook: its id, the start of its id, or its target.', helpValue: 'WEBHOOK' }),
    'secret-file': Flags.string({
      summary: 'Read the signing secret from a file of mode 0600; default: a new secret for this run.',
      helpValue: 'FILE',
      dependsOn: ['forward-to'],
    }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(WebhooksTrigger)
    const caller = await this.open(flags)
    const [type, ...others] = await typesNamed(caller, [args.type])
    if (type === undefined || others.length > 0)
      throw new Failure('usage', `"${args.type}" matches more than one type.`, 'Give a single type.')
    if (flags.webhook !== undefined) return this.deliver(caller, flags.webhook, type)
    return this.post(caller, type, flags['forward-to'] ?? '', flags['secret-file'])
  }

  private async deliver(caller: Caller, named: string, type: string): Promise<unknown> {
    const { id } = await findWebhook(caller, named)
    const event = await newestOf(caller, type)
    if (!event)
      throw new Failure(
        'notFound',
        `This workspace has no stored event of ${type}.`,
        'Cause one first, or use --forward-to.',
      )
    const delivery = await caller.call(webhookOperations.sendEvent, { webhookId: id, body: { event_id: event.id } })
    await this.show(() => deliveryDetails(delivery))
    return delivery
  }

  private async post(caller: Caller, type: string, to: string, secretFile: string | undefined): Promise<unknown> {
    const url = receiverUrl(to)
    const secret =
      secretFile === undefined ? mintSecret() : await secretOrAsk({ file: secretFile }, 'secret', 'The signing secret:')
    const { data } = await caller.call(eventTypeOperations.listEventTypes, {})
    const example = data.find((one) => one.type === type)?.example
    if (!example) throw new Failure('failed', `${type} has no example.`)
    if (secretFile === undefined) this.note(`Signed with a secret of this run: ${secret}`)
    const event = { ...example, id: newId(), time: new Date().toISOString() }
    const outcome = await forward(url, secret, event)
    await this.show(() => forwardedLine(outcome))
    if (outcome.status === null)
      throw new Failure('unreached', `${url.href} gave no answer (${outcome.error}).`, 'Is the receiver running?')
    return outcome
  }
}

/** The newest stored event of the type. Events can be read from the oldest on only, so it reads them all. */
async function newestOf(caller: Caller, eventType: string): Promise<CloudEvent | undefined> {
  let newest: CloudEvent | undefined
  let since: string | undefined
  for (let more = true; more; ) {
    const page = await caller.call(triggerOperations.pullEvents, {
      eventType,
      limit: 200,
      ...(since === undefined ? {} : { since }),
    })
    newest = page.data.at(-1) ?? newest
    since = page.next_since
    more = page.has_more
  }
  return newest
}
