/** Evidence is sent and not awaited: the commit fails if it fails, and what it would have proved is not there. Decision 0176. */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { purgeTenant } from '../../../src/core/areas/tenants/jobs.ts'
import { refuse } from '../../../src/core/contract/problem.ts'
import { TransactionOver } from '../../../src/core/kernel/database/transaction.ts'
import { readLedger } from '../../../src/core/kernel/ledger/ledger.ts'
import type { Ctx } from '../../../src/core/kernel/transaction/context.ts'
import { recoveryActor } from '../../../src/core/kernel/values/actor.ts'
import { openDesk } from '../../items/desk.ts'
import { joinedWorkspace } from '../../kit/accounts.ts'
import { type TestInstallation, testInstallation } from '../../kit/installation.ts'

let own: TestInstallation
let tenantId: string
beforeAll(async () => {
  own = await testInstallation()
  tenantId = (await joinedWorkspace(own)).tenantId
})
afterAll(() => own.close())

const write = (work: (ctx: Ctx) => Promise<unknown>) =>
  own.installation.transaction(recoveryActor(), { tenantId }, async (ctx) => {
    await ctx.tx`update tenant_quota set ceiling = 5 where tenant_id = ${tenantId}`
    await ctx.audit('a.first')
    return work(ctx)
  })
const entries = async () => (await own.oracle`select 1 from audit_entry where action = 'a.first'`).length
const readLedgerText = () => {
  const { file } = own.installation.ledger
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
const readLedgerNow = async () => readLedger(own.installation.ledger.file, own.installation.keyring)
/** A statement that nobody awaits, and that fails. */
const fail = (ctx: Ctx) => void ctx.tx`select ${'no uuid'}::uuid`
const broken = { subject: { kind: 'item', id: 'no uuid' } }

test('an entry that cannot be written undoes the change, also if the rule has returned', async () => {
  await expect(write((ctx) => ctx.audit('a.second', broken))).rejects.toMatchObject({ code: '22P02' })
  expect(await entries()).toBe(0)
})

test('a job that is asked for after the commit was sent is refused, and not lost in silence', async () => {
  let late: Promise<void> | undefined
  await own.installation.transaction(recoveryActor(), { tenantId }, async (ctx) => {
    late = setTimeout(20).then(() => ctx.enqueue(purgeTenant, { tenantId }))
    late.catch(() => {})
  })
  await expect(late).rejects.toThrow(TransactionOver)
})

test('`settled` tells of it before the commit', async () => {
  const order: string[] = []
  const failed = write(async (ctx) => {
    fail(ctx)
    order.push('sent')
    await ctx.tx.settled().catch((error: { code: string }) => order.push(error.code))
  })
  await expect(failed).rejects.toMatchObject({ code: '22P02' })
  expect(order).toEqual(['sent', '22P02'])
  expect(await entries()).toBe(0)
})

test('an act of which a statement failed leaves no line in the ledger', async () => {
  const before = readLedgerText()
  const failed = write(async (ctx) => {
    ctx.recordObligation({ act: 'operator.removed', tenant_id: tenantId, account_id: randomUUID() })
    fail(ctx)
  })
  await expect(failed).rejects.toMatchObject({ code: '22P02' })
  expect(readLedgerText()).toBe(before)
})

test.each([
  ['whose evidence cannot be written', (ctx: Ctx) => ctx.audit('a.second', broken)],
  [
    'that was written ahead and then failed',
    async (ctx: Ctx) => {
      ctx.writeAhead()
      fail(ctx)
    },
  ],
  [
    'that was written ahead and then refused',
    async (ctx: Ctx) => {
      ctx.writeAhead()
      refuse('not_found')
    },
  ],
])('an act %s is void in the ledger', async (_, end) => {
  const { obligations: before, voided } = await readLedgerNow()
  const id = randomUUID()
  const failed = write(async (ctx) => {
    ctx.recordObligation({ act: 'operator.removed', tenant_id: tenantId, account_id: id })
    await end(ctx)
  })
  await expect(failed).rejects.toThrow()
  const after = await readLedgerNow()
  expect(after.obligations).toEqual(before)
  expect(after.voided.size).toBe(voided.size + 1)
})

test('what can be written is, with the change', async () => {
  await write(async (ctx) => ctx.tx.settled())
  expect(await entries()).toBe(1)
})

test('what is written ahead is on the disk before the commit, and done behind it', async () => {
  const id = randomUUID()
  const act = { act: 'operator.removed', tenant_id: tenantId, account_id: id } as const
  let meanwhile: unknown
  await write(async (ctx) => {
    ctx.recordObligation(act)
    ctx.writeAhead()
    await expect.poll(async () => (await readLedgerNow()).obligations.at(-1)?.act).toEqual(act)
    meanwhile = (await readLedgerNow()).obligations.at(-1)?.isSettled
  })
  expect(meanwhile).toBe(false)
  expect((await readLedgerNow()).obligations.at(-1)).toMatchObject({ act, isSettled: true })
})

test('a refusal by a tally is stored under its key, although the rule did not await it', async () => {
  const desk = await openDesk()
  const { sql } = desk.daemon.db
  const post = (key: string) =>
    desk.ask('POST /items', { container_id: desk.collectionId, title: 'x' }, { headers: { 'idempotency-key': key } })
  const key = randomUUID()
  try {
    await desk.item()
    await sql`insert into tenant_quota values (${desk.tenantId}, 'items', 1)`
    expect(await post(key)).toMatchObject({
      status: 409,
      json: { code: 'quota.exceeded', params: { limit: 1, used: 1 } },
    })
    await sql`update tenant_quota set ceiling = 2 where tenant_id = ${desk.tenantId} and quota = 'items'`
    const again = await post(key)
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([409, 'true'])
    expect((await post(randomUUID())).status).toBe(201)
  } finally {
    await desk.close()
  }
})
