/** Keyring files as tests change them. */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

export interface KeyringFile {
  current: string
  keys: Record<string, string>
  retired?: Record<string, Record<string, string>>
}

export const newKey = () => randomBytes(32).toString('base64url')

export const keyringIn = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as KeyringFile

/** Rewrites the file in place, so that its mode stays. */
export function changeKeyring(path: string, change: (keyring: KeyringFile) => void): void {
  const keyring = keyringIn(path)
  change(keyring)
  writeFileSync(path, JSON.stringify(keyring))
}
