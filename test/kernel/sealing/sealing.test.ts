/** Sealed values and cursors: whatever was altered, moved or cut does not open. Threats T-12, T-21. */

import { createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { type Keyring, readKeyring } from '../../../src/core/kernel/sealing/keyring.ts'
import {
  decrypt,
  encrypt,
  lengthPrefixed,
  type Place,
  type Sealed,
  seal,
  unseal,
} from '../../../src/core/kernel/sealing/sealing.ts'
import { pageCursor, readCursor, writeCursor } from '../../../src/core/kernel/transaction/cursor.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-sealing-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const secretOf = () => randomBytes(32).toString('base64url')
function keyringOf(keys: Record<string, string>, current: string): Keyring {
  const path = join(folder, randomUUID())
  writeFileSync(path, JSON.stringify({ current, keys }), { mode: 0o600 })
  return readKeyring(path)
}

const keys = { one: secretOf(), two: secretOf() }
const keyring = keyringOf(keys, 'two')
const place: Place = { tenantId: randomUUID(), kind: 'idempotency.answer', ownerId: randomUUID() }
const refused = expect.objectContaining({ code: 'secret.unavailable' }) as unknown

function opened(sealed: Sealed, at = place, by = keyring): unknown {
  try {
    return unseal(by, at, sealed)
  } catch (error) {
    return error
  }
}

test('any text comes back as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(unseal(keyring, place, seal(keyring, place, text))).toBe(text)
    }),
  )
})

test('two seals of one text have nothing in common, and neither shows it', () => {
  const text = 'a secret of some length that would be seen'
  const [one, two] = [seal(keyring, place, text), seal(keyring, place, text)]
  expect(one.wrap.equals(two.wrap) || one.ciphertext.equals(two.ciphertext)).toBe(false)
  for (const bytes of [one.wrap, one.ciphertext]) expect(bytes.includes('secret')).toBe(false)
})

test('both halves are bound to their place by themselves, in the form that is documented', () => {
  const { wrap, ciphertext, key_id } = seal(keyring, place, 'the value')
  const at = [place.tenantId, place.kind, place.ownerId]
  const wrapped = lengthPrefixed('svc.wrap.v1', key_id, ...at)
  const dataKey = createSecretKey(decrypt(keyring.derive(key_id, 'svc/wrap/v1'), wrap, wrapped))
  expect(dataKey.symmetricKeySize).toBe(32)
  // Without the key's name: re-wrapping for another key leaves the value as it is.
  expect(decrypt(dataKey, ciphertext, lengthPrefixed('svc.value.v1', ...at)).toString()).toBe('the value')
})

describe('refused', () => {
  const sealed = seal(keyring, place, 'the value')

  test('with any one bit flipped', () => {
    for (const part of ['wrap', 'ciphertext'] as const)
      for (let bit = 0; bit < sealed[part].length * 8; bit += 1) {
        const bytes = Buffer.from(sealed[part])
        bytes[bit >> 3] = bytes[bit >> 3]! ^ (1 << (bit & 7))
        expect(opened({ ...sealed, [part]: bytes })).toEqual(refused)
      }
  })

  test('cut short by any length, down to nothing, and with anything behind it', () => {
    for (const part of ['wrap', 'ciphertext'] as const) {
      for (let length = 0; length < sealed[part].length; length += 1)
        expect(opened({ ...sealed, [part]: sealed[part].subarray(0, length) })).toEqual(refused)
      expect(opened({ ...sealed, [part]: Buffer.concat([sealed[part], Buffer.from([0])]) })).toEqual(refused)
    }
  })

  test('in another place: another workspace, another owner', () => {
    for (const moved of [
      { tenantId: randomUUID() },
      { ownerId: randomUUID() },
      { tenantId: place.ownerId, ownerId: place.tenantId },
    ])
      expect(opened(sealed, { ...place, ...moved })).toEqual(refused)
  })

  test('with the wrap of another value of the same place', () => {
    const other = seal(keyring, place, 'another value')
    expect(opened({ ...sealed, wrap: other.wrap })).toEqual(refused)
    expect(opened({ ...sealed, ciphertext: other.ciphertext })).toEqual(refused)
  })

  test('under another key of the ring, under none, and under other bytes of the same name', () => {
    expect(opened({ ...sealed, key_id: 'one' })).toEqual(refused)
    expect(opened({ ...sealed, key_id: 'three' })).toEqual(refused)
    expect(opened({ ...sealed, key_id: '' })).toEqual(refused)
    expect(opened(sealed, place, keyringOf({ two: secretOf() }, 'two'))).toEqual(refused)
    expect(opened(sealed, place, keyringOf({ two: keys.one }, 'two'))).toEqual(refused)
  })

  test('but not under the same key in a ring that has moved on', () => {
    expect(opened(sealed, place, keyringOf({ ...keys, three: secretOf() }, 'three'))).toBe('the value')
  })
})

