/**
 * Probation: who enters the register without a step-up opens no further door for a day. Spec: decisions 7, Probation;
 * docs/decisions/0130. The first test is the attack of a stolen operator's token, from its beginning to its end.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import {
  type Callers,
  callers,
  joinedWorkspace,
  type Person,
  plantAccount,
  plantToken,
  redeem,
} from '../kit/accounts.ts'
import type { Caller } from '../kit/callers.ts'
import { freshSlug, password, provisionBody, type TestInstallation, testInstallation } from '../kit/installation.ts'

const { addOperator, createServiceAccount, createToken, listOperators, removeOperator } = operations

let own: TestInstallation
let who: Callers
/** The operator's own session, for the step-ups of its person. */
let asOperator: Caller
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  asOperator = who.as(who.operator.session.access_token)
})
afterAll(async () => {
  await who.close()
  await own.close()
})
beforeEach(() => own.oracle`delete from operator where account_id <> ${who.operator.accountId}`)

const onProbation = { code: 'admin.operator_on_probation', status: 403, params: { until: expect.stringMatching(/Z$/) } }
const register = async () => (await who.recovery.call(listOperators)).data
const probationOf = async (accountId: string) =>
  (await register()).find((operator) => operator.account_id === accountId)?.probation_until

/** A proof by the password, for one operation, as the command line asks for it. */
const prove = async (caller: Caller, operation: Operation, targetId?: string) =>
  (
    await caller.call(operations.stepUp, {
      body: { password, operation: operation.id, ...(targetId ? { target_id: targetId } : {}) },
    })
  ).step_up_token

/** A proof of the operator's token itself: its person has the password. */
const provenByOperator = (operation: Operation, targetId?: string) => prove(who.api, operation, targetId)

const adminToken = { name: 'more', scopes: ['admin:tenants' as const] }

test("a stolen operator's token alone makes no full operator, and removes none of the last who can act", async () => {
  const stolen = who.as((await plantToken(own, who.operator, { scopes: ['admin:tenants'] })).token)
  const slug = freshSlug('thief')
  const made = await stolen.call(operations.provisionTenant, { body: provisionBody(slug) })
  const thief = who.as((await redeem(own, made)).access_token)
  const accountId = made.owner.account_id
  await stolen.call(addOperator, { body: { account_id: accountId } })
  expect((await register()).map((operator) => operator.account_id)).toContain(accountId)

  const forItself = await prove(thief, createToken)
  await expect(thief.call(createToken, { body: adminToken, stepUp: forItself })).rejects.toMatchObject(onProbation)
  const forAnother = await prove(thief, createServiceAccount)
  await expect(
    thief.call(createServiceAccount, { body: { ...adminToken, role: 'MEMBER' }, stepUp: forAnother }),
  ).rejects.toMatchObject(onProbation)

  const home = who.operator.tenantId
  for (const [operation, sent] of [
    [operations.deleteTenant, { tenantId: home, body: { confirmation: 'First' } }],
    [operations.openPassword, { tenantId: home, body: { requester: 'nobody', reason: 'none' } }],
    [operations.createBackupTarget, { body: { name: 'mine', kind: 'LOCAL', config: { path: 'mine' } } }],
  ] as const)
    await expect(stolen.call(operation as Operation, sent as never)).rejects.toMatchObject({
      code: 'auth.step_up_required',
    })
  await expect(stolen.call(removeOperator, { accountId: who.operator.accountId })).rejects.toMatchObject({
    code: 'admin.operator_last',
  })
  await expect(stolen.call(operations.suspendTenant, { tenantId: home })).rejects.toMatchObject({
    code: 'admin.operator_last',
  })

  const stepUp = await provenByOperator(removeOperator, accountId)
  await who.api.call(removeOperator, { accountId, stepUp })
  expect((await register()).map((operator) => operator.account_id)).toEqual([who.operator.accountId])
})

