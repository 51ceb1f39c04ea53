import { Flags } from '@oclif/core'
import type { TemplateListed } from '../../../core/contract/templates/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findCollection } from '../../find/containers.ts'
import { everyTemplate } from '../../find/templates.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<TemplateListed>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'KIND', cell: ({ kind }) => kind, whole: true },
  { head: 'VARIABLES', cell: ({ variables }) => variables.map(({ key }) => key).join(', ') },
  { head: 'CONTAINER', cell: ({ container_id }) => container_id ?? 'all' },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

export default class TemplatesList extends CallerCommand {
  static override summary = 'List the templates that you see, oldest first'
  static override examples = [
    '<%= config.bin %> templates list',
    '<%= config.bin %> templates list --kind BOARD --json',
  ]
  static override flags = {
    kind: Flags.string({ summary: 'Only templates of this kind.', options: ['ITEM', 'BOARD'] as const }),
    collection: Flags.string({ summary: 'Only templates of this collection, by its name or id.' }),
  }

  async run(): Promise<{ data: TemplateListed[] }> {
    const { flags } = await this.parse(TemplatesList)
    const caller = await this.open(flags)
    const data = await everyTemplate(caller, {
      ...(flags.kind === undefined ? {} : { kind: flags.kind }),
      ...(flags.collection === undefined ? {} : { container_id: await findCollection(caller, flags.collection) }),
    })
    await this.show(() => table(data, columns, 'There is no template yet. `svc api POST /templates` makes one.'))
    return { data }
  }
}
