import { type EventType, eventTypeOperations } from '../../../core/contract/events/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<EventType>[] = [
  { head: 'TYPE', cell: ({ type }) => type, whole: true },
  { head: 'WRITTEN WHEN', cell: ({ when }) => when },
]

export default class EventsCatalog extends CallerCommand {
  static override summary = 'List all event types'
  static override description = 'With --json, each type has the JSON Schema of its data and an example.'
  static override examples = ['<%= config.bin %> events catalog']

  async run(): Promise<unknown> {
    const { flags } = await this.parse(EventsCatalog)
    const answer = await (await this.open(flags)).call(eventTypeOperations.listEventTypes, {})
    await this.show(() => table(answer.data, columns, 'There is no event type.'))
    return answer
  }
}
