import { Flags } from '@oclif/core'
import { mintSecret } from '../../../core/areas/webhooks/signature.ts'
import { CallerCommand } from '../../base-command.ts'
import { eventsOf, typeFlag, typesNamed } from '../../call/event-stream.ts'
import { forward, forwardedLine, receiverUrl } from '../../follow/forwarding.ts'
import { moment } from '../../render/moment.ts'
import { printable } from '../../render/printable.ts'

export default class WebhooksListen extends CallerCommand {
  static override summary = 'Forward events to a receiver on this machine, as they happen'
  static override description =
    'For the development of a receiver. It needs no webhook, and no connection to this machine from outside: the command ' +
    'pulls the events and posts each one with the same bytes as the daemon, signed with a secret of this run. It posts ' +
    'each event once, whatever the receiver answers, and runs until Ctrl-C. With --json, each event is one line.'
  static override examples = [
    '<%= config.bin %> webhooks listen --forward-to http://localhost:3000/hooks',
    "<%= config.bin %> webhooks listen --forward-to http://localhost:3000/hooks --type 'work.item.*'",
  ]
  static override flags = {
    'forward-to': Flags.string({ summary: 'The URL of the receiver.', helpValue: 'URL', required: true }),
    type: typeFlag,
    'from-oldest': Flags.boolean({ summary: 'Start with the oldest stored event instead of with new events.' }),
    count: Flags.integer({ summary: 'Stop after this many events.', min: 1 }),
  }

  async run(): Promise<undefined> {
    const { flags } = await this.parse(WebhooksListen)
    const url = receiverUrl(flags['forward-to'])
    const caller = await this.open(flags)
    const types = await typesNamed(caller, flags.type)
    const secret = mintSecret()
    const onReady = () =>
      this.note(
        `Forwarding ${types.length} event type(s) to ${url.href}. The secret of this run: ${secret}\nCtrl-C ends it.`,
      )
    let left = flags.count ?? Number.POSITIVE_INFINITY
    for await (const event of eventsOf(caller, { types, fromOldest: flags['from-oldest'], note: this.note, onReady })) {
      const outcome = await forward(url, secret, event)
      this.printEntry(outcome, () => printable(`${moment(event.time)}  ${forwardedLine(outcome)}`))
      left -= 1
      if (left === 0) break
    }
  }
}
