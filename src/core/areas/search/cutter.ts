/**
 * Cuts text into words: one cutter for what is found and for what is asked.
 *
 *    "HTTPServer2 größe"   http server 2 · httpserver2 · große     folded, camelCase and digits apart, and as it was written
 *    "日本語"               日本 本語 語                              pairs, for scripts that have no blanks; the last one alone
 *
 * A run of letters, marks and digits is cut into pieces, each with the next place. What a run is as a whole has the place of
 * its first piece. A word has letters and digits alone, and at most 64 characters.
 *
 * Pure. Spec: Work on boards, 2, N4.
 */
import { foldOf } from '../items/filter/keys.ts'

export interface Word {
  readonly word: string
  /** Its place among the words of the text, from 0. */
  readonly at: number
  /** Where it is in the text, in UTF-16 units. */
  readonly from: number
  readonly behind: number
  /** Of which run: counted from 0. */
  readonly run: number
  /** `whole`: a run of several pieces as it was written; `tail`: the last character of a script without blanks. */
  readonly as: 'piece' | 'whole' | 'pair' | 'tail'
}

const runs = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu
/** Scripts that are written without blanks between words. */
const unspaced = /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u
const digit = /^\p{N}/u
const upper = /^\p{Lu}/u
const longestWord = 64
/** Most runs are words of one piece, which need not be looked at letter by letter. */
const plainWord = /^[A-Za-z][a-z]*$|^[0-9]+$/

type Class = 'unspaced' | 'digit' | 'upper' | 'letter'

/** A character with its marks. */
interface Unit {
  readonly from: number
  readonly behind: number
  readonly class: Class
}

interface Segment {
  readonly units: readonly Unit[]
  readonly isUnspaced: boolean
}

/** The words of a text, in the order of their places. */
export function cut(text: string): Word[] {
  const words: Word[] = []
  let at = 0
  let run = 0
  for (const { 0: written, index: from } of text.matchAll(runs)) {
    const found = plainWord.test(written)
      ? [plainPiece(written, { at, from, run })]
      : wordsOfRun(text, written, { at, from, run })
    const last = found.at(-1)
    if (!last) continue
    for (const word of found) words.push(word)
    at = last.at + 1
    run += 1
  }
  return words
}

type Start = Pick<Word, 'at' | 'from' | 'run'>

const plainPiece = (written: string, start: Start): Word => ({
  ...start,
  word: written.slice(0, longestWord).toLowerCase(),
  behind: start.from + written.length,
  as: 'piece',
})

function wordsOfRun(text: string, written: string, { at: first, from, run }: Start): Word[] {
  const words: Word[] = []
  const segments = segmentsOf(unitsOf(written, from))
  let at = first
  for (const segment of segments) {
    const made = segment.isUnspaced ? pairsOf(text, segment, at, run) : pieceOf(text, segment, at, run)
    for (const word of made) words.push(word)
    at = (made.at(-1)?.at ?? at - 1) + 1
  }
  const [head, ...others] = words
  const last = others.at(-1)
  if (!head || !last || segments.some(({ isUnspaced }) => isUnspaced)) return words
  return [{ ...head, word: wordOf(text.slice(head.from, last.behind)), behind: last.behind, as: 'whole' }, ...words]
}

function unitsOf(run: string, start: number): Unit[] {
  const units: Unit[] = []
  let from = start
  for (const character of run) {
    const behind = from + character.length
    const last = units.at(-1)
    if (last && /^\p{M}/u.test(character)) units.splice(-1, 1, { ...last, behind })
    else units.push({ from, behind, class: classOf(character) })
    from = behind
  }
  return units
}

function classOf(character: string): Class {
  if (unspaced.test(character)) return 'unspaced'
  if (digit.test(character)) return 'digit'
  return upper.test(character) ? 'upper' : 'letter'
}

function segmentsOf(units: readonly Unit[]): Segment[] {
  const segments: Unit[][] = []
  for (const [n, unit] of units.entries()) {
    const before = units[n - 1]
    const current = segments.at(-1)
    if (current && before && !isApart(before.class, unit.class, units[n + 1]?.class)) current.push(unit)
    else segments.push([unit])
  }
  return segments.map((found) => ({ units: found, isUnspaced: found[0]?.class === 'unspaced' }))
}

/** Whether a new piece begins with the second of these, which the third follows: fooBar, HTTPServer, bar2. */
function isApart(before: Class, unit: Class, next: Class | undefined): boolean {
  if (unit === 'upper')
    return (
      before === 'letter' || before === 'digit' || before === 'unspaced' || (before === 'upper' && next === 'letter')
    )
  if (unit === 'letter') return before === 'digit' || before === 'unspaced'
  return before !== unit
}

function pieceOf(text: string, { units }: Segment, at: number, run: number): Word[] {
  const from = units[0]?.from ?? 0
  const behind = units.at(-1)?.behind ?? 0
  const word = wordOf(text.slice(from, behind))
  return word === '' ? [] : [{ word, at, from, behind, run, as: 'piece' }]
}

function pairsOf(text: string, { units }: Segment, at: number, run: number): Word[] {
  return units.flatMap((unit, n): Word[] => {
    const next = units[n + 1]
    const behind = (next ?? unit).behind
    const word = wordOf(text.slice(unit.from, behind))
    return word === '' ? [] : [{ word, at: at + n, from: unit.from, behind, run, as: next ? 'pair' : 'tail' }]
  })
}

/** Folded; what a fold makes of signs that are no letters is left out. */
function wordOf(text: string): string {
  const word = foldOf(text).replace(/[^\p{L}\p{N}]+/gu, '')
  return word.length <= longestWord ? word : [...word].slice(0, longestWord).join('')
}
