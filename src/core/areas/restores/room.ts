/**
 * Places that are taken for good: a row that stays as it is now has the place of one that comes back.
 *
 * A rewind leaves such rows where a legal hold covers them, an undo where somebody edited them. What comes back then gets a place
 * beside, or another name. Spec: Keeping, 3.
 */
import { installationScope } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { stagedChanges, stagedRows } from '../backup/loading/staging.ts'
import type { ContentTable, Place } from './content.ts'
import { longSeconds, type RestorePlace } from './difference.ts'
import { quoted, sameKey } from './sql.ts'

/** Changes what lies in staging, behind the difference. */
export async function makeRoom(
  { tx }: Ctx,
  { tenantId, restoreId }: RestorePlace,
  tables: readonly ContentTable[],
): Promise<void> {
  await tx.patience(longSeconds)
  // What was noted a moment ago is not analysed yet, and looks like a few rows.
  await tx.switch("set local enable_nestloop = 'off'")
  for (const table of tables)
    if (table.place && table.columns.length > 0) await tx.text(roomText(restoreId, table, table.place), [tenantId])
}

function roomText(restoreId: string, { table, key, columns }: ContentTable, place: Place): string {
  const names = key.map(({ name }) => name)
  const staged = stagedRows(restoreId, table)
  const changes = stagedChanges(restoreId, table)
  const sets = Object.entries(place.instead).filter(([column]) => columns.includes(column))
  // Nulls are alike. Written so that all rows of the workspace are read once, and not once for each that comes.
  const none = `'${installationScope}'`
  const of = (alias: string, column: string) =>
    column.endsWith('_id') ? `coalesce(${alias}.${quoted(column)}, ${none})` : `${alias}.${quoted(column)}`
  const alike = place.within.map((column) => `${of('t', column)} = ${of('s', column)}`)
  const open = place.open.flatMap((column) => [`t.${quoted(column)} is null`, `s.${quoted(column)} is null`])
  return `
    update ${staged} s set ${sets.map(([column, text]) => `${quoted(column)} = ${text}`).join(', ')}
    from ${changes} d, ${quoted(table)} t
    where d.tenant_id = $1 and d.op in ('I', 'U') and s.tenant_id = $1 and ${sameKey(names, 's', 'd')}
      and t.tenant_id = $1 and not (${sameKey(names, 't', 's')}) and ${[...alike, ...open].join(' and ')}
      and not exists (select from ${changes} o where o.tenant_id = $1 and ${sameKey(names, 'o', 't')})`
}
