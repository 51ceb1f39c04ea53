/**
 * The typed keys of an item's title and values: text whose order by code unit is the order of the values.
 *
 *    TEXT, URL, the title   folded; the first 256 characters, and the whole beside it where it is longer
 *    NUMBER                 the 64 bits of the float, in hexadecimal, turned so that they are in order
 *    DATE                   YYYY-MM-DD
 *    SELECT, MULTI_SELECT   the option as it is, a key for each
 *    BOOL                   true or false
 *    USER                   the account's id
 *
 * jsonb has no operator that an index serves under row-level security, and folding is not a matter of the database
 * (kernel/values/case-fold.ts). Spec: Work on boards, 2; docs/decisions/0211.
 */
import type { FieldKind } from '../../../contract/structure/custom-fields.ts'
import { caseFold } from '../../../kernel/values/case-fold.ts'
import type { FieldValue } from '../../structure/custom-fields/value.ts'

export interface TypedKey {
  readonly key: string
  /** The whole folded text, where the key is only its beginning. */
  readonly whole: string | null
}

/** Stands in the place of a field's id: the key is of the item's title. */
export const titleField = '00000000-0000-0000-0000-000000000001'

/** Code points of a key; an index row takes 2,704 bytes. */
const longestKey = 256

/** The fold that texts are compared by. A final sigma is any sigma, so that the beginning of a word folds like the word. */
export const foldOf = (text: string): string => caseFold(text).replaceAll('ς', 'σ')

/** The part of a folded text that a key holds. */
export const beginningOf = (fold: string): string =>
  fold.length <= longestKey ? fold : [...fold].slice(0, longestKey).join('')

export function textKey(text: string): TypedKey {
  const fold = foldOf(text)
  const key = beginningOf(fold)
  return { key, whole: key === fold ? null : fold }
}

/** A float of 64 bits as text in the order of the numbers. Both zeros are one. */
export function numberKey(value: number): string {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value + 0)
  const bits = view.getBigUint64(0)
  const isNegative = bits >> 63n === 1n
  const ordered = isNegative ? ~bits & 0xffff_ffff_ffff_ffffn : bits | (1n << 63n)
  return ordered.toString(16).padStart(16, '0')
}

/** The keys of a value: one, or one for each option of a MULTI_SELECT. */
export function keysOf(kind: FieldKind, value: FieldValue): readonly TypedKey[] {
  if (Array.isArray(value)) return value.map(plain)
  switch (kind) {
    case 'TEXT':
    case 'URL':
      return [textKey(String(value))]
    case 'NUMBER':
      return [plain(numberKey(Number(value)))]
    default:
      return [plain(String(value))]
  }
}

const plain = (key: string): TypedKey => ({ key, whole: null })
