/**
 * The texts of statements, one string for each form of a statement.
 *
 * A statement is a template with parts in it, which are templates, too. Writing its text for each call took a tenth of the
 * memory that a read takes. So it is written once, and found by the templates: those that are met on the way through the
 * statement, each with the place where it stands.
 *
 *    template ── part 0 ── its part 2 ── part 1 ─▶ text
 *
 * Only templates of the code count, and the lists of this module: others are made for a call. What was decided to be planned for
 * a call is not kept either.
 */

/** A piece of a statement, as far as its text goes. */
export interface Piece {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
  readonly steady: boolean
}

interface Place {
  text: string | undefined
  readonly beyond: Map<number, Place>
}

/** More than all statements of the code have; what is beyond is written for each call. */
const mostPlaces = 20_000
const mostValues = 1_024
const mostDepth = 32

const numbers = new WeakMap<readonly string[], number>()
const beginnings = new Map<number, Place>()
let numbered = 0
let places = 0

/** Strings that are made once and serve many statements. */
export function kept(strings: readonly string[]): readonly string[] {
  numbered += 1
  numbers.set(strings, numbered)
  return strings
}

/** The text of this form, if it has been kept. `isPart`: which values are pieces. */
export const textOf = (piece: Piece, isPart: (value: unknown) => value is Piece): string | undefined =>
  placeOf(piece, isPart, false)?.text

export function keepText(piece: Piece, isPart: (value: unknown) => value is Piece, text: string): void {
  const place = placeOf(piece, isPart, true)
  if (place) place.text = text
}

function placeOf(piece: Piece, isPart: (value: unknown) => value is Piece, makes: boolean): Place | undefined {
  const number = numberOf(piece.strings)
  return number === undefined ? undefined : walk(next(beginnings, number, makes), piece, isPart, 0, makes)
}

function walk(
  from: Place | undefined,
  { values }: Piece,
  isPart: (value: unknown) => value is Piece,
  depth: number,
  makes: boolean,
): Place | undefined {
  let place = from
  for (let at = 0; at < values.length && place !== undefined; at += 1) {
    const value = values[at]
    if (!isPart(value)) continue
    const number = value.steady ? numberOf(value.strings) : undefined
    if (number === undefined || depth >= mostDepth || at >= mostValues) return undefined
    const step = (number * mostDepth + depth) * mostValues + at
    place = walk(next(place.beyond, step, makes), value, isPart, depth + 1, makes)
  }
  return place
}

function next(among: Map<number, Place>, step: number, makes: boolean): Place | undefined {
  const known = among.get(step)
  if (known || !makes || places >= mostPlaces) return known
  places += 1
  const made: Place = { text: undefined, beyond: new Map() }
  among.set(step, made)
  return made
}

/** Undefined for strings that are no template of the code. */
function numberOf(strings: readonly string[]): number | undefined {
  const known = numbers.get(strings)
  if (known !== undefined || !('raw' in strings)) return known
  kept(strings)
  return numbered
}
