/**
 * Writes a difference into a workspace that is closed, in batches along foreign keys.
 *
 *    1  memberships of containers that go         nobody refers to one, and each is the only one of its holder
 *    2  places put aside                          so that rows can change places (content.ts)
 *    3  what comes back or changes back           parents first
 *    4  what goes away                            children first; what a row that stays refers to stays as well
 *
 * The row as it was goes into `restore_undo` in the transaction that writes it first. A written row's version is above both; one
 * that had gone comes back with its version raised by 1,000,000, so that no entity tag of the time between matches. Killed
 * anywhere, the next attempt computes what is left (difference.ts) and goes on. Spec: Keeping, 3 (In use).
 */
import type { Ctx } from '../../kernel/transaction/context.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { stagedChanges, stagedRows } from '../backup/loading/staging.ts'
import type { ContentTable } from './content.ts'
import type { RestorePlace } from './difference.ts'
import { listed, quoted, sameKey } from './sql.ts'

/** Rows of one transaction: far less than a second. */
const batch = 1000
const raisedBy = 1_000_000
/**
 * A batch reads only its own rows where the planner walks the indexes. What was noted a moment ago is not analysed yet, and it
 * would read all of it for each batch.
 */
export const byIndex =
  "set local enable_hashjoin = 'off'; set local enable_mergejoin = 'off'; set local enable_seqscan = 'off'"

/** A reference that a row may have to a table, for what is looked at before a row goes or comes. */
export interface Referrer {
  readonly table: string
  readonly columns: readonly string[]
  readonly to: string
  readonly toColumns: readonly string[]
}

export interface Writing extends RestorePlace {
  readonly tables: readonly ContentTable[]
  readonly referrers: readonly Referrer[]
  /** Keeps rows as they were. An undo keeps none, and leaves out a row whose parent somebody removed since. */
  readonly isUndo: boolean
  /** How long the bytes of a file that goes are kept. */
  readonly mediaDays: number
  /** One transaction of the workspace, which only the current attempt at the job commits. */
  step<T>(work: (ctx: Ctx) => Promise<T>): Promise<T>
  onRows(rows: number): void
}

/** Writes all of it. */
export async function writeDifference(writing: Writing): Promise<void> {
  const { tables } = writing
  const memberships = tables.filter(({ table }) => table === 'membership')
  for (const table of memberships) await removeRows(writing, table)
  for (const table of tables) if (table.place) await putAside(writing, table)
  failpoint('restore.aside')
  for (const table of tables) await bringBack(writing, table)
  failpoint('restore.back')
  for (const table of tables.toReversed()) await removeRows(writing, table)
  failpoint('restore.removed')
  for (const table of tables) if (table.place) await putBack(writing, table)
}

const keyOf = ({ key }: ContentTable) => key.map(({ name }) => name)

interface Range {
  readonly from: number
  readonly to: number
}

/** The ranges of a table's changes, of so many numbers each. */
async function rangesOf(
  { step, restoreId, tenantId }: Writing,
  { table }: ContentTable,
  ops: string,
): Promise<Range[]> {
  const [row] = await step(({ tx }) =>
    tx.text<{ first: number | null; last: number | null }[]>(
      `select min(n)::int as first, max(n)::int as last from ${stagedChanges(restoreId, table)} where tenant_id = $1 and op in (${ops})`,
      [tenantId],
    ),
  )
  if (!row || row.first === null || row.last === null) return []
  const ranges: Range[] = []
  for (let from = row.first; from <= row.last; from += batch) ranges.push({ from, to: from + batch - 1 })
  return ranges
}

/** What every statement of a batch is given: the workspace, the restore and the range. */
const valuesOf = ({ tenantId }: Writing, { from, to }: Range) => [tenantId, from, to]

