/**
 * Erasures repeated on an archive that was loaded (areas/backup/loading), before anything of it is compared or written: an
 * erased person never comes back by an archive.
 *
 * Of each erasure the choices of its time count. What a hold keeps is copied into `erasure_held` of the same schema, if that is
 * there. Files that go are answered: their bytes are not brought back either. Doing it twice changes nothing.
 * Spec: Keeping, 1, 2 and 3.
 */
import type { Client } from 'pg'
import { Json, type Part, statementOf } from '../../kernel/database/statement.ts'
import { type Ask, namesOf, strikeOut } from './mentions.ts'
import type { Erased } from './reading.ts'
import { atOnce, inBatches, type Place, part, type Rule, raw } from './rules.ts'
import { type Done, heldCopy, statementOfRule } from './statement.ts'

interface Options {
  /** Whether a legal hold in force keeps anything of the account; then all that goes is copied. Absent: none does. */
  readonly isHeld?: (erased: Erased) => boolean
}

/** Where an archive lies: in a schema of its own, or in tables beside others. */
export interface Staged {
  readonly ask: Ask
  /** The table there, as a piece of a statement (`raw`). */
  table(name: string): Part
  /** The columns of the tables that lie there. */
  readonly shape: Shape
  readonly tenantId: string
}

export interface Repeated {
  /** Accounts that the archive had as they were. */
  readonly accounts: readonly string[]
  /** Rows that were removed or changed. */
  readonly rows: number
  /** Files whose rows went. */
  readonly mediaIds: readonly string[]
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** The tables and columns of the schema. */
export type Shape = ReadonlyMap<string, readonly string[]>

/** Repeats erasures in the schema of an archive of the workspace. In no transaction of its own. */
export async function applyErasuresToStaging(
  sql: Client,
  schema: string,
  tenantId: string,
  erasures: readonly Erased[],
  options: Options = {},
): Promise<Repeated> {
  const table = (name: string) => raw(`${quoted(schema)}.${quoted(name)}`)
  return applyErasures({ ask: askerOf(sql), table, shape: await readShape(sql, schema), tenantId }, erasures, options)
}

/** The same, wherever the rows lie. */
export async function applyErasures(
  { ask, table, shape, tenantId }: Staged,
  erasures: readonly Erased[],
  { isHeld = () => false }: Options = {},
): Promise<Repeated> {
  const accounts: string[] = []
  const mediaIds: string[] = []
  let rows = 0
  for (const erased of erasures) {
    const place: Place = { table, tenantId, accountId: erased.accountId, isArchive: true }
    const names = await readNames(ask, place, shape)
    mediaIds.push(...(await doomedFiles(ask, place, shape, erased)))
    const keeps = isHeld(erased) && shape.has('erasure_held')
    const erasureId = await ensureErasure(ask, place, shape, erased, keeps)
    const keeping = keeps ? erasureId : undefined
    let changed = await strikeAll(ask, place, shape, erased, names, keeping)
    for (const rule of [...inBatches, ...atOnce]) changed += await applyRule(ask, rule, place, shape, erased, keeping)
    if (changed > 0) accounts.push(erased.accountId)
    rows += changed
  }
  return { accounts, rows, mediaIds }
}

async function readShape(sql: Client, schema: string): Promise<Shape> {
  const { rows } = await sql.query<{ name: string; columns: string[] }>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_catalog.pg_class c join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = (select oid from pg_catalog.pg_namespace where nspname = $1) and c.relkind in ('r', 'p')
     group by c.relname`,
    [schema],
  )
  return new Map(rows.map(({ name, columns }) => [name, columns]))
}

const askerOf =
  (sql: Client): Ask =>
  async <Row extends object>(statement: Part) => {
    const { text, values } = statementOf(['', ''], [statement])
    const { rows } = await sql.query<Row>(
      text,
      values.map((value) => (value instanceof Json ? value.text : value)),
    )
    return rows
  }

async function applyRule(
  ask: Ask,
  rule: Rule,
  place: Place,
  shape: Shape,
  { choices, accountId }: Erased,
  keeping: string | undefined,
): Promise<number> {
  const columns = shape.get(rule.table)
  if (!columns || rule.asked?.(choices) === false || !isReadable(rule, shape)) return 0
  // An archive of before may have none of the columns that are emptied.
  if (rule.set && !Object.keys(rule.set).some((column) => columns.includes(column))) return 0
  const held = () => (keeping === undefined ? undefined : part`true`)
  const [done] = await ask<Done>(statementOfRule(rule, place, { erasureId: keeping ?? accountId, held, columns }))
  return done?.count ?? 0
}

/** Tables that a rule reads besides: an archive of before may lack one, and then has no row of the rule. */
const isReadable = ({ table, part: of }: Rule, shape: Shape): boolean =>
  (table !== 'sealed_value' || shape.has('second_factor')) &&
  (table !== 'item_field_value' || shape.has('custom_field')) &&
  (of !== 'FILES' || shape.has('media'))

async function readNames(ask: Ask, { table, tenantId, accountId }: Place, shape: Shape): Promise<readonly string[]> {
  const columns = (shape.get('account') ?? []).filter((one) => ['display_name', 'email', 'sign_in_name'].includes(one))
  const names: (string | null)[] = []
  if (columns.length > 0) {
    const [row] = await ask<Record<string, string | null>>(
      part`select ${raw(columns.join(', '))} from ${table('account')} where tenant_id = ${tenantId} and id = ${accountId}`,
    )
    names.push(...Object.values(row ?? {}))
  }
  if (shape.has('account_address')) {
    const rows = await ask<{ email: string }>(
      part`select email from ${table('account_address')} where tenant_id = ${tenantId} and account_id = ${accountId}`,
    )
    names.push(...rows.map(({ email }) => email))
  }
  return namesOf(names)
}

async function strikeAll(
  ask: Ask,
  place: Place,
  shape: Shape,
  { choices }: Erased,
  names: readonly string[],
  keeping: string | undefined,
): Promise<number> {
  let count = 0
  // Where no accounts lie, nobody knows the names any more: the whole text goes.
  const known = shape.has('account') ? names : undefined
  for (const mention of choices.mentions) {
    if (known?.length === 0 || !shape.has(mention.kind.toLowerCase())) continue
    const isStruck = await strikeOut(ask, place, mention, known, async (rule, from) => {
      if (keeping !== undefined) await ask(heldCopy(place, keeping, rule, part`to_jsonb(x)`, from))
    })
    if (isStruck) count += 1
  }
  return count
}

/** The row of the erasure, which an archive of before does not have. Answers its id. */
async function ensureErasure(
  ask: Ask,
  { table, tenantId }: Place,
  shape: Shape,
  { accountId, at, choices }: Erased,
  keeps: boolean,
): Promise<string> {
  if (!shape.has('erasure') || !shape.has('account')) return accountId
  const [known] = await ask<{ id: string }>(
    part`select id from ${table('erasure')} where tenant_id = ${tenantId} and account_id = ${accountId}`,
  )
  if (known) return known.id
  const [made] = await ask<{ id: string }>(part`
    insert into ${table('erasure')} (tenant_id, id, account_id, choices, names, began_at, swept_at, ended_at)
    select ${tenantId}::uuid, gen_random_uuid(), a.id, ${JSON.stringify(choices)}::jsonb, '[]'::jsonb, ${at}::timestamptz, now(),
      case when ${keeps} then null else now() end
    from ${table('account')} a where a.tenant_id = ${tenantId} and a.id = ${accountId} returning id`)
  return made?.id ?? accountId
}

async function doomedFiles(
  ask: Ask,
  { table, tenantId, accountId }: Place,
  shape: Shape,
  { choices }: Erased,
): Promise<readonly string[]> {
  if (choices.files !== 'REMOVE' || !shape.has('media')) return []
  const rows = await ask<{ id: string }>(
    part`select id from ${table('media')} where tenant_id = ${tenantId} and created_by = ${accountId}`,
  )
  return rows.map(({ id }) => id)
}
