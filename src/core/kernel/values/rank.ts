/**
 * Ranks: texts that order siblings, so that there is always a rank between two of them and
 * a move changes only one row.
 *
 * A rank is a path of whole numbers, written one after the other:
 *
 *    head  digits      a0 … az 0..61, b00 … bzz 62..3905, and so on: the head says how many digits follow
 *                      Zz … Z0 -1..-62, Yzz … Y00 -63..-3906: below zero the heads run backwards
 *    a0 < a0a0 < a0aG < a1 < aG        compared byte by byte (collate "C"); a prefix comes before its continuations
 *
 * A new rank is a stride away from its neighbour at an open end, half-way between two numbers
 * of the same level, and a level deeper if there is no number between them. So a list that
 * only grows at an end, or at one place, has ranks of a few characters: 62^n places take n
 * digits. Only repeated halving of the same gap makes long ranks. A rank longer than
 * `longestRank` is refused, and moving either neighbour makes room again.
 *
 * `rankBehind` gives a place at the end that hardly anybody else gets: several may ask at once.
 *
 * Spec: `before_…_id`, `:reorder`; docs/decisions/0100.
 */
import { randomInt } from 'node:crypto'
import { refuse } from '../../contract/problem.ts'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = digits.length

/** Room left beside a place, so that the next ones in between need no level of their own. */
const stride = 16

/** In characters. An index entry holds 2,700 bytes. */
const longestRank = 1000

/** 62^8 numbers a level are exact in a double; no list is that long. */
const mostDigits = 8

/** The rank between two neighbours; null is the open end. Refuses order.exhausted. */
export function rankBetween(left: string | null, right: string | null): string {
  if (left !== null && right !== null && left >= right)
    throw new RangeError('the neighbours of a new place stand in their order')
  const rank = pathBetween(left === null ? [] : readPath(left), right === null ? undefined : readPath(right))
    .map(written)
    .join('')
  if (rank.length > longestRank) refuse('order.exhausted')
  return rank
}

/** A rank behind the last one, which another call for the same place gets once in 238,328 times. Null: nothing is there. */
export function rankBehind(last: string | null): string {
  const [number] = last === null ? [] : readPath(last)
  return written(behind(number)) + written(randomInt(chances))
}

/** As many as three digits can tell apart. */
const chances = base ** 3

/** The path between two. An empty left path is before everything; a missing right path is after everything. */
function pathBetween(left: readonly number[], right: readonly number[] | undefined): readonly number[] {
  if (right === undefined) return [behind(left[0])]
  const level = right.findIndex((number, at) => number !== left[at])
  const shared = right.slice(0, level)
  const [here, there = 0] = [left[level], right[level]]
  if (here === undefined) return [...shared, there - stride]
  if (there - here > 1) return [...shared, Math.floor((here + there) / 2)]
  // There is no number between them. A continuation of the right one comes after its prefix.
  if (right.length > level + 1) return [...shared, there]
  return [...shared, here, behind(left[level + 1])]
}

const behind = (number: number | undefined) => (number === undefined ? 0 : number + stride)

function readPath(rank: string): number[] {
  const path: number[] = []
  for (let at = 0; at < rank.length; ) {
    const count = digitsBehind(rank.charAt(at))
    const text = rank.slice(at + 1, at + 1 + count)
    if (count > mostDigits || text.length < count) throw new RangeError('a rank is a path of whole numbers')
    const value = [...text].reduce((sum, digit) => sum * base + digits.indexOf(digit), 0)
    path.push(rank.charAt(at) >= 'a' ? value + firstOf(count) : value - firstOf(count + 1))
    at += 1 + count
  }
  return path
}

/** `a` and `Z` stand before one digit, `b` and `Y` before two. */
const digitsBehind = (head: string) =>
  head >= 'a' ? head.charCodeAt(0) - 'a'.charCodeAt(0) + 1 : 'Z'.charCodeAt(0) - head.charCodeAt(0) + 1

/** The least number, counted from zero, that is written with so many digits; by the count of digits. */
const first: readonly number[] = Array.from(
  { length: mostDigits + 2 },
  (_, count) => (base ** Math.max(count, 1) - base) / (base - 1),
)

const firstOf = (count: number) => first[count] ?? Number.POSITIVE_INFINITY

function written(value: number): string {
  const isBelow = value < 0
  const size = isBelow ? -value - 1 : value
  let count = 1
  while (size >= firstOf(count + 1)) count += 1
  const head = String.fromCharCode(isBelow ? 'Z'.charCodeAt(0) - count + 1 : 'a'.charCodeAt(0) + count - 1)
  return head + inDigits(isBelow ? value + firstOf(count + 1) : value - firstOf(count), count)
}

const inDigits = (value: number, count: number): string =>
  count === 0 ? '' : inDigits(Math.floor(value / base), count - 1) + digits.charAt(value % base)