describe('entering the register', () => {
  let other: Person
  beforeEach(async () => {
    other = await joinedWorkspace(own)
  })
  const add = (more: object = {}) => who.api.call(addOperator, { body: { account_id: other.accountId }, ...more })

  test('without a step-up begins a probation of 24 hours by the database, which is listed until it ends', async () => {
    await add()
    const [row] = await own.oracle`
      select date_trunc('milliseconds', added_at) + interval '24 hours' = probation_until as is_a_day
      from operator where account_id = ${other.accountId}`
    expect(row).toEqual({ is_a_day: true })
    expect(await probationOf(other.accountId)).toMatch(/Z$/)
    await own.oracle`update operator set probation_until = now() where account_id = ${other.accountId}`
    expect(await probationOf(other.accountId)).toBeNull()
  })

  test('with a step-up is full at once', async () => {
    await add({ stepUp: await provenByOperator(addOperator) })
    expect(await probationOf(other.accountId)).toBeNull()
  })

  test('at the database is full at once', async () => {
    await who.recovery.call(addOperator, { body: { account_id: other.accountId } })
    expect(await probationOf(other.accountId)).toBeNull()
    expect(await probationOf(who.operator.accountId), 'and so is whom the set-up entered').toBeNull()
  })

  test('once more ends a probation with a step-up, and changes nothing without one', async () => {
    await add()
    const until = await probationOf(other.accountId)
    await add()
    expect(await probationOf(other.accountId)).toBe(until)
    await add({ stepUp: await provenByOperator(addOperator) })
    expect(await probationOf(other.accountId)).toBeNull()
    await add()
    expect(await probationOf(other.accountId), 'a full one stays full').toBeNull()
    const journal = await own.oracle`
      select params ->> 'probation_until' is not null as is_on_probation from journal
      where action = 'operator.added' and subject_id = ${other.accountId} order by id`
    expect([...journal].map((row) => row['is_on_probation'])).toEqual([true, false])
  })

  test('while it is empty makes the caller full, and whom it names besides only with a step-up', async () => {
    await own.oracle`delete from operator`
    await add()
    expect(await probationOf(who.operator.accountId)).toBeNull()
    expect(await probationOf(other.accountId)).toMatch(/Z$/)
    await own.oracle`delete from operator`
    await add({ stepUp: await provenByOperator(addOperator) })
    expect(await probationOf(other.accountId)).toBeNull()
  })

  test('a proof that is sent is spent, once, and a bad one is refused', async () => {
    for (const stepUp of [
      'svcu_nothing',
      mintToken('stepUp').token,
      await provenByOperator(removeOperator),
      await prove(asOperator, addOperator), // bound to the session, and not to this token
    ])
      await expect(add({ stepUp })).rejects.toMatchObject({ code: 'auth.step_up_required', status: 401 })
    expect(await probationOf(other.accountId)).toBeUndefined()
    const stepUp = await provenByOperator(addOperator)
    await add({ stepUp })
    await expect(add({ stepUp })).rejects.toMatchObject({ code: 'auth.step_up_required' })
    await expect(
      who.api.call(removeOperator, { accountId: other.accountId, stepUp: 'svcu_nothing' }),
    ).rejects.toMatchObject({ code: 'auth.step_up_required' })
  })
})

