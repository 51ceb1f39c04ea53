/**
 * Acts on another account, its roles and its ways in: none reaches an account whose role is above the actor's, nor
 * one in the register unless the actor is in it too. The operations are those that declare `actsOn`, so a new one is
 * in this matrix as soon as it is declared. Decisions 7, Whose ways in.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needsStepUp, type Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Role } from '../../src/core/contract/vocabulary.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Credential, everyScope, type Person, person, plantProof, setUp } from '../kit/people.ts'

const every = Object.values(operations) as readonly Operation[]
const acting = every.filter(({ actsOn }) => actsOn !== undefined)

let daemon: TestDaemon
let tenantId: string
/** A group without roles: that anybody is in it gives nobody anything. */
const groupId = randomUUIDv7()
beforeAll(async () => {
  daemon = await testDaemon()
  tenantId = (await setUp(daemon)).tenantId
  await daemon.db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
  await daemon.db
    .sql`insert into account_group (tenant_id, id, name, name_fold) values (${tenantId}, ${groupId}, 'All', 'all')`
})
afterAll(() => daemon.close())

const somebody = (role: Role, more: Credential = {}) => person(daemon, tenantId, { role, ...more })

interface Acted extends Credential {
  /** Without an address. */
  readonly isManaged?: true
}

/** What the call acts on, as it stands in the path or the body, and how to see that nothing became of it. */
interface Target {
  readonly id: string
  readonly trace: () => Promise<unknown>
}
const targets: Readonly<
  Record<NonNullable<Operation['actsOn']>, (role: Role, isOperator: boolean, more?: Acted) => Promise<Target>>
> = {
  account: async (role, operator, more) => {
    const { accountId } = await somebody(role, { operator, ...more })
    const { sql } = daemon.db
    // Its id is the account's, so that one id fills the path.
    await sql`
      insert into connected_identity (tenant_id, id, provider_id, account_id, issuer, subject)
      values (${tenantId}, ${accountId}, ${randomUUIDv7()}, ${accountId}, 'https://sso.example', ${accountId})`
    await sql`insert into second_factor (tenant_id, id, account_id, confirmed_at, last_step) values (${tenantId}, ${randomUUIDv7()}, ${accountId}, now(), 1)`
    if (more?.isManaged)
      await sql`update account set email = null, email_fold = null, sign_in_name = ${`n${accountId}`} where id = ${accountId}`
    else
      await sql`
        insert into account_address (tenant_id, id, account_id, email, email_fold, is_primary, confirmed_at)
        select tenant_id, gen_random_uuid(), id, email, email_fold, true, now() from account where id = ${accountId}
        union all select tenant_id, id, id, 'other-' || email, 'other-' || email_fold, false, now() from account where id = ${accountId}`
    return {
      id: accountId,
      trace: () => sql`
          select (select count(*) from second_factor where account_id = ${accountId})::int as factors,
                 (select array_agg(role) from membership where account_id = ${accountId}) as roles,
                 (select count(*) from group_member where account_id = ${accountId})::int as groups,
                 (select count(*) from connected_identity where account_id = ${accountId})::int as identities,
                 (select version from account where id = ${accountId}) as version,
                 (select state from account where id = ${accountId}) as state`,
    }
  },
  token: async (role, operator) => {
    const { credentialId } = await somebody(role, { operator, kind: 'SERVICE' })
    return {
      id: credentialId,
      trace: () => daemon.db.sql`select revoked_at from credential where id = ${credentialId}`,
    }
  },
  role: async (role, operator) => {
    const { accountId } = await somebody(role, { operator })
    const { sql } = daemon.db
    return {
      id: accountId,
      trace: () => sql`select role, container_id from membership where account_id = ${accountId}`,
    }
  },
  membership: async (role, operator) => {
    const { accountId } = await somebody(role, { operator })
    const { sql } = daemon.db
    const [row] = await sql<{ id: string }[]>`select id from membership where account_id = ${accountId}`
    return { id: row!.id, trace: () => sql`select role from membership where account_id = ${accountId}` }
  },
}

/** Accounts on which the operation acts in one state only. */
const states: Readonly<Record<string, Acted>> = {
  renewInvitation: { accountState: 'INVITED' },
  issueStartPassword: { isManaged: true },
}

