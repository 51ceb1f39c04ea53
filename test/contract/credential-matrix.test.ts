/**
 * Ten kinds of credentials against every operation of the installation: only an operator's
 * token with `admin:tenants` gets in, and what is turned away leaves no trace. T-05, F-14.
 *
 * The specification states the scope for some of them and the register for others; both are
 * held against all, with one exception: `POST /admin/operators` while the register is empty.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { differences, dump } from '../kit/dump.ts'
import { everyScope, person, setUp, workspace } from '../kit/people.ts'

const ofInstallation = (Object.values(operations) as readonly Operation[]).filter(
  ({ needs }) => needs.caller === 'operator',
)
const withoutAdmin = everyScope.filter((scope) => scope !== 'admin:tenants')

interface Kind {
  readonly name: string
  readonly bearer: string | undefined
  readonly status: 401 | 403
  readonly code: string
}

let daemon: TestDaemon
let kinds: readonly Kind[]
let operator: string
let robot: string
let outsider: string

beforeAll(async () => {
  daemon = await testDaemon({ config: { mode: 'multi' } })
  const { tenantId } = await setUp(daemon)
  const suspendedId = await workspace(daemon, 'suspended', 'SUSPENDED')
  const make = async (of: string, given: Parameters<typeof person>[2]) => (await person(daemon, of, given)).token
  operator = await make(tenantId, { operator: true })
  robot = await make(tenantId, { operator: true, kind: 'SERVICE', scopes: ['admin:tenants'] })
  outsider = await make(tenantId, {})
  const gone = { status: 401, code: 'auth.unauthenticated' } as const
  kinds = [
    { name: 'none', bearer: undefined, ...gone },
    { name: 'a token of another installation', bearer: mintToken('personal').token, ...gone },
    { name: 'a refresh token', bearer: mintToken('refresh').token, ...gone },
    {
      name: "an operator's interactive session",
      bearer: await make(tenantId, { operator: true, kind: 'SESSION', scopes: withoutAdmin }),
      status: 403,
      code: 'auth.scope_required',
    },
    {
      name: "an operator's token without the scope",
      bearer: await make(tenantId, { operator: true, scopes: withoutAdmin }),
      status: 403,
      code: 'auth.scope_required',
    },
    {
      name: 'a token with the scope, of an owner who is not in the register',
      bearer: outsider,
      status: 403,
      code: 'admin.operator_required',
    },
    {
      name: "an operator's expired token",
      bearer: await make(tenantId, { operator: true, expires: "now() - interval '1 second'" }),
      ...gone,
    },
    { name: "an operator's revoked token", bearer: await make(tenantId, { operator: true, revoked: true }), ...gone },
    {
      name: "a disabled operator's token",
      bearer: await make(tenantId, { operator: true, accountState: 'DISABLED' }),
      ...gone,
    },
    {
      name: 'a token of an operator whose workspace is suspended',
      bearer: await make(suspendedId, { operator: true }),
      status: 403,
      code: 'tenant_suspended',
    },
  ]
})
afterAll(() => daemon.close())

const ask = (operation: Operation, bearer: string | undefined) =>
  daemon.call(operation.method, `/api/v1${operation.path.replace(/\{\w+\}/g, randomUUID())}`, {
    ...(bearer === undefined ? {} : { token: bearer }),
    ...(operation.method === 'GET'
      ? {}
      : {
          body: {},
          headers: { 'content-type': operation.patch ? 'application/merge-patch+json' : 'application/json' },
        }),
  })

/** When a credential was last used is noted behind the answer, also for one that lacks something else; a daemon notes how far it is. */
const unnoted = (contents: Map<string, string[]>) =>
  new Map([...contents].filter(([name]) => !/\.(credential|session|request_rate|daemon_witness)$|^pgboss\./.test(name)))

test('there are ten kinds, and every operation below /admin is among the operations', () => {
  expect(kinds).toHaveLength(10)
  const below = (Object.values(operations) as readonly Operation[]).filter(({ path }) => path.startsWith('/admin'))
  expect(below.length).toBeGreaterThanOrEqual(17)
  expect(below.filter((operation) => !ofInstallation.includes(operation))).toEqual([])
})

describe.each(ofInstallation.map((operation) => [operation.id, operation] as const))('%s', (_, operation) => {
  test('turns ten kinds of credentials away, each with its own answer, and nothing changes', async () => {
    const before = unnoted(await dump(daemon.db.sql))
    const answered: unknown[] = []
    for (const { name, bearer } of kinds) {
      const { status, json } = await ask(operation, bearer)
      answered.push({ name, status, code: json?.code })
    }
    expect(answered).toEqual(kinds.map(({ name, status, code }) => ({ name, status, code })))
    expect(differences(before, unnoted(await dump(daemon.db.sql)))).toEqual({})
  })

  test('and lets a person and a service account in that have both', async () => {
    const refused = new Set(kinds.map(({ code }) => code))
    for (const bearer of [operator, robot]) {
      expect(refused).not.toContain((await ask(operation, bearer)).json?.code)
    }
  })
})

test('while the register is empty the scope alone lets in to POST /admin/operators, and to nothing else', async () => {
  const kept = await daemon.db.sql`delete from operator returning *`
  try {
    for (const operation of ofInstallation) {
      const { json } = await ask(operation, outsider)
      expect([operation.id, json?.code]).toEqual([
        operation.id,
        operation.id === 'addOperator' ? 'request.invalid' : 'admin.operator_required',
      ])
    }
  } finally {
    for (const row of kept) await daemon.db.sql`insert into operator ${daemon.db.sql(row)}`
  }
})
