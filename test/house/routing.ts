/**
 * What keeps a distributed PostgreSQL from sending a statement to the node that has the workspace.
 *
 * PostgreSQL's own parser reads the statement. Each query of it (the statement, a part of its WITH, a subquery) is a
 * level with its tables. A table of workspaces is routed if its `tenant_id` equals a value in the conditions of its
 * level, or the `tenant_id` of a table that is routed: one of the same level, or of a level around it. What such a
 * database makes of stored moments is in docs/decisions/0320.
 */
import { parseSync } from 'libpg-query'
import { installationTables, workspaceTables } from '../../src/core/contract/tables.ts'

export type Hindrance = 'value' | 'clock' | 'lock' | 'subselect' | 'mixed'

type Node = { readonly [member: string]: unknown }

/** What hinders, with the table or the words that it is about. The parser is loaded before (`loadModule`). */
export function hindrancesOf(text: string): ReadonlyMap<Hindrance, ReadonlySet<string>> {
  const found = new Map<Hindrance, Set<string>>()
  const say: Say = (hindrance, about) => found.set(hindrance, (found.get(hindrance) ?? new Set()).add(about))
  const statement = (parseSync(text) as unknown as { stmts: readonly [{ stmt: Node }] }).stmts[0].stmt
  const tables = new Set(
    nodesOf(statement, 'relname').flatMap((one) => (one['schemaname'] ? [] : [String(one['relname'])])),
  )
  const ofWorkspaces = [...tables].filter(isOfWorkspaces)
  if (ofWorkspaces.length === 0) return found
  for (const table of tables) if (Object.hasOwn(installationTables, table)) say('mixed', table)
  readQuery(statement, undefined, new Map(), say)
  return found
}

type Say = (hindrance: Hindrance, about: string) => void

/** A level: which of its names are tied to a value, and what stands around it. */
interface Level {
  readonly tables: ReadonlyMap<string, string | undefined>
  readonly routed: Set<string>
  readonly outer: Level | undefined
}

/** Whether a WITH's part answers a `tenant_id` that is routed. */
type Parts = ReadonlyMap<string, boolean>

/** Says what hinders in a query and those within it. Answers whether the `tenant_id` of its answer is routed. */
function readQuery(wrapped: Node, outer: Level | undefined, given: Parts, say: Say): boolean {
  const [[kind, query]] = Object.entries(wrapped) as [[string, Node]]
  const parts = new Map(given)
  for (const part of listOf((query['withClause'] as Node | undefined)?.['ctes'])) {
    const { ctename, ctequery } = part['CommonTableExpr'] as Node
    parts.set(String(ctename), readQuery(ctequery as Node, outer, parts, say))
  }
  if (query['larg'] && query['rarg']) {
    const sides = [query['larg'], query['rarg']].map((side) => readQuery({ SelectStmt: side }, outer, parts, say))
    return sides.every((isRouted) => isRouted)
  }
  const level = levelOf(query, outer, parts, say)
  if (kind !== 'InsertStmt') readTables(level, query, say)
  else if (readInsert(query, level, parts, say)) level.routed.add(String((query['relation'] as Node)['relname']))
  if (kind !== 'SelectStmt') readClocks(query, say)
  const within = kind === 'InsertStmt' ? { ...query, selectStmt: undefined } : query
  for (const sublink of outermost(within, 'SubLink')) readQuery(sublink['subselect'] as Node, level, parts, say)
  const { exprs, targetList } = { ...query, ...(query['returningClause'] as Node | undefined) } as Node
  const answered = kind === 'SelectStmt' ? targetList : exprs
  return listOf(answered).some(({ ResTarget: target }) => isRoutedOutput(target as Node, level))
}

/** Each table of workspaces of the level is routed, and of a level that locks each subquery stands alone. */
function readTables({ tables, routed }: Level, query: Node, say: Say): void {
  const locks = listOf(query['lockingClause']).length > 0
  for (const [name, table] of tables) if (table !== undefined && !routed.has(name)) say(locks ? 'lock' : 'value', table)
  if (!locks) return
  const names = [...tables.keys()]
  for (const { subselect } of outermost(query, 'SubLink'))
    for (const { fields } of nodesOf(subselect as Node, 'fields')) {
      const [first] = namesOf(fields)
      if (names.includes(String(first))) say('lock', `a subquery about ${first}`)
    }
}

