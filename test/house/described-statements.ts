/** What the database says that a statement answers, and where a row's type says otherwise. docs/decisions/0161. */
import type postgres from 'postgres'
import type { Kind, Member, RowShape } from './row-shape.ts'
import type { DeclaredType, Piece } from './written-statements.ts'

export interface Column {
  readonly name: string
  readonly type: number
  /** Undefined where neither the schema nor the plan tells. */
  readonly isNullable: boolean | undefined
  /** Where a CHECK names the texts one by one. */
  readonly words: ReadonlySet<string> | undefined
}

interface SchemaColumn {
  readonly isRequired: boolean
  readonly words: ReadonlySet<string> | undefined
}

/** The columns of the schema, by `table oid.number`. */
export type SchemaColumns = ReadonlyMap<string, SchemaColumn>

export async function readSchemaColumns(sql: postgres.Sql): Promise<SchemaColumns> {
  const rows = await sql<{ place: string; is_required: boolean; checks: string[] }[]>`
    select a.attrelid || '.' || a.attnum as place, a.attnotnull as is_required, array(
      select pg_get_constraintdef(k.oid) from pg_constraint k
      where k.conrelid = a.attrelid and k.contype = 'c' and k.conkey = array[a.attnum]) as checks
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`
  return new Map(
    rows.map(({ place, is_required, checks }) => [
      place,
      { isRequired: is_required, words: checks.map(wordsOf).find((words) => words !== undefined) },
    ]),
  )
}

/** The texts of `CHECK ((state = ANY (ARRAY['OPEN'::text, 'DONE'::text])))`. */
function wordsOf(check: string): Set<string> | undefined {
  const [, list] = /^CHECK \(\(\w+ = ANY \(ARRAY\[([^\]]*)\]\)\)\)$/.exec(check) ?? []
  return list === undefined ? undefined : new Set([...list.matchAll(/'([^']*)'::text/g)].map(([, word = '']) => word))
}

/** Prepares the statement and answers its columns. Throws what the server says of one that it refuses. */
export async function describedColumns(
  sql: postgres.Sql,
  schema: SchemaColumns,
  pieces: readonly Piece[],
): Promise<Column[]> {
  const { text, values, typed } = written(sql, pieces)
  const { columns } = await sql.unsafe(text, values).describe()
  if (!columns || columns.length === 0) return []
  const nullable = /\b(?:left|right|full)\b/.test(text) ? await outerJoined(sql, typed) : new Set<number>()
  return columns.map(({ name, type, table, number }, index) => {
    const known = schema.get(`${table}.${number}`)
    const isProven = new RegExp(`\\b${name.replace(/\W/g, '')} is not null`).test(text)
    const isNullable = nullable.has(index) || (isProven ? undefined : known && !known.isRequired)
    return { name, type, words: known?.words, isNullable }
  })
}

function written(sql: postgres.Sql, pieces: readonly Piece[]) {
  let text = ''
  let typed = ''
  const values: postgres.ParameterOrJSON<never>[] = []
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      text += piece
      typed += piece
    } else {
      const place = `$${values.push(sampleOf(sql, piece.declared))}`
      text += place
      typed += piece.declared ? `${place}::${piece.declared}` : place
    }
  }
  return { text, typed, values }
}

/** A value that the driver declares as that type, as it does with the program's own. */
function sampleOf(sql: postgres.Sql, declared: DeclaredType | undefined): postgres.ParameterOrJSON<never> {
  switch (declared) {
    case 'bool':
      return true
    case 'bytea':
      return Buffer.alloc(0)
    case 'timestamptz':
      return new Date(0)
    case 'jsonb':
      return sql.typed('{}' as never, 3802)
    case undefined:
      return ''
  }
}

interface Plan {
  readonly 'Join Type'?: string
  readonly 'Parent Relationship'?: string
  readonly Output?: readonly string[]
  readonly Plans?: readonly Plan[]
}

/** The columns that come out of the side of an outer join which may have no row, by their index. */
async function outerJoined(sql: postgres.Sql, text: string): Promise<ReadonlySet<number>> {
  const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(
    `explain (verbose, generic_plan, format json) ${text}`,
  )
  const plan = row?.['QUERY PLAN'][0].Plan
  if (!plan) return new Set()
  const missing = new Set(absentOutputs(plan))
  return new Set([...(plan.Output ?? []).entries()].flatMap(([index, output]) => (missing.has(output) ? [index] : [])))
}

function absentOutputs(plan: Plan): string[] {
  const { 'Join Type': join, Plans: below = [] } = plan
  const sides = { Left: ['Inner'], Right: ['Outer'], Full: ['Inner', 'Outer'] }[join ?? ''] ?? []
  const here = below.flatMap((side) => (sides.includes(side['Parent Relationship'] ?? '') ? (side.Output ?? []) : []))
  return [...here, ...below.flatMap(absentOutputs)]
}

/** What the driver makes of a type (src/core/kernel/database/column-values.ts); all others are text. */
const kindsByType: Readonly<Record<number, readonly Kind[]>> = {
  16: ['boolean'],
  17: ['bytes'],
  20: ['number', 'bigint'],
  21: ['number'],
  23: ['number'],
  26: ['number'],
  700: ['number'],
  701: ['number'],
}
const jsonTypes = [114, 3802]
const jsonKinds: readonly Kind[] = ['string', 'number', 'boolean', 'null', 'object', 'unknown']

/** Where the row says something else than the columns, each in a sentence. */
export function contradictions(row: RowShape, columns: readonly Column[]): string[] {
  const names = columns.map(({ name }) => name)
  return [
    ...[...row].flatMap(([name, { isOptional }]) =>
      isOptional || names.includes(name) ? [] : [`${name} is not answered`],
    ),
    ...names.flatMap((name, index) => (names.indexOf(name) === index ? [] : [`${name} is answered twice`])),
    ...columns.flatMap((column) => {
      const member = row.get(column.name)
      return member ? contradictionsOf(member, column) : [`${column.name} is answered and not in the row`]
    }),
  ]
}

function contradictionsOf({ kinds, words }: Member, { name, type, isNullable, words: known }: Column): string[] {
  const said: readonly Kind[] = [...kinds].filter((kind) => kind !== 'null' && kind !== 'undefined')
  const isJson = jsonTypes.includes(type)
  const given: readonly Kind[] = kindsByType[type] ?? ['string']
  const wrong = isJson
    ? said.filter((kind) => !jsonKinds.includes(kind))
    : [...said.filter((kind) => kind !== 'unknown' && !given.includes(kind))]
  const missing = isJson || kinds.has('unknown') ? [] : given.filter((kind) => !said.includes(kind))
  const strange = words && known ? [...words].filter((word) => !known.has(word)) : []
  const unnamed = words && known ? [...known].filter((word) => !words.has(word)) : []
  return [
    ...wrong.map((kind) => `${name} is never ${kind}`),
    ...missing.map((kind) => `${name} may be ${kind}`),
    ...(isNullable && !kinds.has('null') && !kinds.has('unknown') ? [`${name} may be null`] : []),
    ...strange.map((word) => `${name} is never '${word}'`),
    ...unnamed.map((word) => `${name} may be '${word}'`),
  ]
}
