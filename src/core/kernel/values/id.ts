/**
 * Ids: UUIDv7 in rising order within a process.
 *
 *    48 bits milliseconds | 7 | 12 bits count within the millisecond | 62 random bits
 *
 * The runtime's own randomUUIDv7 uses twelve random bits, so half of all pairs in one
 * millisecond were in the wrong order, and so was the journal, which is read by id. If the
 * clock is set back or the counter is used up, the time continues from the last id.
 *
 * Spec: decisions 1, Values (UUIDv7); RFC 9562, 6.2, method 1.
 */
import { randomUUID } from 'node:crypto'
import { timeNow } from './time.ts'

const largestCount = 0xfff

let milliseconds = 0
let count = 0

/** A new id, greater than every one this process made before. */
export function newId(now = timeNow()): string {
  if (now > milliseconds) {
    milliseconds = now
    count = 0
  } else if (count < largestCount) count += 1
  else {
    milliseconds += 1
    count = 0
  }
  const time = milliseconds.toString(16).padStart(12, '0')
  // A random UUID's last two groups: the variant and 62 random bits.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.toString(16).padStart(3, '0')}-${randomUUID().slice(19)}`
}

/** When an id of ours was made, in milliseconds since 1970. */
export const momentOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