/** Notes rows as they are now, each once; `$1` to `$3` as above. */
async function keepAsWere(ctx: Ctx, writing: Writing, table: ContentTable, range: Range, ops: string): Promise<void> {
  if (writing.isUndo) return
  const { restoreId } = writing
  const key = keyOf(table)
  await ctx.tx.text(
    `insert into restore_undo (tenant_id, restore_id, table_name, key, was, became)
     select $1, $4, $5, jsonb_build_array(${listed(key, 'd')})::text, to_jsonb(t), ${becomes(table)}
     from ${stagedChanges(restoreId, table.table)} d
     left join ${quoted(table.table)} t on t.tenant_id = $1 and ${sameKey(key, 't', 'd')}
     left join ${stagedRows(restoreId, table.table)} s on s.tenant_id = $1 and ${sameKey(key, 's', 'd')}
     where d.tenant_id = $1 and d.n between $2 and $3 and d.op in (${ops})
     on conflict do nothing`,
    [...valuesOf(writing, range), restoreId, table.table],
  )
}

/** Frees the places of rows that leave them, and keeps all that change or go. */
async function putAside(writing: Writing, table: ContentTable): Promise<void> {
  const { place } = table
  if (!place) return
  const key = keyOf(table)
  const columns = [...place.within, ...place.open]
  for (const range of await rangesOf(writing, table, "'U', 'D'"))
    await writing.step(async (ctx) => {
      await keepAsWere(ctx, writing, table, range, "'U', 'D'")
      await ctx.tx.text(
        `update ${quoted(table.table)} t set ${quoted(place.aside)} = ${place.put}
         from ${stagedChanges(writing.restoreId, table.table)} d
         left join ${stagedRows(writing.restoreId, table.table)} s on s.tenant_id = $1 and ${sameKey(key, 's', 'd')}
         where d.tenant_id = $1 and d.n between $2 and $3 and t.tenant_id = $1 and ${sameKey(key, 't', 'd')}
           and (d.op = 'D' or d.op = 'U' and (${listed(columns, 's')}) is distinct from (${listed(columns, 't')}))`,
        valuesOf(writing, range),
      )
    })
}

async function bringBack(writing: Writing, table: ContentTable): Promise<void> {
  for (const range of await rangesOf(writing, table, "'I', 'U'")) {
    await writing.step(async (ctx) => {
      await keepAsWere(ctx, writing, table, range, table.place ? "'I'" : "'I', 'U'")
      if (table.columns.length > table.key.length || table.hasVersion)
        await ctx.tx.text(updateText(writing, table), valuesOf(writing, range))
      await ctx.tx.text(insertText(writing, table), valuesOf(writing, range))
      await afterWriting(ctx, writing, table, range)
    })
    writing.onRows(batch)
    failpoint('restore.batch')
  }
}

function updateText(writing: Writing, table: ContentTable): string {
  const key = keyOf(table)
  const written = table.columns.filter((column) => !key.includes(column) && column !== 'version')
  const sets = [
    ...written.map((column) => `${quoted(column)} = s.${quoted(column)}`),
    ...(table.hasVersion ? ['version = greatest(t.version, s.version) + 1'] : []),
    ...Object.entries(table.derived).map(([column, text]) => `${quoted(column)} = ${text}`),
  ]
  return `
    update ${quoted(table.table)} t set ${sets.join(', ')}
    from ${stagedChanges(writing.restoreId, table.table)} d
    join ${stagedRows(writing.restoreId, table.table)} s on s.tenant_id = $1 and ${sameKey(key, 's', 'd')}
    where d.tenant_id = $1 and d.n between $2 and $3 and d.op in ('I', 'U')
      and t.tenant_id = $1 and ${sameKey(key, 't', 'd')} and ${hasParents(writing, table)}`
}

