/**
 * Changes the keyring file: adds a key, makes a key current, retires a key.
 *
 * The new file is written under another name and renamed over the old one, so that a reader
 * gets either the old or the new file. The written file is read again and checked like any
 * keyring. This module does not use the database: promotion.ts and retirement.ts decide
 * whether a change is allowed. Spec: decisions 4, Keyring.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigurationError } from '../values/configuration-error.ts'
import { type Keyring, type KeyringContent, readKeyring } from './keyring.ts'

/** Adds a new key, which opens and seals nothing until it is made current. Throws ConfigurationError where the id is taken. */
export function addKey(path: string, id = newKeyId()): { readonly keyring: Keyring; readonly id: string } {
  const keyring = change(path, (content) => {
    if (id in content.keys || id in (content.retired ?? {}))
      throw new ConfigurationError(`The keyring file ${path} has a key "${id}" already.`)
    return { ...content, keys: { ...content.keys, [id]: randomBytes(32).toString('base64url') } }
  })
  return { keyring, id }
}

/** Not the day alone: an id is never used again, not even by another host on the same day. */
const newKeyId = () => `k${new Date().toISOString().slice(0, 10).replaceAll('-', '')}-${randomBytes(2).toString('hex')}`

/** Makes a key of the file its current one. */
export const makeCurrent = (path: string, id: string): Keyring =>
  change(path, (content) => ({ ...content, current: id }))

/** Takes a key out of the file; what is derived from it for these purposes stays, so that what nobody writes anew can still be verified. */
export function retireKey(path: string, id: string, purposes: readonly string[]): Keyring {
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

function change(path: string, make: (content: KeyringContent) => KeyringContent): Keyring {
  readKeyring(path) // refuses to add a key to a damaged file
  const content = make(JSON.parse(readFileSync(path, 'utf8')) as KeyringContent)
  const aside = `${path}.changed`
  const file = openAside(aside)
  try {
    writeSync(file, `${JSON.stringify(content, null, 2)}\n`)
    fsyncSync(file)
    readKeyring(aside)
    renameSync(aside, path)
  } catch (error) {
    rmSync(aside, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  syncFolder(dirname(path))
  return readKeyring(path)
}

/** Only one may be changing it: the second would write the file as it was before the first. */
function openAside(aside: string): number {
  try {
    return openSync(aside, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new ConfigurationError(
      `Another command is changing the keyring, or one was killed while it did. If none is running, remove ${aside}.`,
    )
  }
}

/** A rename is on the disk once its folder is. */
function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
