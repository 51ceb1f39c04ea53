/**
 * A ring held against the database: at boot and when the file is read again. A wrong or
 * missing key stops the start, naming it and what would be lost; a value that was damaged
 * does not. Spec: decisions 4, Keyring; T-21.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Booted, bootInstallation } from '../../src/core/app/boot.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'
import { lockClasses } from '../../src/core/kernel/database/lock-classes.ts'
import { readKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { changeKeyring as changeFile, type KeyringFile, newKey } from '../kit/keyrings.ts'
import { type Stored, storeMany, wrongAmong } from '../kit/sealed.ts'

let own: TestInstallation
let tenantId: string
let stored: Stored
let notes: string[]
beforeEach(async () => {
  own = await testInstallation()
  tenantId = (await own.provision()).tenant.id
  stored = new Map()
  notes = []
})
afterEach(() => own.close())

const changeKeyring = (change: (keyring: KeyringFile) => void) => changeFile(own.env['SVC_KEYRING_FILE']!, change)
const seal = (count: number, kind?: 'backup.credentials') => storeMany(own.installation, stored, tenantId, count, kind)
const currentKey = () => own.installation.keyring.current

/** Boots once more as a daemon does, and answers what it refused with. */
async function boot(use: (booted: Booted) => Promise<unknown> = async () => undefined): Promise<string> {
  try {
    const booted = await bootInstallation(readConfig(own.env), {
      works: false,
      isDaemon: true,
      applicationName: 'svc-boot',
      note: (line) => void notes.push(line),
    })
    await use(booted).finally(() => booted.close())
    return 'booted'
  } catch (error) {
    expect((error as Error).name).toBe('ConfigurationError')
    return (error as Error).message
  }
}

const flip = (column: 'wrap' | 'ciphertext', limit: number) => own.oracle`
  update sealed_value set ${own.oracle(column)} = set_byte(${own.oracle(column)}, 20, 255 - get_byte(${own.oracle(column)}, 20))
  where (kind, owner_id) in (select kind, owner_id from sealed_value order by owner_id limit ${limit})`

test('starts while people work: no lock of theirs is taken for a daemon that seals under a key', async () => {
  await seal(1)
  const ofKeyrings = new Set<number>([lockClasses.runningDaemon, lockClasses.knownKey, lockClasses.sealingKey])
  const ofPeople = Object.values(lockClasses).filter((one) => !ofKeyrings.has(one))
  expect(new Set(ofPeople).size + ofKeyrings.size).toBe(Object.keys(lockClasses).length)
  await own.oracle.begin(async (sql) => {
    for (const lockClass of ofPeople) await sql`select pg_advisory_xact_lock_shared(${lockClass}, 47)`
    expect(await boot()).toBe('booted')
  })
})

describe('refuses to start', () => {
  test('with a key missing: it, and how many values would be lost', async () => {
    await seal(7)
    const lost = currentKey()
    changeKeyring((keyring) => Object.assign(keyring, { current: 'other', keys: { other: newKey() } }))
    expect(await boot()).toMatch(new RegExp(`^7 stored value\\(s\\) need the key "${lost}", which .* lacks`))
  })

  test('with other bytes by the same name, naming the key and how many values would be lost', async () => {
    await seal(7)
    changeKeyring((keyring) => Object.assign(keyring.keys, { [keyring.current]: newKey() }))
    expect(await boot()).toMatch(/is not the key of that name .*; 7 stored value\(s\) under it would be lost/)
  })

  test('with other bytes by the same name that the database has no check value of', async () => {
    await seal(7)
    await seal(2, 'backup.credentials')
    changeKeyring((keyring) => Object.assign(keyring.keys, { [keyring.current]: newKey() }))
    await own.oracle`delete from keyring_key`
    expect(await boot()).toMatch(new RegExp(`The key "${currentKey()}" in .* decrypts none of the 9 stored value`))
    expect(await own.oracle`select 1 from keyring_key`).toHaveLength(0)
  })

  test('with one value only, and no check value', async () => {
    await seal(1)
    changeKeyring((keyring) => Object.assign(keyring.keys, { [keyring.current]: newKey() }))
    await own.oracle`delete from keyring_key`
    expect(await boot()).toContain('decrypts none of the 1 stored value')
  })

  test('with its check value put in place of the right one', async () => {
    await seal(3)
    changeKeyring((keyring) => Object.assign(keyring.keys, { [keyring.current]: newKey() }))
    await own.oracle`delete from keyring_key`
    const check = readKeyring(own.env['SVC_KEYRING_FILE']!).checkValue(currentKey())
    await own.oracle`insert into keyring_key (key_id, check_value, promoted_at) values (${currentKey()}, ${check}, now())`
    expect(await boot()).toContain('decrypts none of the 3 stored value')
  })
})

describe('starts', () => {
  test.each(['wrap', 'ciphertext'] as const)('with the %s of some values damaged, and says so', async (column) => {
    await seal(4)
    await flip(column, 2)
    expect(await boot()).toBe('booted')
    expect(notes.join()).toMatch(/^2 of 4 checked values of idempotency\.answer .* cannot be decrypted/)
    expect(await wrongAmong(own.installation, stored)).toHaveLength(2)
  })

  test.each(['wrap', 'ciphertext'] as const)(
    'with the %s of its only value damaged, under a key that is proven',
    async (column) => {
      await seal(1)
      await flip(column, 1)
      expect(await boot()).toBe('booted')
      expect(notes.join()).toContain('1 of 1 checked values')
    },
  )

  test('with one kind damaged whole, where another kind proves the key', async () => {
    await seal(3)
    await flip('wrap', 3)
    await seal(1, 'backup.credentials')
    expect(await boot()).toBe('booted')
  })
})

describe('the file read again', () => {
  test('a key that was added opens and seals, once it is current', async () => {
    await seal(2)
    const before = currentKey()
    changeKeyring((keyring) => Object.assign(keyring.keys, { second: newKey() }))
    await own.rereadKeyring()
    expect([currentKey(), own.installation.keyring.has('second')]).toEqual([before, true])
    changeKeyring((keyring) => Object.assign(keyring, { current: 'second' }))
    await own.rereadKeyring()
    await seal(1)
    expect(await wrongAmong(own.installation, stored)).toEqual([])
    expect(currentKey()).toBe('second')
  })

  test.each([
    ['whole', (keyring: KeyringFile) => Object.assign(keyring, { keys: {} })],
    [
      'with the key that values name',
      (keyring: KeyringFile) => Object.assign(keyring, { current: 'x', keys: { x: newKey() } }),
    ],
    ['with the bytes of old', (keyring: KeyringFile) => Object.assign(keyring.keys, { [keyring.current]: newKey() })],
  ])('one that is not %s is refused, and the ring in use stays', async (_, change) => {
    await seal(2)
    const before = currentKey()
    changeKeyring(change)
    await expect(own.rereadKeyring()).rejects.toThrow('keyring')
    expect(currentKey()).toBe(before)
    expect(await wrongAmong(own.installation, stored)).toEqual([])
  })

  test('a file that goes back to a key of before does not take the installation back, and says so', async () => {
    const first = currentKey()
    changeKeyring((keyring) => {
      keyring.keys['second'] = newKey()
      keyring.current = 'second'
    })
    await own.rereadKeyring()
    changeKeyring((keyring) => Object.assign(keyring, { current: first }))
    expect(await own.rereadKeyring()).toEqual([expect.stringContaining('svc keyring promote second')])
  })
})
