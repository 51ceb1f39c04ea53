/** `copyOut` over TLS, where the socket that the driver pauses is not the one that we made: a slow reader gets every row. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool } from '../../../src/core/kernel/database/pool.ts'
import { type TestDatabase, testDatabase } from '../../kit/database.ts'
import { type TlsFront, tlsFront } from './tls-front.ts'

let db: TestDatabase
let front: TlsFront | undefined

beforeAll(async () => {
  db = await testDatabase()
  front = await tlsFront(db.daemon)
})
afterAll(async () => {
  front?.close()
  await db.drop()
})

test('a reader that is behind all the time gets every row', async () => {
  if (!front) return
  const { port } = front
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
  expect([rows, front.secured()]).toEqual([20_000, 1])
})

test('bytes that come over TLS break a silence, and a server that stays silent is hung up on', async () => {
  if (!front) return
  const { port } = front
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
