/** JSON in which integers are exact in both directions: those beyond 2^53 are bigints. */

/** An integer of 64 bits: a bigint where a number would not be exact. */
export type Int64 = number | bigint

type Reviver = (this: unknown, key: string, value: unknown, context?: { readonly source?: string }) => unknown

const exact: Reviver = (_key, value, context) => {
  const source = context?.source
  const isInexact = typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined
  return isInexact && /^-?\d+$/.test(source) ? BigInt(source) : value
}

export const readJson = (text: string): unknown => JSON.parse(text, exact as (key: string, value: unknown) => unknown)

export const writeJson = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? rawInteger(member) : member))

/** `JSON.rawJSON` is in Node 22 and newer, and in browsers since 2025; its type is not in TypeScript's libraries yet. */
const rawInteger = (value: bigint): unknown =>
  (JSON as typeof JSON & { rawJSON(text: string): unknown }).rawJSON(value.toString())
