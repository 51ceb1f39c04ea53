/**
 * Passwords: argon2id, kept as a PHC string so that stronger parameters can come later.
 *
 *    $argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>
 *
 * 19 MiB and two passes cost about 30 ms on one core, on a thread of the runtime's pool.
 */
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Problem } from '../problem.ts'

const argon2id = promisify(argon2)
const cost = { memory: 19_456, passes: 2, parallelism: 1 }
const phc = /^\$argon2id\$v=19\$m=([0-9]+),t=([0-9]+),p=([0-9]+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** Two at a time, as many as the machine is meant to have cores: a flood of sign-ins waits here, not in everybody's way. */
const lanes = { free: 2, waiting: [] as (() => void)[] }
const maxWaiting = 200

async function inLane<T>(work: () => Promise<T>): Promise<T> {
  if (lanes.free > 0) lanes.free -= 1
  else if (lanes.waiting.length >= maxWaiting)
    throw new Problem('service.unavailable', {}, { headers: { 'retry-after': '2' } })
  else await new Promise<void>((go) => lanes.waiting.push(go))
  try {
    return await work()
  } finally {
    const next = lanes.waiting.shift()
    if (next) next()
    else lanes.free += 1
  }
}

const derive = (parameters: Argon2Parameters) => inLane(() => argon2id('argon2id', parameters))

export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16)
  const hash = await derive({ message: password, nonce, tagLength: 32, ...cost })
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(nonce)}$${unpadded(hash)}`
}

/** A hash of no password at all: checked against when there is no account, so that both answers take as long. */
const noPassword = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(randomBytes(16))}$${unpadded(randomBytes(32))}`

/** Whether the password is the one; without a stored hash it costs the same and answers false. */
export async function isPassword(password: string, stored: string | null | undefined): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', expected = ''] = phc.exec(stored ?? noPassword) ?? []
  const hash = Buffer.from(expected, 'base64')
  if (hash.length === 0) return false
  const actual = await derive({
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
