/**
 * An event, a quota and an obligation touch as many files as docs/adding-an-operation.md says: one of each is added to a
 * copy of the source, the files are counted, and the compiler and the copy's own modules say that nothing is missing.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { additions } from './additions-events.ts'
import { copySource, placesByPage, type SourceCopy } from './places.ts'

const uses = additions.flatMap(({ use }) => use ?? [])
const paths = (places: readonly { readonly path: string }[]) => places.map(({ path }) => path)
/** Where the quotas and the obligations are listed for whoever needs all of them. */
const registers = ['src/core/areas/tenants/quotas.ts', 'src/core/areas/recovery/obligations/all.ts']

let copy: SourceCopy
/** What each addition touched, by its kind. */
const touched = new Map<string, readonly string[]>()
/** What the compiler says while only the uses are there, with the first place of each, and when everything is. */
let without: readonly string[] = []
let begun: readonly string[] = []
let complete: readonly string[] = []

beforeAll(async () => {
  copy = copySource()
  expect(copy.touched()).toEqual([])
  for (const use of uses) copy.write(use)
  without = await copy.typeErrors([...paths(uses), ...registers])
  for (const { places } of additions) for (const place of places.slice(0, 1)) copy.write(place)
  begun = await copy.typeErrors([...paths(uses), ...registers])
  for (const { kind, places } of additions) {
    for (const place of places.slice(1)) copy.write(place)
    touched.set(
      kind,
      copy.touched().filter((path) => paths(places).includes(path)),
    )
  }
  complete = await copy.typeErrors([...paths(uses), ...registers])
})
afterAll(() => copy.remove())

describe.each(additions)('a new $kind', ({ kind, places, use, check }) => {
  test('touches as many files as the page says', () => {
    expect(touched.get(kind)).toEqual(paths(places).sort())
    expect(placesByPage().get(kind), 'the table in docs/adding-an-operation.md').toBe(places.length)
  })

  test('is known where it is looked for', () => check(copy))

  test('is missed by the rule that uses it while it is not there', () => {
    expect(without.filter((line) => line.startsWith(use!.path))).not.toEqual([])
  })
})

test('nothing else was touched', () => {
  expect(copy.touched()).toEqual([...paths(uses), ...additions.flatMap(({ places }) => paths(places))].sort())
})

test('a quota that nobody counts and an obligation without its object are errors of the registers', () => {
  expect(begun.map((line) => line.slice(0, line.indexOf('('))).filter((path) => registers.includes(path))).toEqual(
    expect.arrayContaining(registers),
  )
})

test('the compiler accepts all of them together', () => expect(complete).toEqual([]))
