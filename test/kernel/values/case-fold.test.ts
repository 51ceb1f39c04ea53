/** The one fold that names and addresses are compared by. Spec: decisions 3; threats T-30. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { caseFold } from '../../../src/core/kernel/values/case-fold.ts'

describe('equal under the fold', () => {
  test.each([
    ['case', 'Äpfel', 'äPFEL'],
    ['accents', 'Résumé', 'resume'],
    ['composed and decomposed', 'é', 'e\u0301'],
    ['sharp s', 'Straße', 'STRASSE'],
    ['capital sharp s', 'ẞ', 'ss'],
    ['final sigma', 'ΟΔΟΣ', 'οδοσ'],
    ['both sigmas', 'ς', 'σ'],
    ['dotless i', 'ı', 'I'],
    ['dotted capital I', 'İ', 'i'],
    ['ligature', 'ﬁn', 'FIN'],
    ['full width', 'ＡＢＣ', 'abc'],
    ['ring, letter and sign', 'Å', 'Å'],
    ['iota below', 'ᾳ', 'α'],
  ])('%s', (_, one, other) => expect(caseFold(one)).toBe(caseFold(other)))
})

test.each([
  ['o', '0'],
  ['a', 'а'], // Cyrillic: look-alikes are other letters
  ['ø', 'o'], // a letter of its own, not an accent
  ['a b', 'ab'],
  ['日', '月'],
])('%j and %j stay apart', (one, other) => expect(caseFold(one)).not.toBe(caseFold(other)))

/** Every character there is: not what is assigned to nothing or to private use, and no half of a pair. */
const characters = Array.from({ length: 0x110000 }, (_, point) => String.fromCodePoint(point)).filter(
  (letter) => !/[\p{Cn}\p{Co}\p{Cs}]/u.test(letter),
)
const codeOf = (letter: string) => letter.codePointAt(0)?.toString(16)

test('folding what is folded changes nothing, for every character there is', () => {
  expect(characters.length).toBeGreaterThan(150_000)
  expect(characters.filter((letter) => caseFold(caseFold(letter)) !== caseFold(letter)).map(codeOf)).toEqual([])
})

/** An iota below is dropped like an accent, where the capital form writes it out as a letter. */
const hasIotaBelow = (letter: string) => letter.normalize('NFD').includes('\u0345')

test('case never counts, for every character there is but those with an iota below', () => {
  const unequal = characters.filter(
    (letter) =>
      !hasIotaBelow(letter) &&
      (caseFold(letter.toUpperCase()) !== caseFold(letter) || caseFold(letter.toLowerCase()) !== caseFold(letter)),
  )
  expect(unequal.map(codeOf)).toEqual([])
})

test('any text: stable, and alike in every normalization form', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(caseFold(caseFold(text))).toBe(caseFold(text))
      for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD']) expect(caseFold(text.normalize(form))).toBe(caseFold(text))
    }),
    { numRuns: 2_000 },
  )
})
