/**
 * The step-up of every privileged operation on providers: demanded, bound, spent once, spent
 * also by a call that is then refused. The operations follow from the data. T-07, T-08.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needsStepUp, type Operation } from '../../../src/core/contract/operation.ts'
import { identityProviderOperations as ops } from '../../../src/core/contract/providers/offered.ts'
import { type Release, readRelease } from '../../../src/core/kernel/egress/guard.ts'
import { mintToken } from '../../../src/core/kernel/values/token.ts'
import { type HostileProvider, hostileClient, hostileProvider } from '../../kit/hostile-provider.ts'
import { person } from '../../kit/people.ts'
import { type TwoWays, twoWays } from '../../kit/two-ways.ts'

const privileged = (Object.values(ops) as Operation[]).filter((operation) => needsStepUp(operation, {}))

let ways: TwoWays
let issuer: HostileProvider
beforeAll(async () => {
  issuer = await hostileProvider()
  ways = await twoWays({ egress: readRelease(new URL(issuer.issuer).host) as Release })
})
afterAll(async () => {
  await ways.close()
  await issuer.close()
})

test('they are the five that the specification names', () =>
  expect(privileged.map(({ method, path }) => `${method} ${path.replace('/admin/identity-providers', '')}`)).toEqual([
    'POST ',
    'PUT /{providerId}',
    'DELETE /{providerId}',
    'POST /{providerId}:withdraw',
    'POST /{providerId}:cancel-withdrawal',
  ]))

interface Proof {
  readonly operation?: string | null
  readonly target?: string | null
  readonly of?: { accountId: string; credentialId: string }
  readonly expires?: string
}

async function proof(operation: Operation, target: string | null, given: Proof = {}): Promise<string> {
  const { token, hash } = mintToken('stepUp')
  const { accountId, credentialId } = given.of ?? ways.operator
  await ways.sql`
    insert into step_up (tenant_id, id, account_id, bearer_id, hash, operation, target_id, expires_at)
    values (${ways.operator.tenantId}, ${randomUUIDv7()}, ${accountId}, ${credentialId}, ${hash},
            ${given.operation === undefined ? operation.id : given.operation}, ${given.target === undefined ? target : given.target},
            now() + ${given.expires ?? '5 minutes'}::interval)`
  return token
}

const bodyOf = (operation: Operation) =>
  operation.id === 'withdrawIdentityProvider' ? {} : { issuer: issuer.issuer, client_id: hostileClient }

const call = (
  operation: Operation,
  target: string | null,
  stepUp: string | undefined,
  body: unknown = bodyOf(operation),
) =>
  ways.daemon.call(operation.method, `/api/v1${operation.path.replace('{providerId}', target ?? '')}`, {
    token: ways.operator.token,
    ...(operation.body ? { body } : {}),
    ...(stepUp === undefined ? {} : { headers: { 'x-service-step-up': stepUp } }),
  })

const made = async (operation: Operation) =>
  operation.params
    ? (
        await ways.call('recovery', ops.createIdentityProvider, {
          body: { issuer: issuer.issuer, client_id: hostileClient },
        })
      ).id
    : null

const everything = () =>
  ways.sql`select (select count(*) from journal)::int as journal, (select json_agg(p order by p.id) from identity_provider p) as providers`

describe.each(privileged.map((operation) => [operation.id, operation] as const))('%s', (_, operation) => {
  test('refuses every proof that is not for this call, and changes nothing', async () => {
    const target = await made(operation)
    const other = await person(ways.daemon, ways.home.tenantId, { operator: true })
    const spent = await proof(operation, target)
    await ways.sql`update step_up set used_at = now() where used_at is null`
    const wrong = [
      undefined,
      'svcu_nothing',
      mintToken('stepUp').token,
      spent,
      await proof(operation, target, { operation: 'deleteTenant' }),
      await proof(operation, target, { of: other }),
      await proof(operation, target, { of: { ...ways.operator, credentialId: other.credentialId } }),
      await proof(operation, target, { expires: '-1 second' }),
      ...(target === null ? [] : [await proof(operation, target, { target: randomUUIDv7() })]),
    ]
    const before = await everything()
    for (const [index, stepUp] of wrong.entries()) {
      const { status, json } = await call(operation, target, stepUp)
      expect([index, status, json?.code]).toEqual([index, 401, 'auth.step_up_required'])
    }
    expect(await everything()).toEqual(before)
  })

  test('of twenty calls with one proof at the same moment exactly one passes', async () => {
    const target = await made(operation)
    const stepUp = await proof(operation, target)
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(operation, target, stepUp)))
    const passed = answers.filter(({ status }) => status < 300)
    expect(passed).toHaveLength(1)
    for (const { status, json } of answers.filter((answer) => !passed.includes(answer)))
      expect([status, json.code]).toEqual([401, 'auth.step_up_required'])
  })

  test('spends the proof on a call that is refused behind it, and keeps it for one that is refused before', async () => {
    const target = operation.params ? randomUUIDv7() : null
    const stepUp = await proof(operation, target)
    const refused = operation.params ? undefined : { ...bodyOf(operation), kind: 'PRESET_ONE' }
    if (operation.body) {
      const malformed = await call(operation, target, stepUp, { nobody: 'knows this' })
      expect(malformed.json.code).toBe('request.invalid')
    }
    const first = await call(operation, target, stepUp, refused ?? bodyOf(operation))
    expect(first.json.code).toBe(operation.params ? 'not_found' : 'identity_provider.kind_mismatch')
    const second = await call(operation, target, stepUp, refused ?? bodyOf(operation))
    expect(second.json.code).toBe('auth.step_up_required')
  })
})

test('a wrong count has spent its proof', async () => {
  const operation: Operation = ops.withdrawIdentityProvider
  const target = await made(operation)
  const stepUp = await proof(operation, target)
  const body = { withdraw_at: new Date().toISOString(), confirm_count: 5 }
  expect((await call(operation, target, stepUp, body)).json.code).toBe('identity_provider.withdraw_count_mismatch')
  expect((await call(operation, target, stepUp, { ...body, confirm_count: 0 })).json.code).toBe('auth.step_up_required')
})
