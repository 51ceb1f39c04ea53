/** Keyring files as tests change them. */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

export interface RingFile {
  current: string
  keys: Record<string, string>
  retired?: Record<string, Record<string, string>>
}

export const newKey = () => randomBytes(32).toString('base64url')

export const ringIn = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as RingFile

/** Rewrites the file in place, so that its mode stays. */
export function changeRing(path: string, change: (ring: RingFile) => void): void {
  const ring = ringIn(path)
  change(ring)
  writeFileSync(path, JSON.stringify(ring))
}
