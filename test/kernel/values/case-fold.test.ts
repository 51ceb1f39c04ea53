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

test('folding what is folded changes nothing, for every character there is', () => {
  const unstable: string[] = []
  for (let point = 0; point <= 0x10ffff; point += 1) {
    if (point >= 0xd800 && point <= 0xdfff) continue
    const once = caseFold(String.fromCodePoint(point))
    if (caseFold(once) !== once) unstable.push(point.toString(16))
  }
  expect(unstable).toEqual([])
})

/** An iota below is dropped like an accent, where the capital form writes it out as a letter. */
const hasIotaBelow = (letter: string) => letter.normalize('NFD').includes('\u0345')

test('case never counts, for every character there is but those with an iota below', () => {
  const unequal: string[] = []
  for (let point = 0; point <= 0x10ffff; point += 1) {
    if (point >= 0xd800 && point <= 0xdfff) continue
    const letter = String.fromCodePoint(point)
    if (hasIotaBelow(letter)) continue
    if (caseFold(letter.toUpperCase()) !== caseFold(letter) || caseFold(letter.toLowerCase()) !== caseFold(letter))
      unequal.push(point.toString(16))
  }
  expect(unequal).toEqual([])
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
