/**
 * What PostgreSQL keeps and compares: the words of a document as a tsvector, a question as a tsquery.
 *
 *    '12=printed':3A '12~print':3A       generation 12, the third word, of a title; and its stem
 *
 * Each word begins with the number of its generation, which is one workspace's. So the index has lists of its own for each
 * workspace: what others have written costs nobody time. A stem that is the word itself is not written twice.
 *
 * Words have letters and digits alone (cutter.ts), so nothing in the text has to be escaped. Pure.
 * Spec: Work on boards, 2, N4; docs/decisions/0230.
 */
import { cut } from './cutter.ts'
import type { Question, Sequence, Term } from './question.ts'

/** Title; labels and values; description; comments. */
export type Weight = 'A' | 'B' | 'C' | 'D'

export interface WeightedText {
  readonly weight: Weight
  readonly text: string
}

/** The stem of a word in the language of a generation; undefined where it has none. */
export type Stems = ReadonlyMap<string, string>

/** Between the texts of a document, so that no phrase goes across. */
const gap = 8
/** What PostgreSQL counts places to, and how many it keeps of a word. */
const lastPlace = 16_383
const placesEach = 255
/** Characters of one document that are found. A tsvector has 1 MiB: room for as many pairs, each another one. */
const longestDocument = 40_000

interface Placed {
  readonly word: string
  readonly place: number
  readonly weight: Weight
}

/** The words of a document's texts, with their places. */
export function placed(texts: readonly WeightedText[]): readonly Placed[] {
  const found: Placed[] = []
  let start = 1
  let left = longestDocument
  for (const { text, weight } of texts) {
    let last = start
    for (const { word, at } of cut(text.slice(0, left))) {
      last = Math.min(start + at, lastPlace)
      found.push({ word, place: last, weight })
    }
    start = last + gap
    left = Math.max(0, left - text.length)
  }
  return found
}

export function vectorOf(generation: string, words: readonly Placed[], stems: Stems): string {
  const places = new Map<string, Set<string>>()
  const add = (lexeme: string, { place, weight }: Placed) => {
    const known = places.get(lexeme)
    if (known === undefined) places.set(lexeme, new Set([`${place}${weight}`]))
    else if (known.size < placesEach) known.add(`${place}${weight}`)
  }
  for (const one of words) {
    add(`${generation}=${one.word}`, one)
    const stem = stems.get(one.word)
    if (stem !== undefined && stem !== one.word) add(`${generation}~${stem}`, one)
  }
  return [...places].map(([lexeme, at]) => `'${lexeme}':${[...at].join(',')}`).join(' ')
}

/** The question for one generation. It asks for at least one word. */
export function tsqueryOf(generation: string, { terms }: Question, stems: Stems): string {
  return terms.map((term) => termQuery(generation, term, stems)).join(' & ')
}

function termQuery(generation: string, { any, stemmed, isNegated }: Term, stems: Stems): string {
  const stem = stemmed === undefined ? undefined : stems.get(stemmed)
  const ofStem = stem === undefined ? [] : [`'${generation}~${stem}'`, `'${generation}=${stem}'`]
  const alternatives = [...any.map((sequence) => sequenceQuery(generation, sequence)), ...ofStem]
  return `${isNegated ? '!' : ''}(${alternatives.join(' | ')})`
}

function sequenceQuery(generation: string, { words, isPrefix }: Sequence): string {
  return words
    .map(({ word, distance }, n) => {
      const follows = n === 0 ? '' : distance === 1 ? ' <-> ' : ` <${distance}> `
      return `${follows}'${generation}=${word}'${isPrefix && n === words.length - 1 ? ':*' : ''}`
    })
    .join('')
}
