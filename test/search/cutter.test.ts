/** The cutter of words and the question, by themselves and against PostgreSQL. Spec: Work on boards, 2, N4. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cut } from '../../src/core/areas/search/cutter.ts'
import { cutText, matchesOf } from '../../src/core/areas/search/excerpt.ts'
import { asksForWords, type Question, questionOf } from '../../src/core/areas/search/question.ts'
import { placed, tsqueryOf, vectorOf } from '../../src/core/areas/search/vector.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { naughtyStrings } from '../kit/naughty-strings.ts'

const shown = (text: string) => cut(text).map(({ word, at }) => `${word}@${at}`)

test.each([
  ['Größe CAFÉ ﬁne', ['große@0', 'cafe@1', 'fine@2']],
  ['fooBar', ['foobar@0', 'foo@0', 'bar@1']],
  ['HTTPServer', ['httpserver@0', 'http@0', 'server@1']],
  ['iPhone15Pro', ['iphone15pro@0', 'i@0', 'phone@1', '15@2', 'pro@3']],
  ['v2.10-rc', ['v2@0', 'v@0', '2@1', '10@2', 'rc@3']],
  ['東京都', ['東京@0', '京都@1', '都@2']],
  ['東京2020年', ['東京@0', '京@1', '2020@2', '年@3']],
  ['e\u0301te\u0301', ['ete@0']],
  ['½ ① ™ 🦊 —', ['12@0', '1@1']],
  ['don’t', ['don@0', 't@1']],
  ['ΟΔΥΣΣΕΎΣ', ['οδυσσευσ@0']],
  ['', []],
] as const)('%j is cut to %j', (text, expected) =>
  expect(shown(text).map((one) => one.replace('große', 'grosse'))).toEqual(
    expected.map((one) => one.replace('große', 'grosse')),
  ),
)

/** A generator that answers the same for a seed. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
const alphabet = [
  'a',
  'B',
  'é',
  'ß',
  '1',
  '٣',
  ' ',
  '-',
  '"',
  "'",
  '東',
  '京',
  'か',
  'ー',
  'ก',
  'ุ',
  '🦊',
  '\u0301',
  'Σ',
  'İ',
  '\\',
  ':',
  '*',
  '&',
]
const anyText = (next: () => number, length: number) =>
  Array.from({ length: Math.floor(next() * length) }, () => alphabet[Math.floor(next() * alphabet.length)]).join('')

describe('of any text', () => {
  test('words have letters and digits alone, lie in the text in their order, and are those of each of them alone', () => {
    const next = random(7)
    for (const text of [...naughtyStrings, ...Array.from({ length: 5_000 }, () => anyText(next, 30))]) {
      const words = cut(text)
      let place = 0
      for (const { word, from, behind, at } of words) {
        expect(word, text).toMatch(/^[\p{L}\p{N}]{1,64}$/u)
        expect(from >= 0 && from < behind && behind <= text.length, text).toBe(true)
        expect(at >= place, text).toBe(true)
        place = at
      }
      for (const one of words.filter(({ as }) => as === 'piece'))
        expect(
          cut(text.slice(one.from, one.behind)).map(({ word }) => word),
          text,
        ).toContain(one.word)
    }
  })

  test('a question has no more than what stands in it', () => {
    const next = random(11)
    for (let n = 0; n < 5_000; n += 1) {
      const question = questionOf(anyText(next, 60))
      for (const term of question.terms) {
        expect(term.any.length).toBeGreaterThan(0)
        for (const { words } of term.any) expect(words.every(({ distance }) => distance >= 1)).toBe(true)
      }
    }
  })
})

describe('PostgreSQL', () => {
  let db: TestDatabase
  beforeAll(async () => {
    db = await testDatabase()
  })
  afterAll(() => db.drop())

  const none = new Map<string, string>()
  const matches = async (pairs: readonly (readonly [text: string, question: Question])[]) => {
    const asked = pairs.map(([text, question]) => ({
      v: vectorOf('1', placed([{ weight: 'A', text }]), none),
      q: tsqueryOf('1', question, none),
    }))
    const rows = await db.sql<{ found: boolean }[]>`
      select (x ->> 'v')::tsvector @@ (x ->> 'q')::tsquery as found
      from jsonb_array_elements(${db.sql.json(asked)}) with ordinality e (x, n) order by n`
    return rows.map(({ found }) => found)
  }

  test('has room for the longest document, of which every pair is another one', async () => {
    const text = Array.from({ length: 50_000 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7_919) % 20_000))).join(
      '',
    )
    const vector = vectorOf('99999999', placed([{ weight: 'A', text }]), none)
    const [row] = await db.sql<{ words: number }[]>`select length(${vector}::tsvector) as words`
    expect(row!.words).toBeGreaterThan(19_000)
    const different = Array.from({ length: 200 }, (_, a) =>
      Array.from({ length: 200 }, (_, b) => String.fromCodePoint(0x4e00 + a, 0x5e00 + b)).join(''),
    ).join('')
    const [most] = await db.sql<{ words: number }[]>`
      select length(${vectorOf('99999999', placed([{ weight: 'A', text: different }]), none)}::tsvector) as words`
    expect(most!.words).toBeGreaterThan(35_000)
  })

  test('finds a text by each piece of it in quotes, and what it finds by words that must be there is marked', async () => {
    const next = random(23)
    const texts = Array.from({ length: 2_000 }, () => anyText(next, 40).replaceAll('"', ' ')).filter(
      (text) => cut(text).length > 0,
    )
    const pairs = texts.map((text) => {
      const words = cut(text)
      const [a, b] = [words[Math.floor(next() * words.length)]!, words[Math.floor(next() * words.length)]!]
      const piece = text.slice(Math.min(a.from, b.from), Math.max(a.behind, b.behind))
      return [text, questionOf(`"${piece}"`)] as const
    })
    const found = await matches(pairs)
    const wrong = pairs.filter(([text, question], n) => {
      if (!asksForWords(question)) return false
      return !found[n] || matchesOf([cutText({ member: 'title', weight: 'A', text })], question, none).length === 0
    })
    // A piece that begins or ends within a run may be cut otherwise: ß1 of aß1 is another word. Whole runs are never.
    const ofRuns = wrong.filter(([text, question]) => {
      const runs = [...text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu)].map(([run]) => run)
      return runs.length === 1 && question.terms.length === 0
    })
    expect(ofRuns).toEqual([])
    expect(wrong.map(([text, question]) => [text, JSON.stringify(question)])).toEqual([])
  })

  test('and the marks agree on any question of one text', async () => {
    const next = random(31)
    const pairs = Array.from(
      { length: 4_000 },
      () => [anyText(next, 12), questionOf(anyText(next, 5))] as const,
    ).filter(([, question]) => asksForWords(question) && question.terms.every(({ isNegated }) => !isNegated))
    expect(pairs.length).toBeGreaterThan(500)
    const found = await matches(pairs)
    expect(found.filter(Boolean).length).toBeGreaterThan(50)
    const marked = pairs.map(([text, question]) =>
      question.terms.every(
        (term) =>
          matchesOf([cutText({ member: 'title', weight: 'A', text })], { terms: [term], words: 1 }, none).length > 0,
      ),
    )
    const differing = pairs.filter((_, n) => found[n] !== marked[n])
    expect(differing.map(([text, question]) => [text, JSON.stringify(question)])).toEqual([])
  })
})
