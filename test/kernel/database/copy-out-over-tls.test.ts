/** `copyOut` over TLS, where the socket that the driver pauses is not the one that we made: a slow reader gets every row. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool } from '../../../src/core/kernel/database/pool.ts'
import { socketOf, type TestDatabase, testDatabase } from '../../kit/database.ts'

let db: TestDatabase
let folder: string
let front: Server | undefined
let secured = 0

beforeAll(async () => {
  db = await testDatabase()
  folder = mkdtempSync(join(tmpdir(), 'svc-tls-'))
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
  const made = spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-days',
    '1',
    '-keyout',
    key,
    '-out',
    cert,
  ])
  if (made.status !== 0) {
    process.stderr.write('\nNot shown: copies over TLS (there is no openssl to make a certificate).\n')
    return
  }
  // What PostgreSQL does when it is asked for TLS, in front of one that is not.
  front = createServer((client) => {
    client.once('data', () => {
      client.write('S')
      const inside = new TLSSocket(client, { isServer: true, key: readFileSync(key), cert: readFileSync(cert) })
      inside.on('secure', () => {
        secured += 1
      })
      const server = connect(socketOf(db.daemon))
      inside.pipe(server).pipe(inside)
      for (const socket of [inside, server]) socket.on('error', () => client.destroy())
    })
  })
  await new Promise<void>((resolve) => front?.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  front?.close()
  rmSync(folder, { recursive: true, force: true })
  await db.drop()
})

test('a reader that is behind all the time gets every row', async () => {
  if (!front) return
  const { port } = front.address() as AddressInfo
  const pool = openPool(
    { ...db.daemon, host: '127.0.0.1', port, ssl: 'require' },
    { size: 1, applicationName: 'copying' },
  )
  let rows = 0
  try {
    await pool.transaction(
      'set local role svc_tenant',
      (tx) =>
        tx.copyOut("copy (select n, repeat('x', 1000) from generate_series(1, 20000) n) to stdout", () => {
          rows += 1
          return rows % 50 === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined
        }),
      { readOnly: true },
    )
  } finally {
    await pool.close()
  }
  expect([rows, secured]).toEqual([20_000, 1])
})

test('bytes that come over TLS break a silence, and a server that stays silent is hung up on', async () => {
  if (!front) return
  const { port } = front.address() as AddressInfo
  const pool = openPool(
    { ...db.daemon, host: '127.0.0.1', port, ssl: 'require' },
    { size: 1, applicationName: 'listening', silenceMs: 500 },
  )
  // Nine kilobytes leave the server at once, a tenth of a second after those before.
  const trickle = "select repeat('x', 9000), pg_sleep(0.1) from generate_series(1, 20)"
  try {
    const rows = await pool.transaction('', (tx) => tx.text(trickle))
    expect(rows).toHaveLength(20)
    await expect(pool.transaction('', (tx) => tx.text('select pg_sleep(4)'))).rejects.toThrow(/fallen silent/)
  } finally {
    await pool.close()
  }
})
