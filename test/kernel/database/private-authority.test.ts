/** A server whose certificate a private authority signed is trusted where the URL names that authority, and only there. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addressOf } from '../../../src/core/kernel/database/address.ts'
import { withClient } from '../../../src/core/kernel/database/client.ts'
import { openPool } from '../../../src/core/kernel/database/pool.ts'
import { urlOf } from '../../kit/daemon.ts'
import { type TestDatabase, testDatabase } from '../../kit/database.ts'
import { type Home, temporaryHome } from '../../kit/svc.ts'
import { type TlsFront, tlsFront } from './tls-front.ts'

let db: TestDatabase
let front: TlsFront | undefined
let home: Home

beforeAll(async () => {
  db = await testDatabase()
  front = await tlsFront(db.daemon)
  home = temporaryHome()
})
afterAll(async () => {
  front?.close()
  home.remove()
  await db.drop()
})

const url = (more: string, host = 'localhost') =>
  urlOf({ ...db.daemon, host, port: front?.port ?? 0 }) + (more === '' ? '' : `?${more}`)
const asked = (address: string) =>
  withClient(addressOf(address), async (client) => (await client.query('select 1 as one')).rows)

test('both drivers trust the authority that sslrootcert names', async () => {
  if (!front) return
  const named = url(`sslmode=verify-full&sslrootcert=${encodeURIComponent(front.certificate)}`)
  expect(await asked(named)).toEqual([{ one: 1 }])
  const pool = openPool(addressOf(named), { size: 1, applicationName: 'trusting' })
  try {
    expect(await pool.transaction('', (tx) => tx.text('select 1 as one'), { readOnly: true })).toHaveLength(1)
  } finally {
    await pool.close()
  }
  expect(front.secured()).toBe(2)
})

test('both drivers check the certificate of a server that is named by its address', async () => {
  const own = await tlsFront(db.daemon, 'IP:127.0.0.1')
  if (!own) return
  const named = urlOf({ ...db.daemon, host: '127.0.0.1', port: own.port })
  const address = addressOf(`${named}?sslmode=verify-full&sslrootcert=${encodeURIComponent(own.certificate)}`)
  const elsewhere = addressOf(
    url(`sslmode=verify-full&sslrootcert=${encodeURIComponent(front?.certificate ?? '')}`, '127.0.0.1'),
  )
  const read = async (at: typeof address) => {
    const pool = openPool(at, { size: 1, applicationName: 'trusting' })
    return pool.transaction('', (tx) => tx.text('select 1 as one'), { readOnly: true }).finally(() => pool.close())
  }
  try {
    expect(await withClient(address, async (client) => (await client.query('select 1 as one')).rows)).toEqual([
      { one: 1 },
    ])
    expect(await read(address)).toHaveLength(1)
    await expect(read(elsewhere)).rejects.toThrow()
  } finally {
    own.close()
  }
})

test('without it, and under another name, the server is refused', async () => {
  if (!front) return
  await expect(asked(url('sslmode=verify-full'))).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  const named = `sslmode=verify-full&sslrootcert=${encodeURIComponent(front.certificate)}`
  await expect(asked(url(named, '127.0.0.1'))).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
})

test('a file that is no authority is refused before anything is called', () => {
  const noPem = join(home.folder, 'no.pem')
  writeFileSync(noPem, 'no certificate')
  for (const file of [noPem, join(home.folder, 'absent.pem')])
    expect(() => addressOf(url(`sslmode=verify-full&sslrootcert=${file}`))).toThrow('sslrootcert')
  expect(() => addressOf(url(`sslmode=require&sslrootcert=${noPem}`))).toThrow('sslmode=verify-full')
})

test('messages name the variable that has to be changed', async () => {
  if (!front) return
  const env = { SVC_DATABASE_URL: url('sslmode=disable'), SVC_KEYRING_FILE: home.secretFile('keyring.json', '{}') }
  const migrate = (owner: string) => home.svc(['db', 'migrate'], { env: { ...env, SVC_DATABASE_OWNER_URL: owner } })
  const misspelt = await migrate(url('sslmode=prefer'))
  expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining('SVC_DATABASE_OWNER_URL: ') })
  const untrusted = await migrate(url('sslmode=verify-full'))
  expect(untrusted).toMatchObject({ code: 7, stderr: expect.stringContaining('sslrootcert=FILE') })
  expect(untrusted.stderr).toContain('is named in SVC_DATABASE_OWNER_URL')
  const away = await migrate('postgres://svc_owner@127.0.0.1:1/svc')
  expect(away).toMatchObject({ code: 7, stderr: expect.stringContaining('Check SVC_DATABASE_OWNER_URL') })
})
