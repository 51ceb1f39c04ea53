/** A recovery gives an operator on probation back as one on probation. Spec: decisions 7, Probation; docs/decisions/0130. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repeatSteps } from '../../src/core/areas/recovery/apply.ts'
import { planReconciliation, readLedgers } from '../../src/core/areas/recovery/reconcile.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type Callers, callers, joinedWorkspace } from '../kit/accounts.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const { addOperator, listOperators } = operations

let own: TestInstallation
let who: Callers
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const probations = async () =>
  Object.fromEntries(
    (await who.recovery.call(listOperators)).data.map(({ account_id, probation_until }) => [
      account_id,
      probation_until,
    ]),
  )

test('what the ledger says of a probation is given back, and a full operator is full again', async () => {
  const { oracle, installation } = own
  const [entered, promoted] = [await joinedWorkspace(own), await joinedWorkspace(own)]
  for (const { accountId } of [entered, promoted]) await who.api.call(addOperator, { body: { account_id: accountId } })
  await who.recovery.call(addOperator, { body: { account_id: promoted.accountId } })
  const before = await probations()
  expect(before).toMatchObject({ [entered.accountId]: expect.any(String), [promoted.accountId]: null })

  await oracle`delete from operator where account_id in (${entered.accountId}, ${promoted.accountId})`
  const { desired } = await readLedgers(installation)
  const steps = await planReconciliation(installation, desired)
  expect(steps.map(({ what }) => what)).toEqual(['operator.add', 'operator.add'])
  const recoveryPoint = new Date().toISOString()
  await repeatSteps({ installation, actor: recoveryActor(), desired, recoveryPoint }, steps)
  expect(await probations()).toEqual(before)
  expect(await planReconciliation(installation, (await readLedgers(installation)).desired)).toEqual([])
})
