/**
 * Where a question's words are in a text, and the piece of the text that is shown of it.
 *
 * Plain text: nothing is marked in it, and nothing taken out of it. Ranges are counted in code points of the excerpt.
 * Pure. Spec: Work on boards, 2, N4.
 */
import type { SearchMatch } from '../../contract/search/operations.ts'
import { cut, type Word } from './cutter.ts'
import type { Text } from './kind.ts'
import type { Question, Sequence } from './question.ts'
import type { Stems } from './vector.ts'

/** Members that a result shows, and the size of an excerpt in UTF-16 units. */
const mostMatches = 8
const excerptLength = 240
const before = 60
const mostRanges = 20

interface Range {
  readonly from: number
  readonly behind: number
}

/** A text with its words. */
export interface CutText extends Text {
  readonly words: readonly Word[]
}

/** Behind so many characters of a text nothing is marked. */
const longestMarked = 20_000

export const cutText = (text: Text): CutText => ({ ...text, words: cut(text.text.slice(0, longestMarked)) })

/** The members in which words of the question are. `stems`: of the question's words, and of the texts' that may have them. */
export function matchesOf(texts: readonly CutText[], question: Question, stems: Stems): SearchMatch[] {
  const matches: SearchMatch[] = []
  for (const { member, text, words } of texts) {
    const found = rangesIn(words, question, stems)
    if (found.length > 0) matches.push({ member, ...excerptOf(text, found) })
    if (matches.length === mostMatches) break
  }
  return matches
}

/** Words of the texts that may have one of the question's stems: they begin like it. */
export function likeStems(texts: readonly CutText[], question: Question, stems: Stems): string[] {
  const beginnings = stemsAsked(question, stems).map((stem) => stem.slice(0, 3))
  if (beginnings.length === 0) return []
  const words = new Set(texts.flatMap((one) => one.words.map(({ word }) => word)))
  return [...words].filter((word) => beginnings.some((beginning) => word.startsWith(beginning)))
}

const stemsAsked = ({ terms }: Question, stems: Stems): string[] =>
  terms.flatMap(({ isNegated, stemmed }) => (isNegated || stemmed === undefined ? [] : (stems.get(stemmed) ?? [])))

function rangesIn(words: readonly Word[], question: Question, stems: Stems): Range[] {
  const byPlace = Map.groupBy(words, ({ at }) => at)
  const asked = new Set(stemsAsked(question, stems))
  const ranges: Range[] = []
  for (const word of words) {
    const stem = stems.get(word.word)
    if (asked.has(word.word) || (stem !== undefined && asked.has(stem))) ranges.push(word)
    for (const { isNegated, any } of question.terms)
      if (!isNegated) for (const sequence of any) ranges.push(...(follow(byPlace, word, sequence) ?? []))
  }
  return merged(ranges)
}

/** The words of a sequence that begins with this one; undefined where it does not. */
function follow(byPlace: ReadonlyMap<number, readonly Word[]>, first: Word, { words, isPrefix }: Sequence) {
  const found: Word[] = []
  let at = first.at
  for (const [n, { word, distance }] of words.entries()) {
    if (n > 0) at += distance
    const isOpen = isPrefix && n === words.length - 1
    const candidates = n === 0 ? [first] : (byPlace.get(at) ?? [])
    const next = candidates.find((one) => (isOpen ? one.word.startsWith(word) : one.word === word))
    if (!next) return undefined
    found.push(next)
  }
  return found
}

function merged(ranges: readonly Range[]): Range[] {
  const joined: Range[] = []
  for (const range of ranges.toSorted((a, b) => a.from - b.from || a.behind - b.behind)) {
    const last = joined.at(-1)
    if (last && range.from < last.behind)
      joined.splice(-1, 1, { from: last.from, behind: Math.max(last.behind, range.behind) })
    else joined.push({ from: range.from, behind: range.behind })
  }
  return joined
}

function excerptOf(text: string, found: readonly Range[]): Pick<SearchMatch, 'excerpt' | 'ranges'> {
  const first = found[0]?.from ?? 0
  const start = text.length <= excerptLength || first <= before ? 0 : edge(text, first - before, first)
  const end = start + excerptLength >= text.length ? text.length : wholeBefore(text, start + excerptLength)
  const excerpt = text.slice(start, end)
  const ranges = found
    .filter(({ from, behind }) => from >= start && behind <= end)
    .slice(0, mostRanges)
    .map(({ from, behind }) => [points(text, start, from), points(text, start, behind)])
  return { excerpt, ranges }
}

/** Behind the next blank, or at the place itself; never within a pair of surrogates. */
function edge(text: string, from: number, until: number): number {
  const blank = text.slice(from, until).search(/\s/u)
  return blank === -1 ? wholeBefore(text, from) : from + blank + 1
}

const wholeBefore = (text: string, at: number): number => (/[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at)

/** Code points from one place to another. */
function points(text: string, from: number, until: number): number {
  let count = 0
  for (const _ of text.slice(from, until)) count += 1
  return count
}
