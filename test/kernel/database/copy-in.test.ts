/** `copyIn`: rows arrive at the server's pace, what fails says why, and the connection serves on as it was. */
import type { EventEmitter } from 'node:events'
import type { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withClient } from '../../../src/core/kernel/database/client.ts'
import { copyIn } from '../../../src/core/kernel/database/copying.ts'
import { type TestDatabase, testDatabase } from '../../kit/database.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await testDatabase()
})
afterAll(() => db.drop())

/** More than a socket takes at once, so that the copy waits for the server. */
const large = Buffer.from(`${'x'.repeat(1023)}\n`.repeat(4096))
const count = 8

async function* chunks(): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n += 1) yield large
}

const withTable = (work: (client: Client) => Promise<void>) =>
  withClient(db.owner, async (client) => {
    await client.query('create temporary table thing (body text check (length(body) > 1))')
    await work(client)
  })
const into = 'copy thing (body) from stdin'
const rows = async (client: Client) =>
  (await client.query<{ rows: number }>('select count(*)::int as rows from thing')).rows[0]?.rows

const events = ['drain', 'close', 'error']
function listenersOf(client: Client): number[] {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: EventEmitter } }).connection
  return events.map((event) => stream.listenerCount(event))
}

test('takes every row, and a copy that waited leaves no listener behind', () =>
  withTable(async (client) => {
    const before = listenersOf(client)
    await copyIn(client, into, chunks())
    expect(await rows(client)).toBe(count * 4096)
    expect(listenersOf(client)).toEqual(before)
  }))

test('a source that fails ends the copy with its error, and no row stays', () =>
  withTable(async (client) => {
    async function* failing() {
      yield* chunks()
      throw new Error('the archive ends here')
    }
    await expect(copyIn(client, into, failing())).rejects.toThrow('the archive ends here')
    expect(await rows(client)).toBe(0)
  }))

test('a row that the server refuses ends the copy with its error, and the source is not read on', () =>
  withTable(async (client) => {
    let read = 0
    async function* refused() {
      yield Buffer.from('x\n')
      for await (const chunk of chunks()) {
        read += 1
        await new Promise((resolve) => setTimeout(resolve, 20))
        yield chunk
      }
    }
    await expect(copyIn(client, into, refused())).rejects.toMatchObject({ code: '23514' })
    expect(await rows(client)).toBe(0)
    expect(read).toBeLessThan(count)
  }))

test('a connection that ends meanwhile fails the copy', async () => {
  await expect(
    withTable(async (client) => {
      const [own] = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows
      async function* cut() {
        yield large
        await db.sql`select pg_terminate_backend(${own?.pid ?? 0})`
        yield* chunks()
      }
      await copyIn(client, into, cut())
    }),
  ).rejects.toThrow()
})
