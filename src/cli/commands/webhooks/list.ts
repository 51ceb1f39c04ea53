import { type Webhook, webhookOperations } from '../../../core/contract/webhooks/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { type Column, table } from '../../render/table.ts'
import { stateOf } from '../../render/webhook.ts'

const columns: readonly Column<Webhook>[] = [
  { head: 'TARGET', cell: ({ target_url }) => target_url },
  { head: 'STATE', cell: stateOf },
  { head: 'FAILURES', cell: ({ consecutive_failures: failures }) => String(failures), align: 'right' },
  {
    head: 'EVENTS',
    cell: ({ event_types: types }) => (types.length === 1 ? (types[0] ?? '') : `${types.length} types`),
  },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

export default class WebhooksList extends CallerCommand {
  static override summary = "List the workspace's webhooks, newest first"
  static override examples = ['<%= config.bin %> webhooks list']

  async run(): Promise<unknown> {
    const { flags } = await this.parse(WebhooksList)
    const answer = await (await this.open(flags)).call(webhookOperations.listWebhooks, {})
    await this.show(() => table(answer.data, columns, 'There is no webhook yet. `svc webhooks create` makes one.'))
    return answer
  }
}