function insertText(writing: Writing, table: ContentTable): string {
  const key = keyOf(table)
  const others = table.columns.filter((column) => !key.includes(column) && column !== 'version')
  const version = table.hasVersion ? ['version'] : []
  const derived = Object.keys(table.derived)
  const values = [
    listed([...key, ...others], 's'),
    ...(table.hasVersion ? [`s.version + ${raisedBy}`] : []),
    ...Object.values(table.derived),
  ]
  const order = table.parent ? `order by s.${quoted(table.parent)} is not null` : ''
  return `
    insert into ${quoted(table.table)} (tenant_id, ${listed([...key, ...others, ...version, ...derived])})
    select $1, ${values.join(', ')}
    from ${stagedChanges(writing.restoreId, table.table)} d
    join ${stagedRows(writing.restoreId, table.table)} s on s.tenant_id = $1 and ${sameKey(key, 's', 'd')}
    where d.tenant_id = $1 and d.n between $2 and $3 and d.op in ('I', 'U')
      and not exists (select from ${quoted(table.table)} t where t.tenant_id = $1 and ${sameKey(key, 't', 'd')})
      and ${hasParents(writing, table)} ${order}
    on conflict (tenant_id, ${listed(key)}) do nothing`
}

/** Of an undo: that what the row refers to is there. Of a restore all of it is, or the archive was refused. */
function hasParents({ isUndo, referrers }: Writing, { table }: ContentTable): string {
  if (!isUndo) return 'true'
  const asked = referrers
    .filter((one) => one.table === table && one.to !== table && one.to !== 'tenant')
    .map(({ columns, to, toColumns }) => {
      const pairs = columns.map((column, at) => [column, toColumns[at] ?? ''] as const)
      const own = pairs.filter(([column]) => column !== 'tenant_id')
      const isNone = own.map(([column]) => `s.${quoted(column)} is null`).join(' or ')
      const same = own.map(([column, target]) => `p.${quoted(target)} = s.${quoted(column)}`).join(' and ')
      return `(${isNone} or exists (select from ${quoted(to)} p where p.tenant_id = $1 and ${same}))`
    })
  return asked.length === 0 ? 'true' : asked.join(' and ')
}

/** What is derived from written rows and lies in tables of its own, or was noted for their bytes, goes. */
async function afterWriting(ctx: Ctx, writing: Writing, { table }: ContentTable, range: Range): Promise<void> {
  const changes = stagedChanges(writing.restoreId, table)
  const ofRange = `in (select d.id from ${changes} d where d.tenant_id = $1 and d.n between $2 and $3)`
  const values = valuesOf(writing, range)
  if (table === 'item')
    await ctx.tx.text(`delete from item_field_key k where k.tenant_id = $1 and k.item_id ${ofRange}`, values)
  if (table === 'media')
    await ctx.tx.text(`delete from media_removal m where m.tenant_id = $1 and m.media_id ${ofRange}`, values)
}

/** What the row will be, by which an undo sees whether somebody edited it since: the version that is written, or a hash. */
function becomes(table: ContentTable): string {
  const [first = 'id'] = keyOf(table)
  const written = table.hasVersion
    ? `case when t.${quoted(first)} is null then (s.version + ${raisedBy})::text else (greatest(t.version, s.version) + 1)::text end`
    : signatureOf(table, 's')
  return `case when d.op <> 'D' then ${written} end`
}

/** Text of SQL that differs once somebody edits the row: its version, or a hash of what it says besides its key. */
export function signatureOf(table: ContentTable, alias: string): string {
  if (table.hasVersion) return `${alias}.version::text`
  return table.compared.length === 0
    ? `'there'`
    : `md5(concat_ws(' ', ${table.compared.map((column) => `coalesce(${alias}.${quoted(column)}::text, '-')`).join(', ')}))`
}

