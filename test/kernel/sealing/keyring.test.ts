/** The keyring file: every fault is one clear line, and none is repaired by guessing. Spec: decisions 4, Keyring. */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createKeyring, readKeyring } from '../../../src/core/kernel/sealing/keyring.ts'
import { addKey } from '../../../src/core/kernel/sealing/keyring-file.ts'
import { ConfigurationError } from '../../../src/core/kernel/values/configuration-error.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-keyring-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let path: string
beforeEach(() => {
  path = join(mkdtempSync(join(folder, 'ring-')), 'keyring.json')
})

const key = () => randomBytes(32).toString('base64url')
const write = (content: unknown, mode = 0o600) => {
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  chmodSync(path, mode)
}

function fault(): string {
  try {
    readKeyring(path)
    return ''
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError)
    return (error as Error).message
  }
}

const one = key()

describe('refused, in one line that names the file and none of its keys', () => {
  test.each([
    ['not JSON', '{"current":'],
    ['null', 'null'],
    ['a list', '[]'],
    ['no keys', { current: 'k1' }],
    ['no current', { keys: { k1: one } }],
    ['a current that is missing', { current: 'k2', keys: { k1: one } }],
    ['a current that is no text', { current: 1, keys: { k1: one } }],
    ['no key at all', { current: 'k1', keys: {} }],
    ['a short key', { current: 'k1', keys: { k1: one.slice(0, 42) } }],
    ['a long key', { current: 'k1', keys: { k1: `${one}A` } }],
    ['a padded key', { current: 'k1', keys: { k1: `${one}=` } }],
    ['a key in the other base64', { current: 'k1', keys: { k1: `+/${one.slice(2)}` } }],
    ['a key that is no text', { current: 'k1', keys: { k1: 5 } }],
    ['an id in capitals', { current: 'K1', keys: { K1: one } }],
    ['an id of 33 letters', { current: 'k'.repeat(33), keys: { ['k'.repeat(33)]: one } }],
    ['the same key twice', { current: 'k1', keys: { k1: one, k2: one } }],
    ['__proto__ as an id', `{"current":"__proto__","keys":{"__proto__":"${one}"}}`],
  ])('%s', (_, content) => {
    write(content)
    const message = fault()
    expect(message).toContain(path)
    expect(message).not.toContain('\n')
    expect(message).not.toContain(one.slice(0, 20))
  })

  test('the same key twice, spelled with other unused bits', () => {
    // 43 characters hold 258 bits: the last one has two that mean nothing.
    const twin = one.slice(0, 42) + nextSpelling(one.at(-1)!)
    expect(Buffer.from(twin, 'base64url').equals(Buffer.from(one, 'base64url'))).toBe(true)
    write({ current: 'k1', keys: { k1: one, k2: twin } })
    expect(fault()).toContain('the same key twice')
  })

  test.each(['640', '604', '666', '610'])('a file of mode %s, which others may read', (mode) => {
    write({ current: 'k1', keys: { k1: one } }, Number.parseInt(mode, 8))
    expect(fault()).toContain(`chmod 600 ${path}`)
  })

  test('a file that is not there', () => expect(fault()).toContain('does not exist'))

  test('a folder', () => {
    mkdirSync(path, { mode: 0o700 })
    expect(fault()).toContain(path)
  })
})

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const nextSpelling = (last: string) => alphabet[alphabet.indexOf(last) ^ 1]!

test('a new ring has one key, mode 0600, and is never written over', async () => {
  const keyring = await createKeyring(path)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(keyring.ids).toEqual([keyring.current])
  const content = readFileSync(path, 'utf8')
  const again = await createKeyring(path)
  expect(readFileSync(path, 'utf8')).toBe(content)
  expect(again.checkValue(again.current)).toEqual(keyring.checkValue(keyring.current))
})

test('of changes at the same moment, each that succeeds is in the file, and the others are refused', async () => {
  await createKeyring(path)
  const ids = ['k1', 'k2', 'k3', 'k4']
  const ended = await Promise.allSettled(ids.map((id) => addKey(path, id)))
  const added = ids.filter((_, at) => ended[at]!.status === 'fulfilled')
  expect(added.length).toBeGreaterThan(0)
  expect(readKeyring(path).ids.slice(1)).toEqual(added)
  const refusals = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  expect(refusals.every((error) => /Another command is changing the keyring/.test(error.message))).toBe(true)
  expect(readdirSync(dirname(path))).toEqual(['keyring.json'])
  await addKey(path, 'k5')
})

test('a check value tells two keys apart and tells neither', () => {
  write({ current: 'k1', keys: { k1: one, k2: key() } })
  const keyring = readKeyring(path)
  expect(keyring.checkValue('k1')).toHaveLength(8)
  expect(keyring.checkValue('k1')).not.toEqual(keyring.checkValue('k2'))
  expect(Buffer.from(one, 'base64url').includes(keyring.checkValue('k1'))).toBe(false)
})

test('every purpose has a key of its own, and an unknown id none', () => {
  write({ current: 'k1', keys: { k1: one } })
  const keyring = readKeyring(path)
  const derived = (purpose: string) => keyring.derive('k1', purpose).export()
  expect(derived('a')).toEqual(derived('a'))
  expect(derived('a')).not.toEqual(derived('b'))
  expect(derived('a')).not.toEqual(Buffer.from(one, 'base64url'))
  expect(() => keyring.derive('k2', 'a')).toThrow('k2')
})
