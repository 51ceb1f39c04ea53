/**
 * What a purge removed from one place: the number of rows, and a hash over their keys.
 *
 *    h(0) = SHA-256(place)      h(n) = SHA-256( h(n-1) | key n )
 *
 * A key is the columns of the primary key after `tenant_id`, joined by a space, in UTF-8. Keys
 * are in the order of removal, which is the order of the primary key (rows that other rows of
 * the same table refer to come in a later round).
 *
 * The hash is a chain, so it continues from batch to batch and does not depend on where a batch
 * ended. With the keys (from an archive) it can be computed again; the keys cannot be derived
 * from the hash. docs/decisions/0021.
 */
import { createHash } from 'node:crypto'

export interface Removed {
  readonly count: number
  /** The end of the chain, in hex. */
  readonly sha256: string
}

const nothingFrom = (place: string): Removed => ({ count: 0, sha256: createHash('sha256').update(place).digest('hex') })

/** Appends these keys to the chain; `before` undefined begins the chain of the place. */
export function extended(place: string, before: Removed | undefined, keys: readonly (readonly string[])[]): Removed {
  const { count, sha256 } = before ?? nothingFrom(place)
  let link = Buffer.from(sha256, 'hex')
  for (const key of keys) link = createHash('sha256').update(link).update(key.join(' ')).digest()
  return { count: count + keys.length, sha256: link.toString('hex') }
}
