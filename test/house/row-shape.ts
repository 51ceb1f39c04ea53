/** What a row's type says of its members, in the words that a database's columns can be compared with. */
import type { Symbol as TsSymbol, Type } from 'typescript/unstable/sync'
import { type Checker, SymbolFlags, TypeFlags } from 'typescript/unstable/sync'
import type { DeclaredType } from './written-statements.ts'

export type Kind = 'string' | 'number' | 'bigint' | 'boolean' | 'null' | 'undefined' | 'bytes' | 'object' | 'unknown'

export interface Member {
  readonly kinds: ReadonlySet<Kind>
  /** Where the type names its strings one by one. */
  readonly words: ReadonlySet<string> | undefined
  /** `name?:`: the column may be missing. */
  readonly isOptional: boolean
}

/** Members by name. */
export type RowShape = ReadonlyMap<string, Member>

/** Whether a value of the type is a piece of a statement, or may be one. */
export const isPart = (type: Type): boolean => constituents(type).some((one) => one.getSymbol()?.name === 'Part')

/** The type that the driver declares for a value (postgres.js, by what the value is). */
export function declaredType(type: Type): DeclaredType | undefined {
  const kinds = constituents(type).map(kindOf)
  if (kinds.includes('boolean')) return 'bool'
  if (kinds.includes('bytes')) return 'bytea'
  return constituents(type).some((one) => one.getSymbol()?.name === 'Date') ? 'timestamptz' : undefined
}

/** The row of what a statement answers: a promise of rows, or batches of them. Undefined where the row has no members. */
export function rowShapeOf(checker: Checker, answer: Type): RowShape | undefined {
  const rows = answer.isTypeReference() ? checker.getTypeArguments(answer)[0] : undefined
  const list = rows?.isIntersectionType() ? rows.getTypes()?.find((one) => one.isTypeReference()) : rows
  const row = list?.isTypeReference() ? checker.getTypeArguments(list)[0] : undefined
  if (row === undefined) return undefined
  const shape = new Map<string, Member>()
  for (const one of constituents(row)) {
    const symbols = checker.getPropertiesOfType(one)
    const types = checker.getTypeOfSymbol(symbols)
    for (const [index, symbol] of symbols.entries()) {
      const member = memberOf(symbol, types[index])
      const known = shape.get(symbol.name)
      shape.set(symbol.name, known ? either(known, member) : member)
    }
  }
  return shape.size === 0 ? undefined : shape
}

function memberOf(symbol: TsSymbol, type: Type | undefined): Member {
  const types = type ? constituents(type) : []
  const words = types.flatMap((one) => (one.isStringLiteralType() ? [one.value] : []))
  return {
    kinds: new Set(types.map(kindOf)),
    words: words.length > 0 && !types.some(({ flags }) => flags & TypeFlags.String) ? new Set(words) : undefined,
    isOptional: (symbol.flags & SymbolFlags.Optional) !== 0,
  }
}

const either = (one: Member, other: Member): Member => ({
  kinds: new Set([...one.kinds, ...other.kinds]),
  words: one.words && other.words && new Set([...one.words, ...other.words]),
  isOptional: one.isOptional && other.isOptional,
})

const constituents = (type: Type): readonly Type[] => (type.isUnionType() ? (type.getTypes() ?? []) : [type])

const flagged: readonly (readonly [TypeFlags, Kind])[] = [
  [TypeFlags.StringLike, 'string'],
  [TypeFlags.NumberLike, 'number'],
  [TypeFlags.BigIntLike, 'bigint'],
  [TypeFlags.BooleanLike, 'boolean'],
  [TypeFlags.Null, 'null'],
  [TypeFlags.Undefined, 'undefined'],
]

function kindOf(type: Type): Kind {
  for (const [flag, kind] of flagged) if (type.flags & flag) return kind
  // A branded primitive.
  if (type.isIntersectionType())
    return (type.getTypes() ?? []).map(kindOf).find((kind) => kind !== 'object') ?? 'object'
  if (type.flags & (TypeFlags.Object | TypeFlags.NonPrimitive))
    return ['Buffer', 'Uint8Array'].includes(type.getSymbol()?.name ?? '') ? 'bytes' : 'object'
  return 'unknown'
}
