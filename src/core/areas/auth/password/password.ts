/**
 * Passwords: argon2id, kept as a PHC string so that stronger parameters can come later.
 *
 *    $argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>
 *
 * 19 MiB and two passes cost about 30 ms on one core, on a thread of the runtime's pool. Elsewhere:
 * the order in which calls wait (hashing-lane.ts).
 */
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { type Hasher, laneOf } from './hashing-lane.ts'

const argon2id = promisify(argon2)
const cost = { memory: 19_456, passes: 2, parallelism: 1 }
const phc = /^\$argon2id\$v=19\$m=([0-9]+),t=([0-9]+),p=([0-9]+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

const derive = (hasher: Hasher, parameters: Argon2Parameters) =>
  laneOf(hasher).run(hasher, () => argon2id('argon2id', parameters))

/** Hashes a password for storage. Refuses service.unavailable. */
export async function hashPassword(hasher: Hasher, password: string): Promise<string> {
  const nonce = randomBytes(16)
  const hash = await derive(hasher, { message: password, nonce, tagLength: 32, ...cost })
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(nonce)}$${unpadded(hash)}`
}

/** A hash of no password. It is checked if there is no account, so that both answers take the same time. */
const noPassword = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(randomBytes(16))}$${unpadded(randomBytes(32))}`

/**
 * Whether the password matches the stored hash; without a stored hash it costs the same and answers false. Refuses
 * service.unavailable.
 */
export async function isPassword(
  hasher: Hasher,
  password: string,
  stored: string | null | undefined,
): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', expected = ''] = phc.exec(stored ?? noPassword) ?? []
  const hash = Buffer.from(expected, 'base64')
  if (hash.length === 0) return false
  const actual = await derive(hasher, {
    message: password,
    nonce: Buffer.from(salt, 'base64'),
    tagLength: hash.length,
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  })
  return timingSafeEqual(actual, hash) && stored !== null && stored !== undefined
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