test('one key for each purpose: what is encrypted for one does not open for another', () => {
  const box = encrypt(keyring.derive('two', 'svc/wrap/v1'), Buffer.from('x'), Buffer.alloc(0))
  expect(() => decrypt(keyring.derive('two', 'svc/cursor/v1'), box, Buffer.alloc(0))).toThrow('secret.unavailable')
})

test('no two lists of texts have the same bytes', () => {
  const texts = fc.array(fc.string(), { maxLength: 4 })
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      expect(lengthPrefixed(...one).equals(lengthPrefixed(...other))).toBe(
        JSON.stringify(one) === JSON.stringify(other),
      )
    }),
  )
  expect(lengthPrefixed('ab', 'c').equals(lengthPrefixed('a', 'bc'))).toBe(false)
})

describe('a cursor', () => {
  const bound = { operation: 'listTenants', scope: randomUUID(), filters: { state: 'ACTIVE', slug: undefined } }
  const cursor = writeCursor(keyring, bound, 'epoch', ['a', 'b'])
  const invalid = expect.objectContaining({ code: 'cursor.invalid' }) as unknown
  const read = (text: string, at: Parameters<typeof readCursor>[1] = bound, by = keyring): unknown => {
    try {
      return readCursor(by, at, 'epoch', text)
    } catch (error) {
      return error
    }
  }

  test('opens where it was made, whatever the order of its filters', () => {
    expect(read(cursor)).toEqual(['a', 'b'])
    expect(read(cursor, { ...bound, filters: { slug: undefined, state: 'ACTIVE' } })).toEqual(['a', 'b'])
    expect(read(cursor, { ...bound, filters: { state: 'ACTIVE' } })).toEqual(['a', 'b'])
  })

  test('of an epoch before a recovery is gone, and says so only where it is authentic', () => {
    const older = writeCursor(keyring, bound, 'older', ['a', 'b'])
    expect(read(older)).toMatchObject({ code: 'gone', status: 410 })
    expect(read(older, { ...bound, scope: randomUUID() })).toEqual(invalid)
    expect(read(`${older.slice(0, -2)}AA`)).toEqual(invalid)
  })

  test('of a page is written again as it was, and never for another place; without a page no two are the same', () => {
    const page = (position: string, at: Parameters<typeof pageCursor>[1] = bound, epoch = 'epoch') =>
      pageCursor(keyring, at, epoch, [position])
    const first = page('a')
    expect(page('a')).toBe(first)
    for (const at of [{ operation: 'listJournal' }, { scope: randomUUID() }, { filters: {} }]) {
      const elsewhere = page('a', { ...bound, ...at })
      expect([elsewhere === first, read(elsewhere, { ...bound, ...at })]).toEqual([false, ['a']])
    }
    expect([read(page('b')), page('a', bound, 'older') === first]).toEqual([['b'], false])
    for (let n = 0; n < 600; n += 1) page(String(n))
    expect(read(page('a'))).toEqual(['a'])
    expect(writeCursor(keyring, bound, 'epoch', ['a'])).not.toBe(writeCursor(keyring, bound, 'epoch', ['a']))
  })

  test('is URL-safe and short', () => {
    expect(cursor).toMatch(/^[A-Za-z0-9_-]{40,200}$/)
  })

  test('opens nowhere else', () => {
    for (const other of [
      { operation: 'listJournal' },
      { scope: randomUUID() },
      { filters: {} },
      { filters: { state: 'SUSPENDED' } },
      { filters: { slug: 'ACTIVE' } },
    ])
      expect(read(cursor, { ...bound, ...other })).toEqual(invalid)
    expect(read(cursor, bound, keyringOf({ two: secretOf() }, 'two'))).toEqual(invalid)
    expect(read(cursor, bound, keyringOf({ ...keys, three: secretOf() }, 'three'))).toEqual(['a', 'b'])
  })

  test('does not open with any one bit flipped, nor cut short', () => {
    const bytes = Buffer.from(cursor, 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const altered = Buffer.from(bytes)
      altered[bit >> 3] = altered[bit >> 3]! ^ (1 << (bit & 7))
      expect(read(altered.toString('base64url'))).toEqual(invalid)
    }
    for (let length = 0; length < cursor.length; length += 1) expect(read(cursor.slice(0, length))).toEqual(invalid)
  })

  test('has one spelling', () => {
    expect(read(`${cursor}=`)).toEqual(invalid)
    expect(
      read(
        cursor
          .replaceAll('-', '+')
          .replaceAll('_', '/')
          .padEnd(cursor.length + 1, '='),
      ),
    ).toEqual(invalid)
    // The last character of two of three lengths has bits that mean nothing.
    const spelled = ['', 'a', 'ab'].flatMap((position) => {
      const text = writeCursor(keyring, bound, 'epoch', [position])
      const others = [...alphabet].map((last) => text.slice(0, -1) + last).filter((other) => other !== text)
      return others.filter((other) => Buffer.from(other, 'base64url').equals(Buffer.from(text, 'base64url')))
    })
    expect(spelled.length).toBe(3 + 15)
    for (const other of spelled) expect(read(other)).toEqual(invalid)
  })
})

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
