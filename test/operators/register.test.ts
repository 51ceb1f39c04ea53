/** The operator register. Spec: Admin, rules 2 and 3; Authentication, 3 and 7; decisions 4. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import {
  type Callers,
  callers,
  joinedWorkspace,
  modes,
  type Person,
  plantAccount,
  plantToken,
} from '../kit/accounts.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const { addOperator, listOperators, removeOperator, listTenants } = operations

let own: TestInstallation
let who: Callers
let other: Person
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  other = await joinedWorkspace(own)
})
afterAll(async () => {
  await who.close()
  await own.close()
})
beforeEach(async () => {
  await own.oracle`delete from operator where account_id <> ${who.operator.accountId}`
  await own.oracle`delete from journal where action like 'operator.%'`
})

const register = async () =>
  (await own.oracle`select account_id from operator order by added_at, account_id`).map(
    (row) => row['account_id'] as string,
  )
const journal = async () =>
  [
    ...(await own.oracle`select action, subject_id, workspace_id from journal where action like 'operator.%' order by id`),
  ].map((row) => ({ ...row }))

describe.each(modes)('by %s', (mode) => {
  const add = (body: object) => who[mode].call(addOperator, { body })
  const remove = (accountId: string) => who[mode].call(removeOperator, { accountId })

  test('an account is entered by its id, listed, and journalled', async () => {
    await add({ account_id: other.accountId })
    const { data } = await who[mode].call(listOperators)
    expect(data).toHaveLength(2)
    expect(data[1]).toEqual({
      account_id: other.accountId,
      name: 'Owen Owner',
      address: other.email,
      sign_in_name: other.email,
      kind: 'PERSON',
      workspace: { id: other.tenantId, slug: other.slug },
      added_at: expect.stringMatching(/Z$/),
      added_by: mode === 'api' ? who.operator.accountId : null,
      probation_until: mode === 'api' ? expect.stringMatching(/Z$/) : null,
    })
    expect(await journal()).toEqual([
      { action: 'operator.added', subject_id: other.accountId, workspace_id: other.tenantId },
    ])
  })

  test('by workspace and address, compared without regard to case', async () => {
    await add({ workspace: other.slug, email: other.email.toUpperCase() })
    expect(await register()).toContain(other.accountId)
  })

  test('by workspace and sign-in name, where there is no address', async () => {
    const { accountId } = await plantAccount(own, other.tenantId)
    const name = `n${accountId}`
    await own.oracle`
      update account set email = null, email_fold = null, sign_in_name = ${name} where id = ${accountId}`
    await add({ workspace: other.slug, email: name })
    expect(await register()).toContain(accountId)
  })

  test('entering one that is there is no error and leaves nothing', async () => {
    await add({ account_id: other.accountId })
    await add({ account_id: other.accountId })
    expect(await register()).toHaveLength(2)
    expect(await journal()).toHaveLength(1)
  })

  test.each([
    [{}, '/workspace'],
    [{ workspace: 'abc' }, '/email'],
    [{ email: 'a@b.example' }, '/workspace'],
    [{ account_id: 'not an id' }, '/account_id'],
    [{ account_id: '0190c9d2-7a3b-7cde-8f01-23456789abcd', email: 'a@b.example' }, '/account_id'],
  ])('%j names no account: refused at %s', async (body, pointer) => {
    await expect(add(body)).rejects.toMatchObject({ code: 'request.invalid', errors: [{ pointer }] })
  })

  test('an account, a workspace or an address nobody knows is not_found', async () => {
    for (const body of [
      { account_id: randomUUID() },
      { workspace: 'nobody', email: other.email },
      { workspace: other.slug, email: 'nobody@nowhere.example' },
    ])
      await expect(add(body)).rejects.toMatchObject({ code: 'not_found', status: 404 })
  })

  test.each(['INVITED', 'DISABLED'])('an account that is %s cannot be one', async (state) => {
    const { accountId } = await plantAccount(own, other.tenantId)
    await own.oracle`update account set state = ${state} where id = ${accountId}`
    await expect(add({ account_id: accountId })).rejects.toMatchObject({
      code: 'admin.operator_not_active',
      status: 409,
    })
    expect(await register()).not.toContain(accountId)
  })

  test('a service account may be one, and acts with its token', async () => {
    const { accountId } = await plantAccount(own, other.tenantId, 'MEMBER', 'SERVICE')
    const { token } = await plantToken(own, { ...other, accountId }, { kind: 'service', scopes: ['admin:tenants'] })
    await expect(who.as(token).call(listTenants)).rejects.toMatchObject({ code: 'admin.operator_required' })
    await add({ account_id: accountId })
    expect((await who.as(token).call(listTenants)).data.length).toBeGreaterThan(1)
    const { data } = await who[mode].call(listOperators)
    expect(data.find((row) => row.account_id === accountId)).toMatchObject({
      kind: 'SERVICE',
      address: null,
      sign_in_name: 'Planted',
    })
  })

  test('a removed one is refused from the next call on, and it is journalled', async () => {
    await add({ account_id: other.accountId })
    const { token } = await plantToken(own, other, { scopes: ['admin:tenants'] })
    await who.as(token).call(listTenants)
    await remove(other.accountId)
    await expect(who.as(token).call(listTenants)).rejects.toMatchObject({
      code: 'admin.operator_required',
      status: 403,
    })
    expect((await journal()).at(-1)).toEqual({
      action: 'operator.removed',
      subject_id: other.accountId,
      workspace_id: other.tenantId,
    })
  })

  test('one that is not registered cannot be removed, whoever it is', async () => {
    for (const accountId of [other.accountId, randomUUID()])
      await expect(remove(accountId)).rejects.toMatchObject({ code: 'admin.operator_not_registered', status: 404 })
  })

  test('the last one stays', async () => {
    await expect(remove(who.operator.accountId)).rejects.toMatchObject({ code: 'admin.operator_last', status: 409 })
    expect(await register()).toEqual([who.operator.accountId])
    expect(await journal()).toEqual([])
  })

  test('of many that are removed at once, one is left', async () => {
    const accounts = await Promise.all(Array.from({ length: 6 }, () => plantAccount(own, other.tenantId)))
    for (const { accountId } of accounts) await add({ account_id: accountId })
    await own.oracle`delete from operator where account_id = ${who.operator.accountId}`
    const outcomes = await Promise.allSettled(
      accounts.map(({ accountId }) => own.asRecovery(removeOperator, { accountId })),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    expect(await register()).toHaveLength(1)
    await own.oracle`insert into operator (account_id, workspace_id) values (${who.operator.accountId}, ${who.operator.tenantId})`
  })
})

describe('while the register is empty', () => {
  beforeEach(() => own.oracle`delete from operator`)
  const restore = () =>
    own.oracle`insert into operator (account_id, workspace_id) values (${who.operator.accountId}, ${who.operator.tenantId}) on conflict do nothing`

  test('the caller is entered with the account, and both are journalled', async () => {
    await who.api.call(addOperator, { body: { account_id: other.accountId } })
    expect((await register()).sort()).toEqual([who.operator.accountId, other.accountId].sort())
    expect((await journal()).map(({ subject_id }) => subject_id as string).sort()).toEqual(
      [who.operator.accountId, other.accountId].sort(),
    )
    const rows = await own.oracle`select distinct added_by, added_at from operator`
    expect(rows.map((row) => row['added_by'] as string)).toEqual([who.operator.accountId]) // one moment, one statement
  })

  test('a caller who names himself is entered once', async () => {
    await who.api.call(addOperator, { body: { account_id: who.operator.accountId } })
    expect(await register()).toEqual([who.operator.accountId])
    expect(await journal()).toHaveLength(1)
  })

  test('a refused entry leaves it empty', async () => {
    await expect(who.api.call(addOperator, { body: { account_id: randomUUID() } })).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(await register()).toEqual([])
  })

  test('every other admin operation is refused, the scope notwithstanding', async () => {
    const refused = { code: 'admin.operator_required' }
    await expect(who.api.call(listTenants)).rejects.toMatchObject(refused)
    await expect(who.api.call(listOperators)).rejects.toMatchObject(refused)
    await expect(who.api.call(removeOperator, { accountId: other.accountId })).rejects.toMatchObject(refused)
    await restore()
  })

  test('the operator at the database enters just the account', async () => {
    await own.asRecovery(addOperator, { body: { account_id: other.accountId } })
    expect(await register()).toEqual([other.accountId])
    await restore()
  })
})
