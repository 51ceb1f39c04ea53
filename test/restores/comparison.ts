/** Workspaces, compared row by row: every table, and what differs by design. */
import { workspaceTables } from '../../src/core/contract/tables.ts'
import { contentNames, notCompared, type RestoreDesk } from './restore-desk.ts'

/**
 * Of a workspace that comes back as itself, by table: columns that are made anew, or why no row is compared. Every other table is
 * compared with every column.
 */
export const differs: Readonly<Record<string, string | readonly string[]>> = {
  account: ['group_ids', 'worded'],
  item: ['without_labels', 'without_members', 'without_values', 'without_keys', 'kept_since'],
  container: ['kept_since'],
  webhook: ['state'],
  media: ['loose_since'],
  account_group: ['member_count'],
  audit_entry: 'the act itself is told',
  backup: 'the backup itself is made',
  bucket_tally: 'counted',
  item_tally: 'counted',
  media_tally: 'counted',
  search_index: 'made anew',
  restore: 'how it came back',
  job: 'how it came back',
  outbox_counter: 'cursors of before are gone',
  outbox_watermark: 'cursors of before are gone',
  outbox_event: 'the act itself is told',
  notification_pending: 'the act itself is told',
}

/** In no archive, for a reason that tables.ts has. */
const isInBackups = (name: string) => {
  const { export: exported, backup } = workspaceTables[name] ?? {}
  return typeof exported === 'string' || backup !== undefined
}

/** The rows of every table that an archive holds and that is compared, as texts. */
export async function everyRow(desk: RestoreDesk, tenantId: string): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {}
  for (const name of Object.keys(workspaceTables)) {
    const without = differs[name]
    if (typeof without === 'string') continue
    all[name] = isInBackups(name) ? await desk.rows(tenantId, name, without ?? []) : []
  }
  return all
}

/** The rows of the tables that a rewind is about. */
export async function contentRows(desk: RestoreDesk, tenantId: string): Promise<Record<string, string[]>> {
  const rows = contentNames.map(async (name) => {
    const without = name === 'automation_rule' ? [...notCompared, 'updated_at'] : notCompared
    return [name, await desk.rows(tenantId, name, without)] as const
  })
  return Object.fromEntries(await Promise.all(rows))
}
