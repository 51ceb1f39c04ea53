/**
 * Statements: a template becomes text with `$1 …` and a flat list of values.
 *
 * All values are checked here, before they reach the driver. The driver finds a bad value
 * only while it writes; if the statement is pipelined after another one, the driver fails the
 * wrong one and miscounts the answers. So every statement of this module can be written.
 */
import { keepText, kept, textOf } from './statement-texts.ts'
import { codeOf } from './unavailable.ts'

/** What can be bound. Arrays cannot (see column-values.ts); JSON goes through `json()`. */
export type Value = string | number | bigint | boolean | null | Date | Uint8Array | Part

/** The jsonb parameter of a statement, already encoded. */
export class Json {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A piece of a statement: it is put into another one and never sent alone. */
export class Part {
  readonly strings: readonly string[]
  readonly values: readonly (Value | Json)[]
  /** False when the text differs from call to call, so that keeping a plan for each would fill memory. */
  readonly steady: boolean
  constructor(strings: readonly string[], values: readonly (Value | Json)[], steady: boolean) {
    this.strings = strings
    this.values = values
    this.steady = steady
  }
}

/** A statement as a connection sends it. */
export interface Statement {
  readonly text: string
  readonly values: readonly (Exclude<Value, Part> | Json)[]
  /** `plan`: planned once per connection and text; `once`: planned for this call; `simple`: text without values. */
  readonly mode: 'plan' | 'once' | 'simple'
}

/** PostgreSQL counts parameters in 16 bits. */
const parameterLimit = 65_000

/**
 * Longer lists are planned for each call: their text has as many forms as they have lengths.
 * A new workspace writes eleven events at once, and planning for a call costs a round trip.
 */
const steadyRows = 16

/** Only the pool begins and ends transactions; a rule that did so would leave its transaction. */
const transactionControl =
  /(?:^|;)\s*(?:begin|start|commit|end|rollback|abort|savepoint|release|prepare\s+transaction|set|reset|discard|listen|unlisten)\b/i

/** A block of PL/pgSQL is not checked: it may contain `end`. */
const functionBody = /\$(\w*)\$[\s\S]*?\$\1\$/g

/** Refuses text that would end the transaction or leave settings on the connection. */
function refuseTransactionControl(text: string): void {
  const found = transactionControl.exec(text.replace(functionBody, ''))
  if (found) throw new TypeError(`a statement must not contain "${found[0].trim()}": the pool owns the transaction`)
}

/** The templates that were checked, and the text of those that contain no parts. */
const templates = new WeakMap<readonly string[], string>()

/** Builds the statement of a template. Throws TypeError for a value that cannot be bound. */
export function statementOf(strings: readonly string[], values: readonly (Value | Json)[]): Statement {
  let plain = templates.get(strings)
  if (plain === undefined) {
    refuseTransactionControl(strings[0] ?? '')
    plain = strings.reduce((before, next, index) => `${before}$${index}${next}`)
    templates.set(strings, plain)
  }
  if (!values.some(isPart)) return { text: plain, values: values.map(bindable), mode: 'plan' }
  const flat: (Exclude<Value, Part> | Json)[] = []
  gather(values, flat)
  if (flat.length > parameterLimit) throw new TypeError(`a statement takes at most ${parameterLimit} values`)
  const whole = { strings, values, steady: true }
  const known = textOf(whole, isPart)
  if (known !== undefined) return { text: known, values: flat, mode: 'plan' }
  const { text, steady } = written(strings, values, { count: 0 })
  if (steady) keepText(whole, isPart, text)
  return { text, values: flat, mode: steady ? 'plan' : 'once' }
}

const isPart = (value: unknown): value is Part => value instanceof Part

/** All values, in the order of the text. */
function gather(values: readonly (Value | Json)[], flat: (Exclude<Value, Part> | Json)[]): void {
  for (const value of values)
    if (value instanceof Part) gather(value.values, flat)
    else flat.push(bindable(value))
}

function written(
  strings: readonly string[],
  values: readonly (Value | Json)[],
  parameters: { count: number },
): { text: string; steady: boolean } {
  let text = strings[0] ?? ''
  let steady = true
  for (const [i, value] of values.entries()) {
    if (value instanceof Part) {
      const part = written(value.strings, value.values, parameters)
      text += part.text
      steady &&= value.steady && part.steady
    } else {
      parameters.count += 1
      text += `$${parameters.count}`
    }
    text += strings[i + 1] ?? ''
  }
  return { text, steady }
}

function bindable(value: unknown): Exclude<Value, Part> | Json {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return value
    case 'object':
      if (value === null || value instanceof Json || value instanceof Uint8Array) return value
      if (value instanceof Date && !Number.isNaN(value.getTime())) return value
  }
  throw new TypeError(`a value of a statement cannot be ${described(value)}`)
}

function described(value: unknown): string {
  if (value === undefined) return 'undefined; say null when that is meant'
  if (Array.isArray(value)) return 'an array; use list() or json()'
  if (value instanceof Date) return 'an invalid Date'
  if (value instanceof Promise) return 'a promise; a piece of a statement is made with part()'
  return typeof value === 'object' ? 'an object; use json()' : `a ${typeof value}`
}

const aroundOne = kept(['', ''])

