/** What spends a proof and what leaves it: any call that gets past token, scope, register and schema spends it, also when it is then refused. T-08. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, plantToken } from '../kit/accounts.ts'
import { request } from '../kit/callers.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
let who: Callers
let active: string
let suspended: string
let leaving: string
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  const made = await Promise.all([own.provision(), own.provision(), own.provision()])
  ;[active, suspended, leaving] = made.map(({ tenant }) => tenant.id) as [string, string, string]
  await own.oracle`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${suspended}`
  await own.oracle`
    update tenant set state = 'PENDING_DELETION', state_before_deletion = 'ACTIVE', deletion_requested_at = now(),
           purge_after = now() + interval '30 days' where id = ${leaving}`
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const nobody = '0190c9d2-7a3b-7cde-8f01-23456789abcd'
const opening = { requester: 'Ada', reason: 'their provider is down' }

interface Row {
  readonly name: string
  readonly operation: Operation
  readonly sent: () => object
  /** The refusal of the first use. */
  readonly code: string
}

const rows: readonly Row[] = [
  {
    name: 'a wrong confirmation',
    operation: operations.deleteTenant,
    sent: () => ({ tenantId: active, body: { confirmation: 'something else' } }),
    code: 'admin.confirmation_mismatch',
  },
  {
    name: 'a deletion of nothing',
    operation: operations.deleteTenant,
    sent: () => ({ tenantId: nobody, body: { confirmation: 'x' } }),
    code: 'not_found',
  },
  {
    name: 'an opening of a suspended workspace',
    operation: operations.openPassword,
    sent: () => ({ tenantId: suspended, body: opening }),
    code: 'admin.password_opening_suspended',
  },
  {
    name: 'an opening of a leaving workspace',
    operation: operations.openPassword,
    sent: () => ({ tenantId: leaving, body: opening }),
    code: 'admin.tenant_leaving',
  },
  {
    name: 'an opening of nothing',
    operation: operations.openPassword,
    sent: () => ({ tenantId: nobody, body: opening }),
    code: 'not_found',
  },
  {
    name: 'a release of no hold',
    operation: operations.releaseHold,
    sent: () => ({ holdId: nobody }),
    code: 'not_found',
  },
  {
    name: 'new recovery codes for nobody’s second factor',
    operation: operations.regenerateRecoveryCodes,
    sent: () => ({}),
    code: 'auth.second_factor_absent',
  },
  {
    name: 'a removal of no second factor',
    operation: operations.disableSecondFactor,
    sent: () => ({ body: {} }),
    code: 'auth.second_factor_absent',
  },
]

const prove = async (token: string) =>
  (await who.as(token).call(operations.stepUp, { body: { password } })).step_up_token
const unspent = async () =>
  (await own.oracle`select 1 from step_up where account_id = ${who.operator.accountId} and used_at is null`).length

describe('is spent by', () => {
  test.each(rows.map((row) => [row.name, row] as const))('%s', async (_, { operation, sent, code }) => {
    const stepUp = await prove(who.token)
    const first = await request(who.daemon.url, operation, { ...sent(), stepUp }, who.token)
    expect((first.body as { code?: string }).code).toBe(code)
    const second = await request(who.daemon.url, operation, { ...sent(), stepUp }, who.token)
    expect([second.status, (second.body as { code?: string }).code]).toEqual([401, 'auth.step_up_required'])
  })
})

describe('is left by a call that is refused before', () => {
  const tokenWith = async (scopes: readonly ('workspace:read' | 'admin:tenants')[]) =>
    plantToken(own, who.operator, { scopes })

  test('for its schema', async () => {
    const stepUp = await prove(who.token)
    for (const hours of [0, 169]) {
      const answer = await request(
        who.daemon.url,
        operations.openPassword,
        { tenantId: active, body: { ...opening, hours }, stepUp },
        who.token,
      )
      expect((answer.body as { code?: string }).code).toBe('request.invalid')
    }
    await who.api.call(operations.openPassword, { tenantId: active, body: opening, stepUp })
  })

  test('for its token, its scope or the register', async () => {
    const { token, id } = await tokenWith(['workspace:read'])
    await prove(token)
    const before = await unspent()
    const call = async (stepUp: string, as: string | undefined) =>
      (await request(who.daemon.url, operations.openPassword, { tenantId: active, body: opening, stepUp }, as))
        .body as {
        code?: string
      }
    const proof = await prove(token)
    expect((await call(proof, undefined)).code).toBe('auth.unauthenticated')
    expect((await call(proof, token)).code).toBe('auth.scope_required')
    await own.oracle`update credential set scopes = 'admin:tenants' where id = ${id}`
    const kept = await own.oracle`delete from operator where account_id = ${who.operator.accountId} returning *`
    expect((await call(proof, token)).code).toBe('admin.operator_required')
    for (const row of kept) await own.oracle`insert into operator ${own.oracle(row)}`
    expect(await unspent()).toBe(before + 1)
    expect((await call(proof, token)).code, 'and serves then').toBeUndefined()
  })

  test('because it is bound to another operation, another target or another credential', async () => {
    const { token } = await tokenWith(['admin:tenants'])
    const { step_up_token: bound } = await who.as(token).call(operations.stepUp, {
      body: { password, operation: 'openPassword', target_id: active },
    })
    const before = await unspent()
    const refused = async (operation: Operation, sent: object, as = token) => {
      const { body } = await request(who.daemon.url, operation, { ...sent, stepUp: bound }, as)
      expect((body as { code?: string }).code).toBe('auth.step_up_required')
    }
    await refused(operations.deleteTenant, { tenantId: active, body: { confirmation: 'x' } })
    await refused(operations.openPassword, { tenantId: suspended, body: opening })
    await refused(operations.openPassword, { tenantId: active, body: opening }, who.token)
    expect(await unspent()).toBe(before)
    await who.as(token).call(operations.openPassword, { tenantId: active, body: opening, stepUp: bound })
    expect(await unspent()).toBe(before - 1)
  })
})