/** The body of each that takes one; one that is declared anew is missed here, and says so. */
const bodies: Readonly<Record<string, (id: string) => object>> = {
  renewInvitation: () => ({ deliver: 'TOKEN' }),
  changePreferences: () => ({ locale: 'de' }),
  addAddress: (id) => ({ email: `new-${id}@people.example` }),
  disableSecondFactor: (account_id) => ({ account_id }),
  setAccountRestriction: () => ({ restricted: true, ground: 'CLAIMS' }),
  grantMembership: (account_id) => ({ account_id, role: 'COMMENTER' }),
}

async function act(operation: Operation, by: Person, { id }: Target) {
  const body = operation.body ? bodies[operation.id] : () => undefined
  if (!body) throw new Error(`this test has no body for ${operation.id}`)
  const path = operation.path.replace('{groupId}', groupId).replace(/\{\w+\}/g, id)
  return daemon.call(operation.method, `/api/v1${path}`, {
    token: by.token,
    body: body(id),
    headers: { 'x-service-step-up': await plantProof(daemon, by) },
  })
}

describe.each(acting.map((operation) => [operation.id, operation] as const))('%s', (_, operation) => {
  const refused = async (by: Person, target: Target) => {
    const before = await target.trace()
    const { status, json } = await act(operation, by, target)
    expect(await target.trace()).toEqual(before)
    return [status, json?.code, json?.params]
  }
  const target = (role: Role, isOperator = false) => targets[operation.actsOn!](role, isOperator, states[operation.id])
  // With `admin:tenants` a call would be the installation's, where the operation serves both.
  const scopes = everyScope.filter(
    (one) => operation.needs.caller !== 'workspace or operator' || one !== 'admin:tenants',
  )
  const by = (role: Role, more: Credential = {}) => somebody(role, { scopes, ...more })

  test("refuses an ADMIN what is an OWNER's", async () => {
    expect(await refused(await by('ADMIN'), await target('OWNER'))).toEqual([
      403,
      'auth.role_required',
      { role: 'OWNER' },
    ])
  })

  test("refuses whoever is not in the register what is an operator's, whatever the roles", async () => {
    for (const [mine, role] of [
      ['OWNER', 'OWNER'],
      ['OWNER', 'VIEWER'],
      ['ADMIN', 'ADMIN'],
    ] as const)
      expect((await refused(await by(mine), await target(role, true))).slice(0, 2)).toEqual([
        403,
        'admin.operator_required',
      ])
  })

  test("refuses an operator on probation what is an operator's", async () => {
    const probationer = await by('OWNER', { operator: true })
    await daemon.db
      .sql`update operator set probation_until = now() + interval '1 hour' where account_id = ${probationer.accountId}`
    const [status, code] = await refused(probationer, await target('ADMIN', true))
    expect([status, code]).toEqual([
      403,
      needsStepUp(operation, {}) ? 'admin.operator_on_probation' : 'admin.operator_required',
    ])
  })

  test("refuses an operator who is ADMIN what is an OWNER's who is an operator", async () => {
    expect((await refused(await by('ADMIN', { operator: true }), await target('OWNER', true))).slice(0, 2)).toEqual([
      403,
      'auth.role_required',
    ])
  })

  test('lets an ADMIN act on an ADMIN, and an operator on an operator', async () => {
    for (const operator of [false, true]) {
      const { status } = await act(operation, await by('ADMIN', { operator }), await target('ADMIN', operator))
      expect([operator, [200, 201, 204].includes(status)]).toEqual([operator, true])
    }
  })
})

/** Named here are those that name an account or what belongs to one, and act on no ways in of another. */
const harmless = new Set([
  ...['endSession', 'assignItem', 'unassignItem', 'addItemMember', 'removeItemMember'],
  // Another's is not_found, whatever the caller's role.
  'setNotificationPreference',
  // Whoever enters what somebody asks decides nothing yet: the handling keeps the ceiling (test/privacy/requests.test.ts).
  'openPrivacyRequest',
])

test('whatever names an account, a membership, a token or a session and changes something says whom it acts on', () => {
  const naming = /^(account|membership|token|session)_?[iI]d$/
  const silent = every
    .filter(({ method, needs, params, body, actsOn, id }) => {
      const members = [...Object.keys(params?.shape ?? {}), ...Object.keys((body as { shape?: object })?.shape ?? {})]
      const isTheirs = needs.caller === 'account' || needs.caller === 'workspace'
      return method !== 'GET' && isTheirs && members.some((name) => naming.test(name)) && !actsOn && !harmless.has(id)
    })
    .map(({ id }) => id)
  expect(silent).toEqual([])
})
