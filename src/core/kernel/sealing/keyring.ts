/**
 * The keyring: the master keys that wrap the data keys of sealed values.
 *
 *    {"current":"k2026b","keys":{"k2026a":"<32 bytes, base64url>","k2026b":"…"}}
 *
 * The keyring is a file of mode 0600 outside the database. New values are sealed under
 * `current`; the other keys decrypt older values. Purposes never share a key: each derives
 * its own with HKDF. A retired key is removed from the file. Keys derived from it stay under
 * `retired`: they verify evidence that is never written again, and cannot decrypt sealed
 * values.
 *
 *    "retired":{"k2025":{"svc/ledger/v1":"<32 bytes, base64url>", …}}
 *
 * Elsewhere: changing the file (keyring-file.ts), comparing a keyring with the database
 * (keyring-check.ts). Spec: decisions 4, Keyring; 6, SVC_KEYRING_FILE.
 */
import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { ConfigurationError } from '../values/configuration-error.ts'
import { readJson } from '../values/json.ts'
import { dateNow } from '../values/time.ts'
import { writeWhole } from '../values/write-whole.ts'

export const keyId = /^[a-z0-9-]{1,32}$/

export interface Keyring {
  readonly path: string
  readonly current: string
  /** The key ids, oldest first as the file lists them. */
  readonly ids: readonly string[]
  has(id: string): boolean
  /** Whether `derive` has a key for this purpose: from a key of the keyring, or kept of a retired one. */
  serves(id: string, purpose: string): boolean
  /**
   * A key of 32 bytes for one purpose, e.g. `svc/wrap/v1`. It is an object, which no log prints and which the cipher
   * can use directly. Throws on an id the keyring lacks.
   */
  derive(id: string, purpose: string): KeyObject
  /** Eight bytes that show whether two keyrings have the same key under one id, without revealing the key. */
  checkValue(id: string): Buffer
}

/** A keyring that can be replaced while it is in use, when the file is read again. */
export interface LiveKeyring extends Keyring {
  adopt(next: Keyring): void
}

/** Sealing reads the current key and derives from it in one turn, so a switch never falls between the two. */
export function liveKeyring(first: Keyring): LiveKeyring {
  let keyring = first
  return {
    get path() {
      return keyring.path
    },
    get current() {
      return keyring.current
    },
    get ids() {
      return keyring.ids
    },
    has: (id) => keyring.has(id),
    serves: (id, purpose) => keyring.serves(id, purpose),
    derive: (id, purpose) => keyring.derive(id, purpose),
    checkValue: (id) => keyring.checkValue(id),
    adopt(next) {
      keyring = next
    },
  }
}

