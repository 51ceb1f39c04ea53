/** A digest of rows that does not depend on their order: the sum of the SHA-256 of each. */
import { hash } from 'node:crypto'

const lineFeed = 0x0a
const modulus = 1n << 256n

export class RowsDigest {
  count = 0
  private sum = 0n

  /** A line without its line feed. */
  add(line: Uint8Array): void {
    this.count += 1
    this.sum = (this.sum + BigInt(`0x${hash('sha256', line, 'hex')}`)) % modulus
  }

  /** Whole lines, each with its line feed. */
  addLines(lines: Buffer): void {
    let from = 0
    for (let end = lines.indexOf(lineFeed); end >= 0; end = lines.indexOf(lineFeed, from)) {
      this.add(lines.subarray(from, end))
      from = end + 1
    }
  }

  equals(other: RowsDigest): boolean {
    return this.count === other.count && this.sum === other.sum
  }
}
