/**
 * Cursors: opaque, bound, encrypted.
 *
 *    base64url( length of key id | key id | sealed position )
 *
 * The position is encrypted under a key of the keyring, with the list, the workspace and the
 * filters as associated data. So a cursor works only for its own list, and does not show how
 * busy other workspaces are. Every failure is the same refusal, `cursor.invalid`.
 *
 * The position contains the installation's epoch. After a recovery the same positions are
 * used a second time, so an authentic cursor of another epoch is refused with `gone`.
 *
 * Spec: decisions 1, Lists; T-12, T-46.
 */

import { Problem } from '../../contract/problem.ts'
import { longestCursor } from '../../contract/vocabulary.ts'
import type { Keyring } from '../sealing/keyring.ts'
import { decrypt, encrypt, lengthPrefixed } from '../sealing/sealing.ts'

/** What a cursor is bound to: the operation, the workspace (or the installation), the filters in use. */
export interface CursorScope {
  readonly operation: string
  readonly scope: string
  readonly filters: Readonly<Record<string, unknown>>
}

/** Cursors of pages that were written lately, by their keyring and all that they say. */
const written = new WeakMap<Keyring, Map<string, string>>()
const remembered = 500

/**
 * The cursor behind a page's last row. One that was written lately is written again, and not sealed anew: a front end polls its
 * lists. The same text twice says no more than the row beside it. A cursor without such a row, as of a pull, is never the same:
 * it would tell that nothing happened.
 */
export function pageCursor(keyring: Keyring, bound: CursorScope, epoch: string, position: readonly string[]): string {
  const lately = written.get(keyring) ?? new Map<string, string>()
  const { operation, scope, filters } = bound
  const place = JSON.stringify([keyring.current, epoch, operation, scope, filters, position])
  const known = lately.get(place)
  if (known !== undefined) return known
  if (lately.size >= remembered) lately.clear()
  const cursor = writeCursor(keyring, bound, epoch, position)
  written.set(keyring, lately.set(place, cursor))
  return cursor
}

export function writeCursor(keyring: Keyring, bound: CursorScope, epoch: string, position: readonly string[]): string {
  const id = Buffer.from(keyring.current, 'latin1')
  const sealed = encrypt(
    keyring.derive(keyring.current, 'svc/cursor/v1'),
    Buffer.from(JSON.stringify([epoch, ...position])),
    contextOf(bound),
  )
  return Buffer.concat([Buffer.from([id.length]), id, sealed]).toString('base64url')
}

/** The position, as texts. Refuses gone for a cursor of another epoch, cursor.invalid for anything else. */
export function readCursor(keyring: Keyring, bound: CursorScope, epoch: string, cursor: string): string[] {
  const [since, ...position] = openCursor(keyring, bound, cursor)
  if (since !== epoch) throw new Problem('gone')
  return position
}

function openCursor(keyring: Keyring, bound: CursorScope, cursor: string): string[] {
  if (cursor.length > longestCursor || !/^[A-Za-z0-9_-]{40,}$/.test(cursor)) throw new Problem('cursor.invalid')
  const bytes = Buffer.from(cursor, 'base64url')
  // The last character has unused bits. Another spelling of a cursor reveals nothing, but we did not write it.
  if (bytes.toString('base64url') !== cursor) throw new Problem('cursor.invalid')
  const idLength = bytes[0] ?? 0
  const keyId = bytes.subarray(1, 1 + idLength).toString('latin1')
  if (!keyring.has(keyId)) throw new Problem('cursor.invalid')
  try {
    return JSON.parse(
      decrypt(keyring.derive(keyId, 'svc/cursor/v1'), bytes.subarray(1 + idLength), contextOf(bound)).toString('utf8'),
    ) as string[]
  } catch {
    throw new Problem('cursor.invalid')
  }
}

const contextOf = ({ operation, scope, filters }: CursorScope) =>
  lengthPrefixed(
    operation,
    scope,
    JSON.stringify(
      Object.entries(filters)
        .filter(([, value]) => value !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  )
