import { randomUUID } from 'node:crypto'
import { Args, Flags } from '@oclif/core'
import { type BulkAction, type BulkResult, itemBulkOperations, mostSteps } from '../../../core/contract/items/bulk.ts'
import { CallerCommand } from '../../base-command.ts'
import { exitCodes, Failure } from '../../failure.ts'
import { readJson } from '../../input/json-input.ts'
import { readStdin } from '../../input/secret-input.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<BulkResult>[] = [
  { head: 'ITEM', cell: ({ id }) => id, whole: true },
  { head: 'STATUS', cell: ({ status }) => String(status), align: 'right' },
  { head: 'REFUSAL', cell: ({ code }) => code ?? '' },
  { head: 'AT', cell: ({ errors }) => errors.map(({ pointer, code }) => `${pointer} ${code}`).join(', ') },
]

/** Items of one call: as many as the API takes with these actions. */
const portionOf = (actions: readonly unknown[]) => Math.min(200, Math.floor(mostSteps / actions.length))

export default class ItemsBulk extends CallerCommand {
  static override summary = 'Do something to many items; prints those that refuse it'
  static override examples = [
    '<%= config.bin %> items bulk --action complete 0199c0de-7a3b-7cde-8f01-23456789abcd',
    `<%= config.bin %> items query --filter @old.json --max 5000 --json | jq -r '.data[].id' | <%= config.bin %> items bulk --action archive -`,
    `<%= config.bin %> items bulk --action '{"action":"set_due","due_on":"2030-05-02"}' --atomic 0199c0de-7a3b-7cde-8f01-23456789abcd`,
  ]
  static override strict = false
  static override args = {
    item: Args.string({ ignoreStdin: true, required: true, description: 'ids of items, or - to read them from stdin' }),
  }
  static override flags = {
    action: Flags.string({
      summary: 'An action: its name, or JSON with its members, or @FILE. Several are done in order.',
      multiple: true,
      required: true,
      multipleNonGreedy: true,
    }),
    atomic: Flags.boolean({ summary: 'Change all items or none; at most 500 steps.' }),
  }

  async run(): Promise<{ results: BulkResult[] }> {
    const { argv, flags } = await this.parse(ItemsBulk)
    const given = argv as string[]
    const ids = given.includes('-') ? (await readStdin()).split(/\s+/).filter((id) => id !== '') : given
    if (ids.length === 0) throw new Failure('usage', 'No item is named.', 'Give ids of items, or - and ids on stdin.')
    const actions = (await Promise.all(flags.action.map(actionOf))) as BulkAction[]
    const caller = await this.open(flags)
    const size = flags.atomic ? ids.length : portionOf(actions)
    const results: BulkResult[] = []
    for (let at = 0; at < ids.length; at += size) {
      const items = ids.slice(at, at + size).map((id) => ({ id }))
      const body = { items, actions, mode: flags.atomic ? ('ATOMIC' as const) : ('EACH' as const) }
      results.push(...(await caller.call(itemBulkOperations.bulkItems, { body, idempotencyKey: randomUUID() })).results)
      if (ids.length > size) this.tell(`${results.length} of ${ids.length} items`)
    }
    const refused = results.filter(({ code }) => code !== null)
    if (refused.length > 0) process.exitCode = exitCodes.findings
    await this.show(async () => {
      const done = `${results.length - refused.length} of ${results.length} items were changed.`
      return refused.length === 0
        ? done
        : `${await table(refused, columns, '')}\n\n${done} The others stayed as they were.`
    })
    return { results }
  }
}

const actionOf = async (given: string): Promise<unknown> =>
  /^[a-z_]+$/.test(given) ? { action: given } : await readJson(given, 'action')
