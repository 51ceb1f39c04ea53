/**
 * Changes the keyring file: adds a key, makes a key current, retires a key.
 *
 * The content is checked like any keyring and then written whole, so that a reader gets either
 * the old or the new keyring. `<file>.changed` is the lock of a change. This module does not use
 * the database: promotion.ts and retirement.ts decide whether a change is allowed. Spec: decisions 4,
 * Keyring.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { ConfigurationError } from '../values/configuration-error.ts'
import { dateNow } from '../values/time.ts'
import { writeWhole } from '../values/write-whole.ts'
import { type Keyring, type KeyringContent, keyringOf, readKeyring, textOf } from './keyring.ts'

/** Adds a new key, which opens and seals nothing until it is made current. Throws ConfigurationError where the id is taken. */
export async function addKey(
  path: string,
  id = newKeyId(),
): Promise<{ readonly keyring: Keyring; readonly id: string }> {
  const keyring = await change(path, (content) => {
    if (id in content.keys || id in (content.retired ?? {}))
      throw new ConfigurationError(`The keyring file ${path} has a key "${id}" already.`)
    return { ...content, keys: { ...content.keys, [id]: randomBytes(32).toString('base64url') } }
  })
  return { keyring, id }
}

/** More than the day, so that no id is used twice, not even by another host on the same day. */
const newKeyId = () => `k${dateNow().toISOString().slice(0, 10).replaceAll('-', '')}-${randomBytes(2).toString('hex')}`

/** Makes a key of the file its current one. */
export const makeCurrent = (path: string, id: string): Promise<Keyring> =>
  change(path, (content) => ({ ...content, current: id }))

/** Removes a key from the file. The keys derived from it for these purposes stay, to verify what is never rewritten. */
export function retireKey(path: string, id: string, purposes: readonly string[]): Promise<Keyring> {
  const keyring = readKeyring(path)
  const kept = Object.fromEntries(
    purposes.map((purpose) => [purpose, keyring.derive(id, purpose).export().toString('base64url')]),
  )
  return change(path, ({ keys: { [id]: _, ...keys }, ...content }) => ({
    ...content,
    keys,
    retired: { ...content.retired, [id]: kept },
  }))
}

async function change(path: string, make: (content: KeyringContent) => KeyringContent): Promise<Keyring> {
  readKeyring(path) // refuses to add a key to a damaged file
  return alone(path, async () => {
    const text = textOf(make(JSON.parse(readFileSync(path, 'utf8')) as KeyringContent))
    keyringOf(text, path)
    await writeWhole(path, text)
    return readKeyring(path)
  })
}

/** One change at a time: a second one would write the file as it was before the first. */
async function alone<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.changed`
  try {
    closeSync(openSync(lock, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new ConfigurationError(
      `Another command is changing the keyring, or one was killed while it did. If none is running, remove ${lock}.`,
    )
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}