/** Rows that are written name their workspace by value. Answers whether they do. */
function readInsert(query: Node, level: Level, parts: Parts, say: Say): boolean {
  const table = String((query['relation'] as Node)['relname'])
  const source = query['selectStmt'] as Node | undefined
  const select = source?.['SelectStmt'] as Node | undefined
  const column = listOf(query['cols']).findIndex((one) => (one['ResTarget'] as Node)['name'] === 'tenant_id')
  const rows = listOf(select?.['valuesLists']).map((row) => listOf((row['List'] as Node)['items']))
  if (rows.some((row) => row.some((one) => outermost(one, 'SubLink').length > 0))) say('subselect', table)
  if (source && rows.length === 0) readQuery(source, level.outer, parts, say)
  if (!isOfWorkspaces(table)) return false
  const from = levelOf(select ?? {}, level.outer, parts, () => undefined)
  const selected = listOf(select?.['targetList']).map((one) => (one['ResTarget'] as Node)['val'] as Node)
  const written = rows.length > 0 ? rows : [selected]
  const isRouted = written.every((row) => row[column] && isRoutedExpression(row[column], from))
  if (!isRouted) say('value', table)
  return isRouted
}

/** What is decided by the clock is decided by each node anew: RETURNING, ON CONFLICT, CASE over stored columns. */
function readClocks(query: Node, say: Say): void {
  if (!isOfWorkspaces(String((query['relation'] as Node)['relname']))) return
  for (const part of ['onConflictClause', 'returningClause', 'returningList'])
    if (readsClock(query[part])) say('clock', part === 'onConflictClause' ? 'on conflict' : 'returning')
  for (const choice of ['CaseExpr', 'CoalesceExpr'])
    for (const one of outermost({ ...query, withClause: undefined }, choice))
      if (readsClock(one) && nodesOf(one, 'fields').length > 0)
        say('clock', choice === 'CaseExpr' ? 'case' : 'coalesce')
}

const clocks = new Set(['now', 'clock_timestamp', 'statement_timestamp', 'transaction_timestamp'])
const readsClock = (node: unknown) =>
  nodesOf(node, 'funcname').some(({ funcname }) => clocks.has(String(namesOf(funcname).at(-1)))) ||
  outermost(node, 'SQLValueFunction').length > 0

function levelOf(query: Node, outer: Level | undefined, parts: Parts, say: Say): Level {
  const tables = new Map<string, string | undefined>()
  const routed = new Set<string>()
  const conditions: unknown[] = [query['whereClause']]
  const later: Node[] = []
  const add = (item: Node): void => {
    const [[kind, from]] = Object.entries(item) as [[string, Node]]
    const alias = (from['alias'] as Node | undefined)?.['aliasname']
    if (kind === 'RangeVar') {
      const table = from['schemaname'] ? '' : String(from['relname'])
      const name = String(alias ?? table)
      tables.set(name, parts.has(table) || !isOfWorkspaces(table) ? undefined : table)
      if (parts.get(table)) routed.add(name)
    } else if (kind === 'JoinExpr') {
      add(from['larg'] as Node)
      add(from['rarg'] as Node)
      conditions.push(from['quals'])
      if (listOf(from['usingClause']).some((one) => (one['String'] as Node)['sval'] === 'tenant_id'))
        conditions.push('all')
    } else if (kind === 'RangeSubselect') {
      tables.set(String(alias), undefined)
      if (from['lateral']) later.push(from['subquery'] as Node)
      else if (readQuery(from['subquery'] as Node, outer, parts, say)) routed.add(String(alias))
    }
  }
  if (query['relation']) add({ RangeVar: query['relation'] })
  for (const item of [...listOf(query['fromClause']), ...listOf(query['usingClause'])]) add(item)
  const level: Level = { tables, routed, outer }
  tie(level, routed, conditions.flatMap(conjuncts))
  for (const subquery of later) readQuery(subquery, level, parts, say)
  return level
}

