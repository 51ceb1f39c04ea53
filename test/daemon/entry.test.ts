/** Work that begins before its caller is confirmed: it learns nothing until then, and each attempt is confirmed anew. Decision 0175. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { asInstallation } from '../../src/core/kernel/database/roles.ts'
import type { Entry } from '../../src/core/kernel/transaction/installation.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { Misjudged, openGate } from '../../src/daemon/gate.ts'
import { openHeldRefusals } from '../../src/daemon/held-refusals.ts'
import { openRate } from '../../src/daemon/rate.ts'
import { openSourceRate } from '../../src/daemon/source-rate.ts'
import { joinedWorkspace, type Person } from '../kit/accounts.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
let person: Person
beforeAll(async () => {
  own = await testInstallation()
  person = await joinedWorkspace(own)
})
afterAll(() => own.close())

const refusing: Entry = async (tx) => {
  await tx`select 1`
  await pause(20)
  throw new Error('not this caller')
}

describe.each([true, false])('where the work only reads: %s', (readOnly) => {
  const run = (entry: Entry, learn: (row: unknown) => void) =>
    own.installation.transaction(recoveryActor(), { tenantId: person.tenantId, readOnly, entry }, async ({ tx }) => {
      const ask = readOnly ? tx.last : tx
      const [row] = await ask<{ workspace: string }[]>`select current_tenant()::text as workspace`
      learn(row)
    })

  test('it gets no row if its caller is refused', async () => {
    const learnt: unknown[] = []
    await expect(run(refusing, (row) => learnt.push(row))).rejects.toThrow('not this caller')
    await pause(50)
    expect(learnt).toEqual([])
  })

  test('it gets its rows after its caller is confirmed, as its workspace', async () => {
    const order: unknown[] = []
    const confirming: Entry = async (tx) => {
      await tx`select 1`
      await pause(20)
      order.push('confirmed')
      return { hasWebhooks: true }
    }
    await run(confirming, (row) => order.push(row))
    expect(order).toEqual(['confirmed', { workspace: person.tenantId }])
  })
})

test('work in a workspace that is not ACTIVE gets no row, and no other refusal is passed on', async () => {
  const { oracle, installation } = own
  await oracle`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${person.tenantId}`
  const learnt: unknown[] = []
  const options = { tenantId: person.tenantId, admits: true }
  const work = installation.transaction(recoveryActor(), options, async ({ tx }) => {
    learnt.push(await tx`select 1`)
    throw new Error('of the work')
  })
  await expect(work).rejects.toMatchObject({ code: 'tenant_suspended' })
  await pause(20)
  expect(learnt).toEqual([])
  await oracle`update tenant set state = 'ACTIVE', suspended_at = null where id = ${person.tenantId}`
})

test('a second verdict does not replace one that is not there yet', async () => {
  const learnt: unknown[] = []
  const work = own.installation.transaction(recoveryActor(), { tenantId: person.tenantId }, async ({ tx }) => {
    tx.withhold(pause(20).then(() => Promise.reject(new Error('the first'))))
    tx.withhold(Promise.resolve())
    learnt.push(await tx`select 1`)
  })
  await expect(work).rejects.toThrow('the first')
  expect(learnt).toEqual([])
})

test('a second attempt of the transaction is confirmed anew', async () => {
  const { installation } = own
  const gate = openGate(installation, openRate(installation.pool), openSourceRate(0, openHeldRefusals()))
  const heard = { headers: { authorization: `Bearer ${person.session.access_token}` }, socket: {} }
  await gate.admit(operations.getOwnAccount, heard)
  const foreseen = gate.foresee(operations.getOwnAccount, heard)!
  const enter = () =>
    installation.pool.transaction(asInstallation, (tx) => foreseen.entry(tx, false), { readOnly: true })
  await enter()
  expect(foreseen.isConfirmed).toBe(true)
  await own.oracle`update membership set role = 'VIEWER' where account_id = ${person.accountId}`
  await expect(enter()).rejects.toThrow(Misjudged)
  expect(foreseen.isConfirmed).toBe(false)
})
