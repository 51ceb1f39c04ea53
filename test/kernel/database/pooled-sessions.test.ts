/**
 * Sessions through a pooler: what a session of our own has from its greeting, each transaction says by itself, and leaves
 * nothing behind for the next client. And how the pool gives connections back.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPool, type Pool } from '../../../src/core/kernel/database/pool.ts'
import { asInstallation, asTenant } from '../../../src/core/kernel/database/roles.ts'
import { type TestDatabase, testDatabase } from '../../kit/database.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await testDatabase()
})
afterAll(() => db.drop())

const wanted = {
  statement_timeout: '5s',
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '10s',
  row_security: 'on',
  search_path: 'public',
  jit: 'off',
  random_page_cost: '1.1',
  plan_cache_mode: 'auto',
  transaction_isolation: 'read committed',
  transaction_read_only: 'off',
  TimeZone: 'UTC',
  DateStyle: 'ISO, YMD',
  role: 'svc_installation',
}
const inForce = async (pool: Pool) => {
  const names = Object.keys(wanted)
  const rows = await pool.transaction(
    asInstallation,
    (tx) =>
      tx<{ name: string; value: string }[]>`
      select name, current_setting(name) as value from jsonb_array_elements_text(${tx.json(names)}) as n (name)`,
  )
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

describe('a session that is lent for one transaction', () => {
  // Without a pooler in between one sees what the session itself keeps.
  const lent = (isPooled: boolean) => openPool(db.daemon, { size: 1, applicationName: 'svc lent', isPooled })

  test('has in its transactions what a session of our own has', async () => {
    for (const isPooled of [false, true]) {
      const pool = lent(isPooled)
      expect(await inForce(pool)).toEqual(wanted)
      await pool.close()
    }
  })

  test('has nothing of it afterwards', async () => {
    const pool = lent(true)
    const own = lent(false)
    for (const of of [pool, own])
      await of.transaction(asTenant('01a1f8e7-9923-7000-887d-53be6544f547'), (tx) => tx`select 1`)
    // The login's own defaults are in force between two transactions: what the greeting of the own session overrides.
    const between = (of: Pool) =>
      of.transaction(
        '',
        (tx) => tx<{ reset: string }[]>`select reset_val as reset from pg_settings where name = 'statement_timeout'`,
      )
    expect((await between(pool))[0]).toEqual({ reset: '0' })
    expect((await between(own))[0]).toEqual({ reset: '5000' })
    await pool.close()
    await own.close()
  })

  test('keeps a limit that a transaction has raised for that transaction only', async () => {
    const pool = lent(true)
    const limit = () => pool.transaction('', (tx) => tx<{ s: string }[]>`select current_setting('lock_timeout') as s`)
    await pool.transaction('', async (tx) => {
      await tx.patience(7)
      expect(await tx`select current_setting('lock_timeout') as s`).toEqual([{ s: '7s' }])
    })
    expect(await limit()).toEqual([{ s: '2s' }])
    await pool.close()
  })
})

test('a pool gives back what a burst needed, while it goes on to be used', async () => {
  const pool = openPool(db.daemon, { size: 8, applicationName: 'svc shrinking', idleMs: 500 })
  const open = async () => {
    const rows = await db.sql`select pid from pg_stat_activity where application_name = 'svc shrinking'`
    return rows.length
  }
  await Promise.all(Array.from({ length: 8 }, () => pool.transaction('', (tx) => tx`select pg_sleep(0.2)`)))
  expect(await open()).toBe(8)
  const trickle = setInterval(() => void pool.transaction('', (tx) => tx`select 1`), 50)
  await expect.poll(open, { timeout: 10_000 }).toBeLessThanOrEqual(2)
  clearInterval(trickle)
  await expect.poll(open, { timeout: 10_000 }).toBe(0)
  await pool.close()
})
