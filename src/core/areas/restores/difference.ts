/**
 * What differs between the rows that lie in staging and those of the workspace: the keys, and how.
 *
 *    I   it lies there alone: it comes back         U   both, and one column differs: it changes back
 *    D   it is in the workspace alone: it goes away
 *
 * What a legal hold in force covers stays as it is now: it neither changes nor goes. Each computation begins anew, so a worker that
 * was killed finds what is left. Spec: Keeping, 3 (In use).
 */
import type { RestoreChanges } from '../../contract/backup/restores.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { stagedChanges, stagedHolds, stagedRows } from '../backup/loading/staging.ts'
import type { ContentTable } from './content.ts'
import { listed, quoted, sameKey } from './sql.ts'

export interface RestorePlace {
  readonly tenantId: string
  readonly restoreId: string
}

/** For one statement over all rows of a large workspace. */
export const longSeconds = 1800

/** Computes the difference of every table anew. Behind `noteHeld` (held.ts), in the same transaction. */
export async function computeDifference(
  { tx }: Ctx,
  place: RestorePlace,
  tables: readonly ContentTable[],
): Promise<void> {
  await tx.patience(longSeconds)
  // Both sides are walked along their keys. Hashed, rows of all columns would be written to disk and read once more.
  void tx.switch("set local enable_hashjoin = 'off'")
  for (const table of tables) {
    void tx.text(`delete from ${stagedChanges(place.restoreId, table.table)} where tenant_id = $1`, [place.tenantId])
    await tx.text(differenceText(place.restoreId, table), [place.tenantId])
  }
  await tx.switch("set local enable_hashjoin = 'on'")
}

function differenceText(restoreId: string, table: ContentTable): string {
  const key = table.key.map(({ name }) => name)
  const [first = 'id'] = key
  const isOther =
    table.compared.length === 0
      ? 'false'
      : `(${listed(table.compared, 's')}) is distinct from (${listed(table.compared, 't')})`
  const both = key.map((name) => `coalesce(s.${quoted(name)}, t.${quoted(name)})`).join(', ')
  // Children behind their parents, so that a row that is written finds what it refers to.
  const order = table.parent
    ? `order by coalesce(s.${quoted(table.parent)}, t.${quoted(table.parent)}) is not null`
    : ''
  return `
    insert into ${stagedChanges(restoreId, table.table)} (tenant_id, op, ${listed(key)})
    select $1, case when t.${quoted(first)} is null then 'I' when s.${quoted(first)} is null then 'D' else 'U' end, ${both}
    from (select * from ${quoted(table.table)} t where t.tenant_id = $1 and ${table.scope('t')}) t
    full join (select * from ${stagedRows(restoreId, table.table)} s where s.tenant_id = $1 and ${table.scope('s')}) s
      on ${sameKey(key, 's', 't')}
    where (t.${quoted(first)} is null or s.${quoted(first)} is null or ${isOther})
      and not (t.${quoted(first)} is not null and ${isHeld(restoreId, table)})
    ${order}`
}

/** Whether a hold covers the row `t` that the workspace has, as text of SQL; `$1` is the workspace. */
export function isHeld(restoreId: string, { heldBy }: ContentTable): string {
  const holds = stagedHolds(restoreId)
  const all = `exists (select from ${holds} h where h.tenant_id = $1 and h.kind = 'all')`
  if (!heldBy) return all
  return `(${all} or exists (
    select from ${holds} h where h.tenant_id = $1 and h.kind = '${heldBy.kind}' and h.id = t.${quoted(heldBy.column)}))`
}

/** How many rows of each table come back, change back and go away; without those that do not change. */
export async function countDifference(
  { tx }: Ctx,
  { tenantId, restoreId }: RestorePlace,
  tables: readonly ContentTable[],
): Promise<Record<string, RestoreChanges>> {
  const counted = await Promise.all(
    tables.map(async ({ table, entity }) => {
      const [row] = await tx.text<RestoreChanges[]>(
        `select count(*) filter (where op = 'I')::int as comes_back, count(*) filter (where op = 'U')::int as changes_back,
                count(*) filter (where op = 'D')::int as goes_away
         from ${stagedChanges(restoreId, table)} where tenant_id = $1`,
        [tenantId],
      )
      return [entity, row ?? nothing] as const
    }),
  )
  return Object.fromEntries(counted.filter(([, changes]) => total(changes) > 0))
}

const nothing: RestoreChanges = { comes_back: 0, changes_back: 0, goes_away: 0 }

export const total = ({ comes_back, changes_back, goes_away }: RestoreChanges) => comes_back + changes_back + goes_away

export function sumOf(all: Readonly<Record<string, RestoreChanges>>): RestoreChanges {
  return Object.values(all).reduce(
    (sum, one) => ({
      comes_back: sum.comes_back + one.comes_back,
      changes_back: sum.changes_back + one.changes_back,
      goes_away: sum.goes_away + one.goes_away,
    }),
    nothing,
  )
}
