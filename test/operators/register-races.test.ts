/** The register under callers who act at the same moment. Threats T-06. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, plantAccount, plantToken } from '../kit/accounts.ts'
import type { Caller } from '../kit/callers.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const { addOperator, removeOperator, listOperators } = operations
const rounds = 200
const crowd = 5

interface Rival {
  readonly accountId: string
  readonly caller: Caller
}

let own: TestInstallation
let who: Callers
let rivals: Rival[]
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  rivals = await Promise.all(
    Array.from({ length: crowd }, async () => {
      const account = await plantAccount(own, who.operator.tenantId, 'OWNER')
      const { token } = await plantToken(own, account, { scopes: ['admin:tenants'] })
      return { accountId: account.accountId, caller: who.as(token) }
    }),
  )
})
afterAll(async () => {
  await who.close()
  await own.close()
})

async function fill(...accounts: readonly Rival[]): Promise<void> {
  await own.oracle`delete from operator`
  for (const { accountId } of accounts)
    await own.oracle`insert into operator (account_id, workspace_id) values (${accountId}, ${who.operator.tenantId})`
}
const register = async () =>
  (await own.oracle`select account_id from operator`).map((row) => row['account_id'] as string)
const codesOf = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'passed' : (outcome.reason as { code: string }).code))

test(`of ${crowd} who enter themselves in an empty register at once, one does: ${rounds} times`, async () => {
  for (let round = 0; round < rounds; round += 1) {
    await fill()
    const outcomes = await Promise.allSettled(
      rivals.map(({ caller, accountId }) => caller.call(addOperator, { body: { account_id: accountId } })),
    )
    const codes = codesOf(outcomes)
    expect(codes.filter((code) => code === 'passed')).toHaveLength(1)
    expect(codes.filter((code) => code === 'admin.operator_required')).toHaveLength(crowd - 1)
    expect(await register()).toEqual([rivals[codes.indexOf('passed')]!.accountId])
  }
}, 120_000)

test(`of two last operators who remove each other, one stays, and the other's next call is refused: ${rounds} times`, async () => {
  const [one, two] = rivals as [Rival, Rival]
  for (let round = 0; round < rounds; round += 1) {
    await fill(one, two)
    const codes = codesOf(
      await Promise.allSettled([
        one.caller.call(removeOperator, { accountId: two.accountId }),
        two.caller.call(removeOperator, { accountId: one.accountId }),
      ]),
    )
    expect(codes.filter((code) => code === 'passed')).toHaveLength(1)
    // The later one is told at the register, or at the gate already.
    expect(['admin.operator_last', 'admin.operator_required']).toContain(codes.find((code) => code !== 'passed'))
    const [stayed, gone] = codes[0] === 'passed' ? [one, two] : [two, one]
    expect(await register()).toEqual([stayed.accountId])
    await expect(gone.caller.call(listOperators)).rejects.toMatchObject({ code: 'admin.operator_required' })
  }
}, 120_000)

test(`of two last operators who each remove themselves, the later one is the last: ${rounds / 4} times`, async () => {
  const [one, two] = rivals as [Rival, Rival]
  for (let round = 0; round < rounds / 4; round += 1) {
    await fill(one, two)
    const codes = codesOf(
      await Promise.allSettled([one, two].map(({ caller, accountId }) => caller.call(removeOperator, { accountId }))),
    )
    expect(codes.sort()).toEqual(['admin.operator_last', 'passed'])
    expect(await register()).toHaveLength(1)
  }
}, 60_000)
