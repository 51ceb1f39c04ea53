/**
 * The tables that a rewind writes: what people make (`content` in tables.ts), with what a difference needs to know of each.
 *
 * Columns, keys and references are the catalog's. What the catalog cannot say stands here: which columns hold a place that only
 * one row may have, so that two rows that change places do not collide on the way; and by which id a legal hold covers a row.
 * Spec: Keeping, 3.
 */
import { workspaceTables } from '../../contract/tables.ts'
import type { LoadedTable } from '../backup/loading/shape.ts'
import type { KeyColumns, StagedColumns } from '../backup/loading/staging.ts'

/** A place that one row has, where all columns `within` are alike, and all of `open` null. */
export interface Place {
  readonly within: readonly string[]
  readonly open: readonly string[]
  /** The column that a row changes to leave it; and, of the row `t`, what no other row has there. */
  readonly aside: string
  readonly put: string
  /** What the row `s` gets where the place is taken for good. */
  readonly instead: Readonly<Record<string, string>>
}

const hex = (alias: string) => `replace(${alias}.id::text, '-', '')`
/** A rank behind all others (kernel/values/rank.ts): a number of eight digits for each part of the id. */
const lastRank = `'hzzzzzzzz' || regexp_replace(${hex('t')}, '(.{8})', 'h\\1', 'g')`
const byId = `'~' || t.id::text`
const renamed = { name: `s.name || ' (2)'`, name_fold: `s.name_fold || ' (2)'` }

const places: Readonly<Record<string, Place>> = {
  item: {
    within: ['container_id', 'bucket_id', 'rank'],
    open: ['deleted_at', 'archived_at'],
    aside: 'rank',
    put: lastRank,
    instead: { rank: `s.rank || 'h' || right(${hex('s')}, 8)` },
  },
  bucket: { within: ['container_id', 'name_fold'], open: [], aside: 'name_fold', put: byId, instead: renamed },
  label: {
    within: ['container_id', 'name_fold'],
    open: ['deleted_at'],
    aside: 'name_fold',
    put: byId,
    instead: renamed,
  },
  custom_field: {
    within: ['collection_id', 'key'],
    open: ['deleted_at'],
    aside: 'key',
    put: `'aside_' || ${hex('t')}`,
    instead: { key: `left(s.key, 47) || '_2'` },
  },
}

/** What a legal hold covers of a table, by the id in a column; a hold on the whole workspace covers every row. */
interface HeldBy {
  readonly kind: 'item' | 'container' | 'comment' | 'template' | 'media'
  readonly column: string
}

const heldBy: Readonly<Record<string, HeldBy>> = {
  container: { kind: 'container', column: 'id' },
  bucket: { kind: 'container', column: 'container_id' },
  label: { kind: 'container', column: 'container_id' },
  custom_field: { kind: 'container', column: 'collection_id' },
  membership: { kind: 'container', column: 'container_id' },
  item_view: { kind: 'container', column: 'container_id' },
  item: { kind: 'item', column: 'id' },
  item_label: { kind: 'item', column: 'item_id' },
  item_member: { kind: 'item', column: 'item_id' },
  item_field_value: { kind: 'item', column: 'item_id' },
  media_reference: { kind: 'item', column: 'item_id' },
  comment: { kind: 'comment', column: 'id' },
  comment_mention: { kind: 'comment', column: 'comment_id' },
  comment_reaction: { kind: 'comment', column: 'comment_id' },
  template: { kind: 'template', column: 'id' },
  media: { kind: 'media', column: 'id' },
}

/** Columns that say nothing of whether a row is another: the version rises with each write, and rules come back off. */
const uncompared: Readonly<Record<string, readonly string[]>> = {
  automation_rule: ['enabled', 'disabled_by_deletion', 'updated_at'],
}

/** Rows of which only the presence is compared: the state of a file follows its bytes, not a backup. */
const presenceAlone = new Set(['media'])

/** What a written row gets besides, as text of SQL: what is derived from it is made anew. */
const derived: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  item: {
    without_labels: 'false',
    without_members: 'false',
    without_values: 'false',
    without_keys: 'true',
    kept_since: 'now()',
  },
  container: { kept_since: 'now()' },
  automation_rule: { enabled: 'false', disabled_by_deletion: 'false' },
}

export interface ContentTable extends KeyColumns {
  readonly entity: string
  /** Columns that are written, with the key. */
  readonly columns: readonly string[]
  readonly compared: readonly string[]
  readonly hasVersion: boolean
  readonly place: Place | undefined
  readonly heldBy: HeldBy | undefined
  readonly derived: Readonly<Record<string, string>>
  /** The column that refers to another row of the same table. */
  readonly parent: string | undefined
  /** Of the row's alias: which rows a rewind is about. */
  scope(alias: string): string
}

const isContent = ({ table }: Pick<LoadedTable, 'table'>) => workspaceTables[table]?.content === true

/** The shapes of what a rewind writes, referenced tables first. */
export const contentOf = (shape: readonly LoadedTable[]): readonly LoadedTable[] => shape.filter(isContent)

/**
 * `staged`: the columns that lie there, by table. One that the archive has without a row has none, and all its rows go; one that
 * the archive does not know, because it is older, stays as it is.
 */
export function contentTables(shape: readonly LoadedTable[], staged: StagedColumns): readonly ContentTable[] {
  return contentOf(shape).flatMap((one) => {
    const columns = staged[one.table]
    return columns ? [contentTable(one, columns, derived[one.table] ?? {})] : []
  })
}

/** The same for an undo, which brings rows back as they were: rules as well. */
export function undoneTables(shape: readonly LoadedTable[]): readonly ContentTable[] {
  return contentOf(shape).map((one) =>
    contentTable(
      one,
      one.columns.map(({ name }) => name),
      one.table === 'automation_rule' ? {} : (derived[one.table] ?? {}),
    ),
  )
}

function contentTable(
  one: LoadedTable,
  staged: readonly string[],
  made: Readonly<Record<string, string>>,
): ContentTable {
  const { table, name, columns, keys, references } = one
  const primary = keys.find(({ isPrimary }) => isPrimary)
  const key = (primary?.columns ?? []).filter((column) => column !== 'tenant_id')
  const typeOf = (column: string) => columns.find((known) => known.name === column)?.type ?? 'uuid'
  const self = references.find((reference) => reference.table === table)
  const left = new Set([...key, 'version', ...(uncompared[table] ?? []), ...Object.keys(made)])
  return {
    table,
    entity: name,
    key: key.map((column) => ({ name: column, type: typeOf(column) })),
    columns: staged.filter((column) => !Object.hasOwn(made, column)),
    compared: presenceAlone.has(table) ? [] : staged.filter((column) => !left.has(column)),
    hasVersion: columns.some((column) => column.name === 'version'),
    place: places[table],
    heldBy: heldBy[table],
    derived: made,
    parent: self?.columns.find((column) => column !== 'tenant_id'),
    scope: (alias) => (table === 'membership' ? `${alias}.container_id is not null` : 'true'),
  }
}
