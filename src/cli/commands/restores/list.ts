import { Flags } from '@oclif/core'
import { type Restore, restoreOperations, restoreStates } from '../../../core/contract/backup/restores.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { findOwnOrAny } from '../../find/workspaces.ts'
import { moment } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<Restore>[] = [
  { head: 'ASKED FOR', cell: (restore) => moment(restore.created_at), whole: true },
  { head: 'INTO', cell: ({ into }) => into, whole: true },
  { head: 'WORKSPACE', cell: ({ tenant }) => tenant?.slug ?? '' },
  { head: 'STATE', cell: ({ state }) => state, whole: true },
  { head: 'BACKUP OF', cell: ({ source }) => moment(source.snapshot_at) },
  { head: 'UNDO UNTIL', cell: ({ undo_until }) => (undo_until === null ? '' : moment(undo_until)) },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

export default class RestoresList extends CallerCommand {
  static override summary = 'List restores of workspaces, newest first'
  static override description =
    "With an operator's token or at the database, lists those of all workspaces. With a session, lists those of your workspace."
  static override examples = [
    '<%= config.bin %> restores list',
    '<%= config.bin %> restores list --workspace acme --state PLANNED',
  ]
  static override flags = {
    workspace: Flags.string({ summary: "Only this workspace's: its slug or id.", helpValue: 'WORKSPACE' }),
    state: Flags.string({ summary: 'Only those in this state.', options: restoreStates }),
  }

  async run(): Promise<{ data: Restore[] }> {
    const { flags } = await this.parse(RestoresList)
    const caller = await this.open(flags)
    const tenant = flags.workspace === undefined ? undefined : await findOwnOrAny(caller, flags.workspace)
    const asked = {
      ...(tenant ? { tenant_id: tenant.id } : {}),
      ...(flags.state === undefined ? {} : { state: flags.state as Restore['state'] }),
      size: 200,
    }
    const data: Restore[] = []
    for await (const page of pagesOf(caller, restoreOperations.listRestores, asked)) data.push(...page.data)
    this.log(
      await table(data, columns, 'There is no restore. `svc tenants rewind` and `svc restores create` make one.'),
    )
    return { data }
  }
}