/** A value as one jsonb parameter. Refuses what JSON cannot say (undefined, bigint, cycles). */
export function jsonPart(value: unknown): Part {
  const text = JSON.stringify(value)
  if (text === undefined) throw new TypeError(`json cannot be ${described(value)}`)
  return new Part(aroundOne, [new Json(text)], true)
}

/** `("a","b") values ($1,$2),($3,$4)` for an insert. Columns default to the first object's. */
export function rowsPart(list: object | readonly object[], columns: readonly string[]): Part {
  const rows: readonly object[] = Array.isArray(list) ? list : [list]
  const names = columns.length > 0 ? columns : Object.keys(rows[0] ?? {})
  if (rows.length === 0 || names.length === 0) throw new TypeError('rows() needs at least one row and one column')

  const values: (Value | Json)[] = []
  for (const row of rows)
    for (const name of names) {
      const value: unknown = Reflect.get(row, name)
      values.push(value instanceof Part ? value : bindable(value))
    }
  return new Part(aroundRows(names, rows.length), values, rows.length <= steadyRows)
}

const roundRows = new Map<string, readonly string[]>()

function aroundRows(names: readonly string[], rows: number): readonly string[] {
  const columns = names.map(quoted).join(', ')
  const form = `${rows} ${columns}`
  const known = roundRows.get(form)
  if (known) return known
  const between = Array.from({ length: names.length * rows - 1 }, (_, at) =>
    (at + 1) % names.length === 0 ? '), (' : ', ',
  )
  const strings = [`(${columns}) values (`, ...between, ')']
  if (rows > steadyRows) return strings
  roundRows.set(form, kept(strings))
  return strings
}

/** `($1, $2, …)` for `in`; an empty list becomes `(null)`, which matches nothing. */
export function listPart(list: readonly Value[]): Part {
  if (list.length === 0) return new Part(nothing, [], true)
  return new Part(roundLists[list.length] ?? aroundList(list.length), list, list.length <= steadyRows)
}

const nothing = kept(['(null)'])
const aroundList = (length: number) => ['(', ...Array.from({ length: length - 1 }, () => ', '), ')']
const roundLists = Array.from({ length: steadyRows + 1 }, (_, length) =>
  length === 0 ? nothing : kept(aroundList(length)),
)

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * A statement given as text with `$1 …`, for a library that brings its own SQL (pg-boss).
 * Objects are encoded as JSON; a list of strings or numbers becomes PostgreSQL's array text.
 * Without values the text may hold several statements.
 */
export function textStatement(text: string, values: readonly unknown[]): Statement {
  refuseTransactionControl(text)
  if (text.includes('\0')) throw new TypeError('a statement cannot contain NUL')
  return { text, values: values.map(loose), mode: values.length === 0 ? 'simple' : 'plan' }
}

function loose(value: unknown): Exclude<Value, Part> | Json {
  if (value === undefined) return null // pg-boss omits values that are not set
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Uint8Array) {
    return bindable(value)
  }
  return Array.isArray(value) && value.every(isScalar) ? arrayText(value) : JSON.stringify(value)
}

const isScalar = (value: unknown): boolean =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

function arrayText(list: readonly unknown[]): string {
  const items = list.map((item) => (item === null ? 'NULL' : `"${String(item).replace(/["\\]/g, '\\$&')}"`))
  return `{${items.join(',')}}`
}

const settingOrRole =
  /^set\s+local\s+(?:role\s+[a-z_][a-z0-9_]*|[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?\s*(?:=|to)\s*'[\w:.,+/@ -]*')$/

/** Checked openings: one for each active workspace. */
const openings = new Set<string>()
const rememberedOpenings = 10_000

/**
 * Checks the text that sets role and workspace: only `set local`, only plain values. It is
 * written into the message, since SET takes no parameters, and a syntax error in it would
 * void the `begin` in front of it. Throws TypeError.
 */
export function checkedOpening(text: string): string {
  if (openings.has(text)) return text
  const parts = text.split(';').map((part) => part.trim())
  const meant = parts.filter((part) => part !== '')
  if (!meant.every((part) => settingOrRole.test(part))) {
    throw new TypeError('only "set local role …" and "set local name = \'…\'" may open a transaction')
  }
  // Only patience() may change limits, because the pool must know them, too.
  if (/_timeout\b/.test(text)) throw new TypeError('the limits of a transaction are changed by patience()')
  const opening = meant.join('; ')
  if (openings.size >= rememberedOpenings) openings.clear()
  openings.add(opening)
  return opening
}

/**
 * The statement that sets role and workspace within a transaction. Several settings are one statement, which a
 * connection plans once for all workspaces. Throws TypeError as `checkedOpening` does.
 */
export function switchStatement(opening: string): Statement {
  const text = checkedOpening(opening)
  const settings = text.split('; ')
  if (settings.length === 1) return { text, values: [], mode: 'simple' }
  const values = settings.flatMap((setting) => {
    const [, name = '', value = ''] = nameAndValue.exec(setting) ?? []
    return [name, value]
  })
  const calls = settings.map((_, at) => `set_config($${2 * at + 1}, $${2 * at + 2}, true)`)
  return { text: `select ${calls.join(', ')}`, values, mode: 'plan' }
}

const nameAndValue = /^set\s+local\s+([\w.]+)\s*(?:=|to|)\s*'?(.*?)'?$/

/** True when PostgreSQL said only that an earlier statement had failed. */
export function isAftermath(error: unknown): boolean {
  return codeOf(error) === '25P02'
}
