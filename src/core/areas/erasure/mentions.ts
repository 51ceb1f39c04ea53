/**
 * Names and addresses of a person in texts of others: found, and struck out.
 *
 * A name counts as a whole: the words around it may be anything, the letters beside it not. Names of fewer than three characters
 * are not looked for: they would be found everywhere. Spec: Keeping, 2, N5 and Erasure of.
 */
import type { Choices } from '../../contract/privacy/requests.ts'
import type { Part, Value } from '../../kernel/database/statement.ts'
import { type Place, part, type Rule, raw, struck } from './rules.ts'

export type MentionKind = Choices['mentions'][number]['kind']

interface Searched {
  readonly table: string
  /** Texts that people wrote, by column. */
  readonly columns: readonly string[]
  /** Of texts of the person: what becomes of them another choice says. */
  readonly maker: boolean
  readonly item?: Part
  readonly container?: Part
  readonly isIndexed: boolean
  readonly hasUpdated: boolean
}

export const searched: Readonly<Record<MentionKind, Searched>> = {
  ITEM: {
    table: 'item',
    columns: ['title', 'description'],
    maker: true,
    item: part`x.id`,
    isIndexed: true,
    hasUpdated: true,
  },
  COMMENT: {
    table: 'comment',
    columns: ['body'],
    maker: true,
    item: part`x.item_id`,
    isIndexed: true,
    hasUpdated: false,
  },
  CONTAINER: {
    ...{ table: 'container', columns: ['name', 'description'], maker: false, container: part`x.id`, isIndexed: true },
    hasUpdated: true,
  },
  TEMPLATE: {
    ...{
      table: 'template',
      columns: ['name', 'description'],
      maker: true,
      container: part`x.container_id`,
      isIndexed: false,
    },
    hasUpdated: true,
  },
}

const shortest = 3

/** What is looked for, longest first: a name that is part of another one is struck out with it. */
export const namesOf = (names: readonly (string | null)[]): readonly string[] =>
  [...new Set(names.flatMap((name) => name?.trim() ?? []))]
    .filter((name) => [...name].length >= shortest)
    .sort((one, other) => other.length - one.length || (one < other ? -1 : 1))

/** A pattern with the flag `u` takes a backslash before these alone. */
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')

const patternOf = (names: readonly string[]) =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${names.map(escaped).join('|')})(?![\\p{L}\\p{N}])`, 'giu')

/** The text without the names. */
export const struckOut = (text: string, names: readonly string[]): string =>
  names.length === 0 ? text : text.replace(patternOf(names), struck)

const isNamed = (text: string | null, names: readonly string[]): boolean =>
  text !== null && names.length > 0 && patternOf(names).test(text)

type Texts = { readonly id: string } & Readonly<Record<string, string | null>>

/** Asks a place; answers rows. */
export type Ask = <Row extends object>(statement: Part) => Promise<readonly Row[]>

/** The columns in which the names stand. */
export const namedIn = (row: Texts, columns: readonly string[], names: readonly string[]): readonly string[] =>
  columns.filter((column) => isNamed(row[column] ?? null, names))

const wordsIn = (row: Texts, columns: readonly string[]) =>
  columns.filter((column) => row[column] !== null && row[column] !== '' && row[column] !== struck)

/** Texts that may have a name: a wider net than `isNamed`, which decides. */
export const mayName = (columns: readonly string[], names: readonly string[]): Part =>
  names
    .flatMap((name) => columns.map((column) => part`strpos(lower(x.${raw(column)}), lower(${name}::text)) > 0`))
    .reduce((all, one) => part`${all} or ${one}`, part`false`)

/** Strikes the names out of one text; without names all of it. `keep`: copies the row `x` before, where a hold covers it. Answers whether they were there. */
export async function strikeOut(
  ask: Ask,
  place: Place,
  { kind, id }: Choices['mentions'][number],
  names: readonly string[] | undefined,
  keep: (
    rule: { readonly part: 'MENTIONS'; readonly table: string } & Pick<Rule, 'item' | 'container'>,
    from: Part,
  ) => Promise<void>,
): Promise<boolean> {
  const { table, columns, item, container, isIndexed, hasUpdated } = searched[kind]
  const { tenantId } = place
  const listed = columns.map((column, at) => part`${raw(at === 0 ? '' : ', ')}x.${raw(column)}`)
  const [row] = await ask<Texts>(
    part`select x.id, ${joined(listed)} from ${place.table(table)} x where x.tenant_id = ${tenantId} and x.id = ${id} for update`,
  )
  const found = row ? (names ? namedIn(row, columns, names) : wordsIn(row, columns)) : []
  if (!row || found.length === 0) return false
  const rule = { part: 'MENTIONS', table, ...(item ? { item } : {}), ...(container ? { container } : {}) } as const
  await keep(rule, part`from ${place.table(table)} x where x.tenant_id = ${tenantId} and x.id = ${id}`)
  const written = found.map(
    (column, at) =>
      part`${raw(at === 0 ? '' : ', ')}${raw(column)} = ${names ? struckOut(row[column] ?? '', names) : (struck as Value)}`,
  )
  await ask(part`
    update ${place.table(table)} x set ${joined(written)}, version = x.version + 1 ${hasUpdated ? part`, updated_at = now()` : part``}
      ${kind === 'ITEM' && !place.isArchive ? part`, without_keys = true` : part``}
    where x.tenant_id = ${tenantId} and x.id = ${id}`)
  if (isIndexed && !place.isArchive)
    await ask(part`
      insert into ${place.table('search_pending')} (tenant_id, id, subject, subject_id)
      values (${tenantId}, new_id(), ${kind}, ${id})`)
  return true
}

const joined = (parts: readonly Part[]): Part => parts.reduce((all, one) => part`${all}${one}`, part``)
