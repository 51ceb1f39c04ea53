import { Flags } from '@oclif/core'
import { type Backup, backupStates, workspaceBackupOperations } from '../../../core/contract/backup/backups.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { moment } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

const verified = ({ verified: all }: Backup) => {
  const last = all.at(-1)
  return last ? (last.failure ?? 'good') : 'never'
}

const columns: readonly Column<Backup>[] = [
  { head: 'MADE', cell: (backup) => moment(backup.created_at), whole: true },
  { head: 'STATE', cell: ({ state }) => state, whole: true },
  { head: 'ROWS', cell: ({ rows }) => (rows === null ? '' : String(rows)), align: 'right' },
  { head: 'BYTES', cell: ({ size_bytes }) => (size_bytes === null ? '' : String(size_bytes)), align: 'right' },
  { head: 'VERIFIED', cell: verified },
  { head: 'KEPT BY', cell: ({ kept_by }) => kept_by.join(' ') },
  { head: 'WORKSPACE', cell: ({ tenant_id }) => tenant_id },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

export default class BackupsList extends CallerCommand {
  static override summary = 'List the backups of workspaces, newest first'
  static override description =
    "With an operator's token or at the database, lists those of all workspaces. With a session, lists those of your workspace."
  static override examples = [
    '<%= config.bin %> backups list',
    '<%= config.bin %> backups list --workspace acme --state COMPLETE',
  ]
  static override flags = {
    workspace: Flags.string({
      summary: "Only this workspace's: its slug or id. For operators.",
      helpValue: 'WORKSPACE',
    }),
    state: Flags.string({ summary: 'Only those in this state.', options: backupStates }),
  }

  async run(): Promise<{ data: Backup[] }> {
    const { flags } = await this.parse(BackupsList)
    const caller = await this.open(flags)
    const tenant = flags.workspace === undefined ? undefined : await findWorkspace(caller, flags.workspace)
    const asked = {
      ...(tenant ? { tenant_id: tenant.id } : {}),
      ...(flags.state === undefined ? {} : { state: flags.state as Backup['state'] }),
      size: 200,
    }
    const data: Backup[] = []
    for await (const page of pagesOf(caller, workspaceBackupOperations.listBackups, asked)) data.push(...page.data)
    this.log(await table(data, columns, 'There is no backup. `svc backups create` makes one.'))
    return { data }
  }
}