describe('whoever is on probation', () => {
  let other: Person
  let token: string
  beforeEach(async () => {
    other = await joinedWorkspace(own)
    token = (await plantToken(own, other, { scopes: ['workspace:read', 'workspace:admin', 'admin:tenants'] })).token
    await who.api.call(addOperator, { body: { account_id: other.accountId } })
  })

  test('is served like any operator', async () => {
    expect((await who.as(token).call(listOperators)).data).toHaveLength(2)
    await who.as(token).call(operations.provisionTenant, { body: provisionBody() })
  })

  test('does not change the register, with a step-up or without, not even its own row', async () => {
    const { accountId } = await plantAccount(own, other.tenantId)
    const theirs = who.as(token)
    for (const [operation, sent, target] of [
      [addOperator, { body: { account_id: accountId } }, undefined],
      [addOperator, { body: { account_id: other.accountId } }, undefined],
      [removeOperator, { accountId: who.operator.accountId }, who.operator.accountId],
      [removeOperator, { accountId: other.accountId }, other.accountId],
    ] as const) {
      const proof = await prove(theirs, operation, target)
      for (const stepUp of [undefined, proof])
        await expect(theirs.call(operation as Operation, { ...sent, stepUp } as never)).rejects.toMatchObject(
          onProbation,
        )
    }
    expect(await register()).toHaveLength(2)
  })

  test('is told so before its proof is looked at, and serves again when the probation has ended', async () => {
    const theirs = who.as(token)
    const minting = { body: adminToken }
    await expect(theirs.call(createToken, minting)).rejects.toMatchObject(onProbation)
    const stepUp = await prove(theirs, createToken)
    await expect(theirs.call(createToken, { ...minting, stepUp })).rejects.toMatchObject(onProbation)
    await own.oracle`update operator set probation_until = now() where account_id = ${other.accountId}`
    expect((await theirs.call(createToken, { ...minting, stepUp })).token).toMatch(/^svcp_/)
  })

  test('mints tokens of its workspace as before', async () => {
    const body = { name: 'own', scopes: ['workspace:read' as const] }
    expect((await who.as(other.session.access_token).call(createToken, { body })).token).toMatch(/^svcp_/)
  })

  test('keeps nobody from being the last who can act, and so is somebody whose workspace is suspended or account disabled', async () => {
    const last = { code: 'admin.operator_last', status: 409 }
    const leave = () => who.api.call(removeOperator, { accountId: who.operator.accountId })
    await expect(leave()).rejects.toMatchObject(last)
    await own.oracle`update operator set probation_until = null where account_id = ${other.accountId}`
    await own.oracle`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${other.tenantId}`
    await expect(leave()).rejects.toMatchObject(last)
    await own.oracle`update tenant set state = 'ACTIVE', suspended_at = null where id = ${other.tenantId}`
    await own.oracle`update account set state = 'DISABLED' where id = ${other.accountId}`
    await expect(leave()).rejects.toMatchObject(last)
    await own.oracle`update account set state = 'ACTIVE' where id = ${other.accountId}`
    await leave()
    expect((await register()).map((operator) => operator.account_id)).toEqual([other.accountId])
    await who.recovery.call(addOperator, { body: { account_id: who.operator.accountId } })
  })

  test('a service account counts as somebody who can act while it has a token for it', async () => {
    await own.oracle`delete from operator where account_id <> ${who.operator.accountId}`
    const { accountId } = await plantAccount(own, other.tenantId, 'MEMBER', 'SERVICE')
    await who.recovery.call(addOperator, { body: { account_id: accountId } })
    const leave = () => who.api.call(removeOperator, { accountId: who.operator.accountId })
    await expect(leave()).rejects.toMatchObject({ code: 'admin.operator_last' })
    await plantToken(own, { ...other, accountId }, { kind: 'service', scopes: ['admin:tenants'] })
    await leave()
    await who.recovery.call(addOperator, { body: { account_id: who.operator.accountId } })
  })
})

/** Every operation that demands a step-up of whatever body; those for a second factor are anybody's own affair. */
const demanding = Object.values(operations as Readonly<Record<string, Operation>>).filter(
  ({ needs }) => 'stepUp' in needs && needs.stepUp === true && !('withoutSecondFactor' in needs),
)

test.each(demanding.map((operation) => [operation.id, operation] as const))(
  '%s refuses whoever is on probation, whatever is sent',
  async (_, operation) => {
    const { needs } = operation
    const { accountId, tenantId } = await plantAccount(own, who.operator.tenantId, 'OWNER')
    const scopes = ['workspace:read', 'workspace:write', 'workspace:admin', 'admin:tenants'] as const
    const kept = needs.caller === 'workspace' ? scopes.slice(0, 3) : scopes
    const { token } = await plantToken(own, { tenantId, accountId }, { scopes: kept })
    await who.api.call(addOperator, { body: { account_id: accountId } })
    const path = operation.path.replace(/\{\w+\}/g, randomUUIDv7())
    const response = await fetch(`${who.daemon.url}${path}`, {
      method: operation.method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(operation.body ? { 'content-type': 'application/json' } : {}),
      },
      ...(operation.body ? { body: '{}' } : {}),
    })
    const { code, params } = (await response.json()) as { code: string; params: unknown }
    // An empty body is refused by its schema, which comes first.
    if (response.status === 422) expect(code).toBe('request.invalid')
    else expect({ status: response.status, code, params }).toMatchObject(onProbation)
  },
)