/** Reads a keyring. Every fault is one clear line: a file others can read, a key of another length, a missing current. */
export function readKeyring(path: string): Keyring {
  if (!existsSync(path))
    throw new ConfigurationError(
      `The keyring file ${path} does not exist. Restore it from its backup, or make a new one with \`svc keyring init\` if this installation is new.`,
    )
  const { mode } = statSync(path)
  if ((mode & 0o077) !== 0)
    throw new ConfigurationError(
      `The keyring file ${path} can be read by others (mode ${(mode & 0o777).toString(8)}). Run: chmod 600 ${path}`,
    )
  return keyringOf(contentOf(path), path)
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigurationError(`The keyring file ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/**
 * Writes a new keyring with one key, mode 0600, and returns it. Never replaces a file: a lost key loses every sealed
 * value.
 */
export async function createKeyring(path: string): Promise<Keyring> {
  const id = `k${dateNow().toISOString().slice(0, 10).replaceAll('-', '')}`
  const first: KeyringContent = { current: id, keys: { [id]: randomBytes(32).toString('base64url') } }
  await writeWhole(path, textOf(first), { replaces: false }).catch((error: NodeJS.ErrnoException) => {
    // If two processes start at once, both use the first file.
    if (error.code !== 'EEXIST') throw error
  })
  return readKeyring(path)
}

/** What the file holds, checked. */
export interface KeyringContent {
  readonly current: string
  readonly keys: Readonly<Record<string, string>>
  /** Derived keys of retired ones, by id and purpose. */
  readonly retired?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** The content as the file holds it. */
export const textOf = (content: KeyringContent) => `${JSON.stringify(content, null, 2)}\n`

type Fault = (what: string) => Error

/** The keyring in a file's text. Throws ConfigurationError, one clear line. */
export function keyringOf(content: string, path: string): Keyring {
  const fault: Fault = (what) =>
    new ConfigurationError(
      `The keyring file ${path} ${what}. Restore it from its backup; docs/runbooks/keyring.md says how.`,
    )
  const { current, keys, retired } = parse(content, fault)
  const secrets = secretsOf(keys, fault)
  const evidence = evidenceOf(retired, secrets, fault)
  if (!secrets.has(current)) throw fault(`names "${current}" as current but holds no such key`)

  const secretOf = (id: string) => {
    const secret = secrets.get(id)
    if (!secret) throw new Error(`the keyring holds no key "${id}"`)
    return secret
  }
  const derived = new Map<string, KeyObject>(evidence)
  return {
    path,
    current,
    ids: [...secrets.keys()],
    has: (id) => secrets.has(id),
    serves: (id, purpose) => secrets.has(id) || evidence.has(`${id} ${purpose}`),
    derive: (id, purpose) => {
      const name = `${id} ${purpose}`
      const known = derived.get(name) ?? createSecretKey(Buffer.from(hkdfSync('sha256', secretOf(id), '', purpose, 32)))
      derived.set(name, known)
      return known
    },
    checkValue: (id) => createHmac('sha256', secretOf(id)).update('svc-kcv-v1').digest().subarray(0, 8),
  }
}

function secretsOf(keys: Record<string, unknown>, fault: Fault): ReadonlyMap<string, Buffer> {
  const secrets = new Map<string, Buffer>()
  for (const [id, encoded] of Object.entries(keys)) {
    if (!keyId.test(id)) throw fault(`has a key id that is not ${keyId.source}`)
    const bytes = bytesOf(encoded)
    if (!bytes) throw fault(`has a key "${id}" that is not 32 bytes in base64url`)
    if ([...secrets.values()].some((other) => other.equals(bytes)))
      throw fault(`has the same key twice, the second time as "${id}"`)
    secrets.set(id, bytes)
  }
  return secrets
}

/** By id and purpose. A key that is in the keyring as well would have two meanings. */
function evidenceOf(
  retired: Record<string, unknown>,
  secrets: ReadonlyMap<string, Buffer>,
  fault: Fault,
): ReadonlyMap<string, KeyObject> {
  const evidence = new Map<string, KeyObject>()
  for (const [id, purposes] of Object.entries(retired)) {
    if (!keyId.test(id) || typeof purposes !== 'object' || purposes === null)
      throw fault('has a retired key that is not whole')
    if (secrets.has(id)) throw fault(`has the key "${id}" twice, once as retired`)
    for (const [purpose, encoded] of Object.entries(purposes)) {
      const bytes = bytesOf(encoded)
      if (!bytes) throw fault(`has a retired key "${id}" that is not whole`)
      evidence.set(`${id} ${purpose}`, createSecretKey(bytes))
    }
  }
  return evidence
}

function bytesOf(encoded: unknown): Buffer | undefined {
  const isWhole = typeof encoded === 'string' && /^[A-Za-z0-9_-]{43}$/.test(encoded)
  return isWhole ? Buffer.from(encoded, 'base64url') : undefined
}

function parse(content: string, fault: Fault) {
  let keyring: unknown
  try {
    keyring = JSON.parse(content)
  } catch {
    throw fault('is not whole JSON')
  }
  try {
    readJson(content)
  } catch {
    // Of two members with the same name JSON.parse keeps the last, so a key would be lost silently.
    throw fault('names a member twice')
  }
  const { current, keys, retired = {} } = (keyring ?? {}) as { current?: unknown; keys?: unknown; retired?: unknown }
  const areObjects = [keys, retired].every((member) => typeof member === 'object' && member !== null)
  if (typeof current !== 'string' || !areObjects) throw fault('lacks "current" or "keys"')
  return { current, keys: keys as Record<string, unknown>, retired: retired as Record<string, unknown> }
}
