/**
 * The names by which the driver finds the plan of a statement.
 *
 * It would join types and text to a new text of some kilobytes for each call, and read all of it to find the plan: a tenth of
 * the memory that a read takes. A short name of the same text and types serves as well.
 */
import type postgres from 'postgres'
import { Json, type Statement } from './statement.ts'

/** A query of the driver, as far as this module knows it. */
interface Query {
  [planName]?: string
  [ownName]?: string | false
}

const planName = Symbol('plan name')
const ownName = Symbol('own name')

/** Tells the driver by which name to find the plan of a query. One that is planned for a call has none that is kept. */
export function nameAfterForm(query: object, statement: Statement): void {
  ;(query as Query)[planName] = statement.mode === 'plan' ? nameOf(statement) : 'none'
}

let patched: object | undefined

/**
 * Lets the driver take those names; to be called before a client's first query.
 *
 * The driver writes its own name into `signature` of each query and finds the plan by what it reads there. It also keeps an entry
 * for every failed statement by `origin`, in a map that only grows. Of queries that were not named here both stay as they are.
 * On the prototype, because properties that are defined on each query make a hash table of it.
 */
export function takePlanNames(client: postgres.Sql): void {
  const prototype: object = Object.getPrototypeOf(client.unsafe('')) // a query that nobody awaits is not sent
  if (prototype === patched) return
  patched = prototype
  const { get: origin } = Object.getOwnPropertyDescriptor(prototype, 'origin') ?? {}
  Object.defineProperties(prototype, {
    signature: {
      configurable: true,
      get(this: Query) {
        return this[planName] ?? this[ownName]
      },
      set(this: Query, name: string | false) {
        this[ownName] = name
      },
    },
    origin: {
      configurable: true,
      get(this: Query) {
        return this[planName] === undefined ? origin?.call(this) : ''
      },
    },
  })
}

/** Of a text, by the types of its values. */
const names = new Map<string, Map<number | string, string>>()
let named = 0

function nameOf({ text, values }: Statement): string {
  let ofText = names.get(text)
  if (!ofText) {
    ofText = new Map()
    names.set(text, ofText)
  }
  const types = typesOf(values)
  const known = ofText.get(types)
  if (known !== undefined) return known
  named += 1
  const made = `plan ${named}`
  ofText.set(types, made)
  return made
}

const kinds = 6
/** So many kinds in a row are still one exact number. */
const mostInNumber = 20

/** Different for values of which the driver tells the server different types. */
const typesOf = (values: Statement['values']): number | string =>
  values.length <= mostInNumber
    ? values.reduce<number>((before, value) => before * kinds + kindOf(value), 0)
    : values.map(kindOf).join('')

function kindOf(value: Statement['values'][number]): number {
  if (typeof value === 'boolean') return 1
  if (typeof value === 'bigint') return 2
  if (typeof value !== 'object' || value === null) return 0
  if (value instanceof Json) return 3
  return value instanceof Date ? 4 : 5
}