/** Removes what goes away, unless a row that stays refers to it. A table that refers to itself is walked twice: children first. */
async function removeRows(writing: Writing, table: ContentTable): Promise<void> {
  const walks = table.parent ? [`t.${quoted(table.parent)} is not null`, 'true'] : ['true']
  for (const which of walks)
    for (const range of (await rangesOf(writing, table, "'D'")).toReversed()) {
      await writing.step(async (ctx) => {
        if (!table.place) await keepAsWere(ctx, writing, table, range, "'D'")
        if (table.table === 'item') await removeKeys(ctx, writing, range)
        await ctx.tx.text(removalText(writing, table, which), valuesOf(writing, range))
      })
      writing.onRows(batch)
      failpoint('restore.batch')
    }
}

const removeKeys = (ctx: Ctx, writing: Writing, range: Range) =>
  ctx.tx.text(
    `delete from item_field_key k where k.tenant_id = $1 and k.item_id in (
       select d.id from ${stagedChanges(writing.restoreId, 'item')} d where d.tenant_id = $1 and d.n between $2 and $3 and d.op = 'D')`,
    valuesOf(writing, range),
  )

function removalText(writing: Writing, table: ContentTable, which: string): string {
  const key = keyOf(table)
  const free = writing.referrers
    .filter(({ to }) => to === table.table)
    .map(({ table: from, columns, toColumns }) => {
      const same = columns
        .map((column, at) => [column, toColumns[at] ?? ''] as const)
        .filter(([column]) => column !== 'tenant_id')
        .map(([column, target]) => `x.${quoted(column)} = t.${quoted(target)}`)
      return `not exists (select from ${quoted(from)} x where x.tenant_id = $1 and ${same.join(' and ')})`
    })
  const removed = `
    delete from ${quoted(table.table)} t using ${stagedChanges(writing.restoreId, table.table)} d
    where d.tenant_id = $1 and d.n between $2 and $3 and d.op = 'D' and t.tenant_id = $1 and ${sameKey(key, 't', 'd')}
      and ${[which, ...free].join(' and ')}`
  if (table.table !== 'media') return removed
  // The bytes stay as long as the rewind can be undone, and as long as those of any file that is deleted.
  return `
    with gone as (${removed} returning t.id)
    insert into media_removal (tenant_id, media_id, due_at)
    select $1, gone.id, now() + make_interval(days => ${writing.mediaDays}) from gone
    on conflict (tenant_id, media_id) do update set due_at = greatest(media_removal.due_at, excluded.due_at)`
}

/**
 * What stays although it was put aside gets its place again, if nobody has it now. Each row that was kept is looked up by the whole
 * key: joined, all that was kept would be read for each.
 */
async function putBack(writing: Writing, table: ContentTable): Promise<void> {
  const { place } = table
  if (!place || writing.isUndo) return
  const key = keyOf(table)
  const aside = quoted(place.aside)
  for (const range of await rangesOf(writing, table, "'D'"))
    await writing.step((ctx) =>
      ctx.tx.text(
        `with d as materialized (
           select ${listed(key, 'c')}, jsonb_build_array(${listed(key, 'c')})::text as kept_as
           from ${stagedChanges(writing.restoreId, table.table)} c
           join ${quoted(table.table)} t on t.tenant_id = $1 and ${sameKey(key, 't', 'c')}
           where c.tenant_id = $1 and c.n between $2 and $3 and c.op = 'D')
         update ${quoted(table.table)} t set ${aside} = u.was ->> '${place.aside}'
         from d cross join lateral (
           select k.was from restore_undo k
           where k.tenant_id = $1 and k.restore_id = $4 and k.table_name = $5 and k.key = d.kept_as offset 0) u
         where t.tenant_id = $1 and ${sameKey(key, 't', 'd')}
           and not exists (
             select from ${quoted(table.table)} o where o.tenant_id = $1 and o.id <> t.id
               and ${place.within
                 .filter((column) => column !== place.aside)
                 .map((column) => `o.${quoted(column)} is not distinct from t.${quoted(column)}`)
                 .join(' and ')} and o.${aside} = u.was ->> '${place.aside}')`,
        [...valuesOf(writing, range), writing.restoreId, table.table],
      ),
    )
}
