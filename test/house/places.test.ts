/**
 * Adding a thing touches as many files as docs/adding-an-operation.md says: one of each kind is added to a copy of the
 * source, the files are counted, and the compiler and the copy's own modules say that nothing is missing.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { additions } from './additions.ts'
import { type Addition, copySource, placesByPage, type SourceCopy } from './places.ts'

const uses = additions.flatMap(({ use }) => use ?? [])
const registers = additions.flatMap(({ register }) => register ?? [])
const paths = (places: readonly { readonly path: string }[]) => places.map(({ path }) => path)

let copy: SourceCopy
/** What each addition touched, by its kind. */
const touched = new Map<string, readonly string[]>()
/** What the compiler says while only the uses are there, with the first place of what has a register, and when everything is. */
let without: readonly string[] = []
let begun: readonly string[] = []
let complete: readonly string[] = []

beforeAll(async () => {
  copy = copySource()
  expect(copy.touched()).toEqual([])
  for (const use of uses) copy.write(use)
  without = await copy.typeErrors(paths(uses))
  const begin = ({ register, places }: Addition) => places.slice(0, register === undefined ? 0 : 1)
  for (const place of additions.flatMap(begin)) copy.write(place)
  begun = await copy.typeErrors(registers)
  for (const addition of additions) {
    const { kind, places } = addition
    const before = new Set(copy.touched())
    for (const place of places.slice(begin(addition).length)) copy.write(place)
    const after = copy.touched().filter((path) => !before.has(path))
    touched.set(kind, [...paths(begin(addition)), ...after].sort())
  }
  complete = await copy.typeErrors([...paths(uses), ...registers, 'src/core/app/jobs.ts'])
}, 240_000)
afterAll(() => copy.remove())

describe.each(additions)('a new $kind', ({ kind, places, use, register, check }) => {
  test('touches as many files as the page says', () => {
    expect(touched.get(kind)).toEqual(paths(places).sort())
    expect(placesByPage().get(kind), 'the table in docs/adding-an-operation.md').toBe(places.length)
  })

  test('is known where it is looked for', () => check(copy))

  if (use)
    test('is missed by the rule that uses it while it is not there', () => {
      expect(without.filter((line) => line.startsWith(use.path))).not.toEqual([])
    })

  if (register !== undefined)
    test('is missed by its register while only its first place is there', () => {
      expect(begun.filter((line) => line.startsWith(register))).not.toEqual([])
    })
})

test('the compiler accepts all of them together', () => expect(complete).toEqual([]))

test('the page names each kind once, and no kind that is not counted', () => {
  const page = [...placesByPage().keys()]
  expect(new Set(page).size).toBe(page.length)
  expect(page).toEqual(expect.arrayContaining(additions.map(({ kind }) => kind)))
})
