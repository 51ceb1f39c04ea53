import { Flags } from '@oclif/core'
import type { CloudEvent } from '../../../core/contract/events/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { eventsOf, typeFlag, typesNamed } from '../../call/event-stream.ts'
import { moment } from '../../render/moment.ts'
import { printable } from '../../render/printable.ts'

export default class EventsTail extends CallerCommand {
  static override summary = "Print the workspace's events as they happen"
  static override description =
    'Prints each event exactly once, until Ctrl-C. With --json, each event is one line, as webhooks deliver it.'
  static override examples = [
    '<%= config.bin %> events tail',
    "<%= config.bin %> events tail --type 'work.item.*' --from-oldest --json",
  ]
  static override flags = {
    type: typeFlag,
    'from-oldest': Flags.boolean({ summary: 'Start with the oldest stored event instead of with new events.' }),
    count: Flags.integer({ summary: 'Stop after this many events.', min: 1 }),
  }

  async run(): Promise<undefined> {
    const { flags } = await this.parse(EventsTail)
    const caller = await this.open(flags)
    const types = await typesNamed(caller, flags.type)
    const onReady = () => this.tell(`Following ${types.length} event type(s). Ctrl-C ends it.`)
    let left = flags.count ?? Number.POSITIVE_INFINITY
    for await (const event of eventsOf(caller, { types, fromOldest: flags['from-oldest'], note: this.note, onReady })) {
      this.printEntry(event, () => lineOf(event))
      left -= 1
      if (left === 0) break
    }
  }
}

const lineOf = ({ time, type, subject, actor, id }: CloudEvent) =>
  printable(`${moment(time)}  ${type}  ${subject}  by ${actor}  ${id}`)
