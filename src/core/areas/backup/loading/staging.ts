/**
 * Where the rows of an archive lie before they come back: unlogged tables of the schema svc_staging, apart for each restore.
 *
 *    r<restore>_<table>   rows of the archive, or what an undo brings back
 *    d<restore>_<table>   the keys of what differs, and how: I comes back, U changes back, D goes away
 *    h<restore>           ids of what legal holds cover
 *    m<restore>           one row, once everything lies there: a crash of the server empties unlogged tables
 *
 * The role svc_staging makes and owns them, because COPY into a table is refused to whoever its row-level security binds. Each
 * has a policy by which svc_tenant reads and changes those of the workspace in force alone. Spec: Keeping, 3;
 * docs/decisions/0450.
 */
import type { Client } from 'pg'
import { withClient } from '../../../kernel/database/client.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { LoadedTable } from './shape.ts'

export const stagingSchema = 'svc_staging'

const hexOf = (restoreId: string) => restoreId.replaceAll('-', '')
const idOf = (hex: string) =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')

/** What names of tables of rows begin with. */
export const rowsPrefix = (restoreId: string) => `r${hexOf(restoreId)}_`
const placed = (name: string) => `${stagingSchema}."${name}"`
export const stagedRows = (restoreId: string, table: string) => placed(`${rowsPrefix(restoreId)}${table}`)
export const stagedChanges = (restoreId: string, table: string) => placed(`d${hexOf(restoreId)}_${table}`)
export const stagedHolds = (restoreId: string) => placed(`h${hexOf(restoreId)}`)
const marker = (restoreId: string) => placed(`m${hexOf(restoreId)}`)

/** The columns that lie there, by table: what the archive and this database both have. */
export type StagedColumns = Readonly<Record<string, readonly string[]>>

/** Settings by which values are read as an archive has them; what is lost with the server is laid out anew. */
const settings =
  "set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set bytea_output = 'hex'; set synchronous_commit = off; set search_path = pg_catalog"

/** Works in the schema, over a connection of its own. */
export const inStaging = <T>({ address }: Installation, work: (client: Client) => Promise<T>): Promise<T> =>
  withClient(address, async (client) => {
    await client.query(`${settings}; set role svc_staging`)
    return work(client)
  })

const ofWorkspace = (owner: string) => `${owner} = (select nullif(current_setting('app.tenant_id', true), '')::uuid)`

/** Lets svc_tenant at a table, for the rows of the workspace in force. */
function opened(place: string, owner: string): string {
  const own = ofWorkspace(owner)
  return `alter table ${place} enable row level security;
    create policy one_workspace on ${place} to svc_tenant using (${own}) with check (${own});
    grant select, insert, update, delete on ${place} to svc_tenant`
}

/** Opens the tables of rows, once they are loaded and their keys are made. */
export async function openRows(client: Client, restoreId: string, tables: readonly LoadedTable[]): Promise<void> {
  for (const { table, owner } of tables) {
    const place = stagedRows(restoreId, table)
    await client.query(`${opened(place, owner)}; analyze ${place}`)
  }
}

/** Makes the tables of rows, with their primary keys and nothing in them. */
export async function makeRows(client: Client, restoreId: string, tables: readonly LoadedTable[]): Promise<void> {
  for (const { table, columns, keys } of tables) {
    const place = stagedRows(restoreId, table)
    const primary = keys.find(({ isPrimary }) => isPrimary)?.columns ?? ['tenant_id']
    const all = columns.map(({ name, type }) => `"${name}" ${type}`).join(', ')
    await client.query(
      `create unlogged table ${place} (tenant_id uuid not null, ${all}, primary key (${primary.map((name) => `"${name}"`).join(', ')}));
       ${opened(place, 'tenant_id')}`,
    )
  }
}

export interface KeyColumns {
  readonly table: string
  readonly key: readonly { readonly name: string; readonly type: string }[]
}

/** Makes the tables of what differs, and of what is held, empty. */
export async function makeChanges(client: Client, restoreId: string, tables: readonly KeyColumns[]): Promise<void> {
  for (const { table, key } of tables) {
    const place = stagedChanges(restoreId, table)
    const columns = key.map(({ name, type }) => `"${name}" ${type} not null`).join(', ')
    await client.query(
      `create unlogged table ${place} (tenant_id uuid not null, n bigint generated always as identity primary key, op text not null, ${columns});
       ${opened(place, 'tenant_id')}`,
    )
  }
  const holds = stagedHolds(restoreId)
  await client.query(
    `create unlogged table ${holds} (tenant_id uuid not null, kind text not null, id uuid not null, primary key (kind, id));
     ${opened(holds, 'tenant_id')}`,
  )
}

/** Says that everything lies there. */
export async function markStaged(client: Client, restoreId: string, columns: StagedColumns): Promise<void> {
  await client.query(`create unlogged table ${marker(restoreId)} (columns jsonb not null)`)
  await client.query(`insert into ${marker(restoreId)} (columns) values ($1)`, [JSON.stringify(columns)])
}

/** The columns of what lies there; undefined: not everything does, or no longer. */
export async function readStaged(client: Client, restoreId: string): Promise<StagedColumns | undefined> {
  const { rows: found } = await client.query(`select to_regclass($1) is not null as there`, [marker(restoreId)])
  if (found[0]?.there !== true) return undefined
  const { rows } = await client.query<{ columns: StagedColumns }>(`select columns from ${marker(restoreId)}`)
  return rows[0]?.columns
}

const tablesOf = `
  select relname as name, substr(relname, 2, 32) as hex from pg_class
  where relnamespace = '${stagingSchema}'::regnamespace and relkind = 'r' and relname ~ '^[rdhm][0-9a-f]{32}'`

/** Removes everything of a restore; nothing happens where nothing is. */
export async function dropStaged(client: Client, restoreId: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(`${tablesOf} and substr(relname, 2, 32) = $1 order by 1`, [
    hexOf(restoreId),
  ])
  if (rows.length > 0) await client.query(`drop table if exists ${rows.map(({ name }) => placed(name)).join(', ')}`)
}

/** The restores of which something lies there. */
export async function listStaged(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ hex: string }>(`select distinct hex from (${tablesOf}) t order by 1`)
  return rows.map(({ hex }) => idOf(hex))
}