/** Follows equations until no further table is tied. */
function tie(level: Level, routed: Set<string>, conditions: readonly unknown[]): void {
  const equations = conditions.flatMap((condition) => equationsOf(condition as Node))
  let before = -1
  while (before < routed.size) {
    before = routed.size
    for (const [left, right] of equations) {
      if (isRoutedExpression(right, level)) for (const name of ownNames(left, level)) routed.add(name)
      if (isRoutedExpression(left, level)) for (const name of ownNames(right, level)) routed.add(name)
    }
    if (conditions.includes('all') && routed.size > 0) for (const name of level.tables.keys()) routed.add(name)
  }
}

function conjuncts(condition: unknown): unknown[] {
  const both = (condition as Node | undefined)?.['BoolExpr'] as Node | undefined
  return both?.['boolop'] === 'AND_EXPR' ? listOf(both['args']).flatMap(conjuncts) : condition ? [condition] : []
}

/** `a = b`, and `(a, b) = (c, d)` column by column. */
function equationsOf(condition: Node): [Node, Node][] {
  const equation = condition['A_Expr'] as Node | undefined
  if (equation?.['kind'] !== 'AEXPR_OP' || namesOf(equation['name']).at(-1) !== '=') return []
  const left = equation['lexpr'] as Node
  const right = equation['rexpr'] as Node
  if (!left['RowExpr'] || !right['RowExpr']) return [[left, right]]
  const others = listOf((right['RowExpr'] as Node)['args'])
  return listOf((left['RowExpr'] as Node)['args']).map((one, index) => [one, others[index] ?? one])
}

/** The names of the level that `tenant_id` or `name.tenant_id` belongs to. */
function ownNames(expression: Node, { tables }: Level): string[] {
  const names = namesOf((expression['ColumnRef'] as Node | undefined)?.['fields'])
  if (names.at(-1) !== 'tenant_id') return []
  if (names.length > 1) return tables.has(String(names.at(-2))) ? [String(names.at(-2))] : []
  return [...tables].filter(([, table]) => table !== undefined).map(([name]) => name)
}

function isRoutedExpression(expression: Node, level: Level): boolean {
  if (isValue(expression)) return true
  const names = namesOf((expression['ColumnRef'] as Node | undefined)?.['fields'])
  if (names.at(-1) !== 'tenant_id') return false
  const own = names.length > 1 ? level.tables.has(String(names.at(-2))) : ownNames(expression, level).length > 0
  if (!own) return level.outer !== undefined && isRoutedExpression(expression, level.outer)
  return names.length > 1
    ? level.routed.has(String(names.at(-2)))
    : ownNames(expression, level).some((one) => level.routed.has(one))
}

function isRoutedOutput(target: Node, level: Level): boolean {
  const value = target['val'] as Node
  const fields = listOf((value['ColumnRef'] as Node | undefined)?.['fields'])
  if (fields.at(-1)?.['A_Star']) {
    const [of] = namesOf(fields)
    return of === undefined ? level.routed.size > 0 : level.routed.has(String(of))
  }
  return (target['name'] ?? namesOf(fields).at(-1)) === 'tenant_id' && isRoutedExpression(value, level)
}

function isValue(expression: Node): boolean {
  const cast = expression['TypeCast'] as Node | undefined
  return cast ? isValue(cast['arg'] as Node) : 'ParamRef' in expression || 'A_Const' in expression
}

const isOfWorkspaces = (table: string) => Object.hasOwn(workspaceTables, table)
const listOf = (list: unknown) => (list ?? []) as readonly Node[]
const namesOf = (list: unknown) => listOf(list).map((one) => (one['String'] as Node | undefined)?.['sval'])

/** The nodes of a kind, but none within another of it. */
function outermost(node: unknown, kind: string): Node[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([member, value]) =>
    member === kind
      ? [value as Node]
      : member === 'withClause' || member === 'RangeSubselect'
        ? []
        : outermost(value, kind),
  )
}

/** Whatever has a member of that name, at any depth. */
function nodesOf(node: unknown, member: string): Node[] {
  if (typeof node !== 'object' || node === null) return []
  const below = Object.values(node).flatMap((value) => nodesOf(value, member))
  return member in node ? [node as Node, ...below] : below
}
