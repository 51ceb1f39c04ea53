/** What a transaction sends leaves before the turn of the event loop ends. Decision record 0511. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPool, type Pool } from '../../../src/core/kernel/database/pool.ts'
import { type TestDatabase, testDatabase } from '../../kit/database.ts'

let db: TestDatabase
let pool: Pool
let socket: Socket
const opened = (message: unknown) => {
  socket = (message as { readonly socket: Socket }).socket
}

beforeAll(async () => {
  db = await testDatabase()
  subscribe('net.client.socket', opened)
  pool = openPool(db.daemon, { size: 1, applicationName: 'sent at once' })
  await pool.transaction('', (tx) => tx`select 1`)
  unsubscribe('net.client.socket', opened)
})
afterAll(async () => {
  await pool.close(0)
  await db.drop()
})

describe.each([
  ['a short statement', 10],
  ['one that the driver does not keep back', 3_000],
])('%s', (_, length) => {
  test('leaves when the rule waits', async () => {
    await pool.transaction('', async (tx) => {
      await tx`select 1`
      // Asked for before the statement is sent, so it comes before all that the driver asks for.
      const turnEnd = new Promise<number>((resolve) =>
        setImmediate(() => resolve(socket.bytesWritten - socket.writableLength)),
      )
      const before = socket.bytesWritten
      const answer = tx`select ${'x'.repeat(length)}::text`
      expect((await turnEnd) - before).toBeGreaterThan(length)
      await answer
    })
  })
})
