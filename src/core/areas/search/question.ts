/**
 * What a question asks for: terms that all have to be there, or must not be.
 *
 *    report "to do" -draft fooBar ver
 *    report            a word, or one of its stem
 *    "to do"           in this order, as it is written
 *    -draft            not there
 *    fooBar            foo followed by bar, or foobar
 *    ver               the last word: also the beginning of one
 *
 * Pure. Spec: Work on boards, 2, N4.
 */
import { cut, type Word } from './cutter.ts'

/** Words with their distance from the one before. */
export interface Sequence {
  readonly words: readonly { readonly word: string; readonly distance: number }[]
  /** Whether the last of them may be the beginning of a word. */
  readonly isPrefix: boolean
}

export interface Term {
  readonly isNegated: boolean
  /** Any of these. */
  readonly any: readonly Sequence[]
  /** Taken by its stem as well; undefined for what is written exactly so. */
  readonly stemmed: string | undefined
}

export interface Question {
  readonly terms: readonly Term[]
  /** How many words were asked for. */
  readonly words: number
}

/** A phrase, which may lack its end, or what stands between blanks. */
const tokens = /(-?)"([^"]*)("?)|([^\s"]+)/gu

export function questionOf(text: string): Question {
  const terms: Term[] = []
  const found = [...text.matchAll(tokens)]
  let words = 0
  for (const [n, token] of found.entries()) {
    const [, minus, quoted, end, plain = ''] = token
    const isNegated = quoted === undefined ? plain.length > 1 && plain.startsWith('-') : minus === '-'
    const isLast = n === found.length - 1 && !isNegated
    const cutWords = cut(quoted ?? plain)
    words += new Set(cutWords.map(({ run }) => run)).size
    if (quoted === undefined) terms.push(...termsOf(cutWords, { isNegated, isLast }))
    else if (cutWords.length > 0)
      terms.push({ isNegated, any: [sequenceOf(cutWords, isLast && end === '')], stemmed: undefined })
  }
  return { terms, words }
}

/** Whether anything has to be there; else nothing is found. */
export const asksForWords = ({ terms }: Question): boolean => terms.some(({ isNegated }) => !isNegated)

/** A term for each run. */
function termsOf(words: readonly Word[], { isNegated, isLast }: { isNegated: boolean; isLast: boolean }): Term[] {
  const byRun = [...Map.groupBy(words, ({ run }) => run).values()]
  return byRun.map((run, n) => {
    const isPrefix = isLast && n === byRun.length - 1
    const whole = run.find((one) => one.as === 'whole')
    const pieces = run.filter((one) => one.as !== 'whole')
    const sequences = [sequenceOf(pieces, isPrefix)]
    if (whole) sequences.push({ words: [{ word: whole.word, distance: 1 }], isPrefix })
    const [only] = pieces
    const stemmed = pieces.length === 1 && only?.as === 'piece' ? only.word : undefined
    return { isNegated, any: sequences, stemmed }
  })
}

/** A single character of a script without blanks is the beginning of a pair; behind a pair it says nothing more. */
function sequenceOf(found: readonly Word[], isPrefix: boolean): Sequence {
  const words = found.filter(({ as }) => as !== 'whole')
  const asked = words.filter((one, n) => !(one.as === 'tail' && words[n - 1]?.as === 'pair'))
  const last = asked.at(-1)
  return {
    words: asked.map(({ word, at }, n) => ({ word, distance: n === 0 ? 1 : at - (asked[n - 1]?.at ?? 0) })),
    isPrefix: isPrefix || last?.as === 'tail',
  }
}
