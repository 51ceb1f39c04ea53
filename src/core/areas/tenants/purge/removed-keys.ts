/**
 * What a purge removed from one place: how many rows, and a hash over their keys.
 *
 *    h(0) = SHA-256(place)      h(n) = SHA-256( h(n-1) | key n )
 *
 * A key is the columns of the primary key after `tenant_id`, joined by a space, in UTF-8; keys
 * come in the order of removal, which is that of the primary key (rows that others of the
 * same table refer to come in a later round).
 *
 * A chain, so that it goes on from batch to batch and does not depend on where a batch
 * ended. Who still has the keys (an archive) can compute it again; from the hash nobody
 * learns them. docs/decisions/0021.
 */
import { createHash } from 'node:crypto'

export interface Removed {
  readonly count: number
  /** The end of the chain, in hex. */
  readonly sha256: string
}

const nothingFrom = (place: string): Removed => ({ count: 0, sha256: createHash('sha256').update(place).digest('hex') })

/** The same with these keys behind it; `before` undefined begins the chain of the place. */
export function extended(place: string, before: Removed | undefined, keys: readonly (readonly string[])[]): Removed {
  const { count, sha256 } = before ?? nothingFrom(place)
  let link = Buffer.from(sha256, 'hex')
  for (const key of keys) link = createHash('sha256').update(link).update(key.join(' ')).digest()
  return { count: count + keys.length, sha256: link.toString('hex') }
}
