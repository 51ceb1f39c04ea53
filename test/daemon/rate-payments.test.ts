/** Debts of requests: paid for together, and each of them once. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openPool, type Pool } from '../../src/core/kernel/database/pool.ts'
import { Payments } from '../../src/daemon/rate-payments.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'

let db: TestDatabase
let pool: Pool
let payments: Payments

beforeAll(async () => {
  db = await testDatabase()
  pool = openPool(db.daemon, { size: 4, applicationName: 'payments' })
})
beforeEach(() => {
  payments = new Payments(pool)
})
afterAll(async () => {
  await pool.close()
  await db.drop()
})

const workspaces = (count: number) => Array.from({ length: count }, () => crypto.randomUUID())

/** For how many seconds each is paid, by the clock of its last payment. */
async function paid(tenantIds: readonly string[]): Promise<number[]> {
  const rows = await db.sql<{ tenant_id: string; seconds: number }[]>`
    select tenant_id, extract(epoch from paid_until - now())::float8 as seconds from request_rate
    where tenant_id in ${db.sql([...tenantIds])}`
  const byId = new Map(rows.map(({ tenant_id, seconds }) => [tenant_id, seconds]))
  return tenantIds.map((tenantId) => byId.get(tenantId) ?? 0)
}

test('debts of many workspaces and several limits are paid for, each by its price', async () => {
  const limits = [6, 3, 4]
  const owing = workspaces(100).map((tenantId, n) => ({ tenantId, limit: limits[n % 3]! }))
  const settled = owing.map(({ tenantId, limit }) => payments.owe(tenantId, limit))
  const lent = pool.counts.lent
  payments.settle()
  expect(await Promise.all(settled)).toEqual(owing.map(() => true))
  expect(pool.counts.lent - lent).toBe(1)
  const seconds = await paid(owing.map(({ tenantId }) => tenantId))
  for (const [at, { limit }] of owing.entries()) {
    expect(seconds[at]).toBeGreaterThan(60 / limit - 3)
    expect(seconds[at]).toBeLessThanOrEqual(60 / limit)
  }
})

test('whoever has no plenty left is told so, and is charged all the same', async () => {
  const [rich, poor] = workspaces(2) as [string, string]
  await db.sql`insert into request_rate values (${rich}, now()), (${poor}, now() + interval '90 seconds')`
  const settled = [payments.owe(rich, 6), payments.owe(poor, 6)]
  expect(await Promise.all(settled)).toEqual([true, false])
  const [, seconds] = await paid([rich, poor])
  expect(seconds).toBeGreaterThan(95)
})

test('what is owed while others are being paid for is paid for after them, at once if somebody waits', async () => {
  const [first, second] = workspaces(2) as [string, string]
  const before = payments.owe(first, 6)
  payments.settle()
  const after = payments.owe(second, 6)
  payments.settle()
  expect(await Promise.all([before, after])).toEqual([true, true])
  for (const seconds of await paid([first, second])) expect(seconds).toBeGreaterThan(5)
})

test('a row that somebody holds delays the others for a second at most, and nobody is believed after that', async () => {
  const [held, other] = workspaces(2) as [string, string]
  await db.sql`insert into request_rate values (${held}, now())`
  await db.sql.begin(async (tx) => {
    await tx`select from request_rate where tenant_id = ${held} for update`
    expect(await Promise.all([payments.owe(held, 6), payments.owe(other, 6)])).toEqual([false, false])
  })
  expect(await payments.owe(other, 6)).toBe(true)
})

test('the debt of an earlier limit ends when the workspace owes by a new one', async () => {
  const [tenantId] = workspaces(1) as [string]
  expect(await Promise.all([payments.owe(tenantId, 6), payments.owe(tenantId, 12)])).toEqual([false, true])
  const [seconds] = await paid([tenantId])
  expect(seconds).toBeLessThanOrEqual(5)
})
