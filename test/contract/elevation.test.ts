/**
 * An elevated session instead of a step-up: for the operations that say so, and where they act on another account. The matrix
 * follows from `stepUp`, so a new operation is in it as soon as it is declared. People 4, Elevate.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needsStepUp, type Operation, stepUpOf, takesSessionOnly } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { mediaTypeOf } from '../../src/daemon/refusals.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { meeting, played, untilWaiting } from '../kit/meeting.ts'
import { everyScope, type Person, person, plantProof, setUp, storedPassword } from '../kit/people.ts'

const every = Object.values(operations) as readonly Operation[]
const elevated = every.filter(({ needs }) => stepUpOf(needs) === 'or elevated')
const named = (list: readonly Operation[]) => list.map((operation) => [operation.id, operation] as const)

let daemon: TestDaemon
let tenantId: string
beforeAll(async () => {
  daemon = await testDaemon({ config: { mode: 'multi' } })
  tenantId = (await setUp(daemon)).tenantId
  await daemon.db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
})
afterAll(() => daemon.close())

/** SQL for the moments of an elevation. */
interface Window {
  readonly at: string
  readonly until: string
}
const inForce = { at: 'now()', until: "now() + interval '5 minutes'" }

/** A person with a session, an identity, addresses, a sign-in name and a second factor: what the operations act on. */
async function somebody(window?: Window, more: Parameters<typeof person>[2] = {}): Promise<Person> {
  const { sql } = daemon.db
  const who = await person(daemon, tenantId, { kind: 'SESSION', ...more })
  // Its id is the account's, so that one id fills the path.
  await sql`
    insert into connected_identity (tenant_id, id, provider_id, account_id, issuer, subject)
    values (${tenantId}, ${who.accountId}, ${randomUUIDv7()}, ${who.accountId}, 'https://sso.example', ${who.accountId})`
  await sql`
    insert into account_address (tenant_id, id, account_id, email, email_fold, is_primary, confirmed_at)
    select tenant_id, gen_random_uuid(), id, email, email_fold, true, now() from account where id = ${who.accountId}
    union all select tenant_id, id, id, 'other-' || email, 'other-' || email_fold, false, now() from account where id = ${who.accountId}`
  await sql`insert into second_factor (tenant_id, id, account_id, confirmed_at, last_step) values (${tenantId}, ${randomUUIDv7()}, ${who.accountId}, now(), 1)`
  await sql`update account set sign_in_name = ${`n${who.accountId}`} where id = ${who.accountId}`
  if (window)
    await sql`
      update session set elevated_at = ${sql.unsafe(window.at)}, elevated_until = ${sql.unsafe(window.until)}
      where account_id = ${who.accountId}`
  return who
}

/** Somebody on whom the operation acts. */
async function targetOf({ id }: Operation): Promise<Person> {
  const who = await somebody()
  const { sql } = daemon.db
  if (id !== 'issueStartPassword') return who
  await sql`delete from account_address where account_id = ${who.accountId}`
  await sql`
    update account set email = null, email_fold = null where id = ${who.accountId}`
  return who
}

/** The bodies that name an account, for those that take one there; one that is declared anew is missed here, and says so. */
const bodies: Readonly<Record<string, readonly ((id: string) => object)[]>> = {
  disableSecondFactor: [
    (account_id) => ({ account_id }),
    (id) => ({ email: `${id}@people.example` }),
    (id) => ({ email: `n${id}` }),
  ],
  addAddress: [(id) => ({ email: `${id}@more.example` })],
}
const bodiesOf = ({ id, body }: Operation) => {
  if (!body) return [() => undefined]
  const known = bodies[id]
  if (!known) throw new Error(`this test has no body for ${id}`)
  return known
}

function send(operation: Operation, token: string, path: string, body: unknown, stepUp?: string) {
  const url = `/api/v1${operation.path.replace(/\{\w+\}/g, path)}`
  return daemon.call(operation.method, url, {
    token,
    body: operation.method === 'GET' ? undefined : body,
    headers: {
      ...(body === undefined ? {} : { 'content-type': mediaTypeOf(operation) }),
      ...(stepUp === undefined ? {} : { 'x-service-step-up': stepUp }),
    },
  })
}
const act = (operation: Operation, by: Person, on: Pick<Person, 'accountId'>, form = bodiesOf(operation)[0]!) =>
  send(operation, by.token, on.accountId, form(on.accountId))
const required = [401, 'auth.step_up_required']

describe.each(named(elevated))('%s', (_, operation) => {
  test.each(bodiesOf(operation).map((form, n) => [n, form] as const))(
    'is served in an elevated session on another account, named in way %i',
    async (_n, form) => {
      const { status } = await act(operation, await somebody(inForce), await targetOf(operation), form)
      expect([200, 201, 204]).toContain(status)
    },
  )

  test('takes a step-up in a session that is not elevated, is so no more, or will be by a clock that went ahead', async () => {
    const windows: readonly (Window | undefined)[] = [
      undefined,
      { at: "now() - interval '5 minutes'", until: 'now()' },
      { at: "now() + interval '1 day'", until: "now() + interval '1 day 5 minutes'" },
    ]
    for (const window of windows) {
      const { status, json, headers } = await act(operation, await somebody(window), await somebody())
      expect([status, json?.code]).toEqual(required)
      expect(headers['www-authenticate']).toContain('insufficient_user_authentication')
    }
  })

  test('takes a step-up with another session, or with a token, of the account', async () => {
    const by = await somebody(inForce)
    const { sql } = daemon.db
    const sessionId = randomUUIDv7()
    await sql`insert into session (tenant_id, id, account_id) values (${tenantId}, ${sessionId}, ${by.accountId})`
    await sql`update credential set session_id = ${sessionId} where id = ${by.credentialId}`
    expect((await act(operation, by, await somebody())).json?.code).toBe('auth.step_up_required')
    await sql`update credential set session_id = null, kind = 'PERSONAL' where id = ${by.credentialId}`
    expect((await act(operation, by, await somebody())).json?.code).toBe('auth.step_up_required')
  })

  test('takes a step-up on the own account, however it is named, and does nothing without', async () => {
    for (const form of [...bodiesOf(operation), ...(operation.body?.safeParse({}).success ? [() => ({})] : [])]) {
      const by = await somebody(inForce)
      const before = await standing(by)
      const { status, json } = await act(operation, by, by, form)
      expect([status, json?.code]).toEqual(required)
      const upper = await act(operation, by, { accountId: by.accountId.toUpperCase() }, form)
      expect([400, 401]).toContain(upper.status)
      expect(await standing(by)).toEqual(before)
    }
  })

  test('keeps the ceiling', async () => {
    const admin = await somebody(inForce, { role: 'ADMIN' })
    const { status, json } = await act(operation, admin, await somebody())
    expect([status, json?.code, json?.params]).toEqual([403, 'auth.role_required', { role: 'OWNER' }])
    const operator = await somebody(inForce, { operator: true })
    await daemon.db
      .sql`update operator set probation_until = now() + interval '1 hour' where account_id = ${operator.accountId}`
    expect((await act(operation, operator, await somebody())).json?.code).toBe('admin.operator_on_probation')
  })
})

const standing = ({ accountId }: Person) => daemon.db.sql`
  select a.state, a.version, (select count(*) from second_factor where account_id = ${accountId})::int as factors,
         (select count(*) from connected_identity where account_id = ${accountId})::int as identities
  from account a where a.id = ${accountId}`

test('these are the operations that an elevated session serves; a further one is a decision', () => {
  expect(elevated.map(({ id }) => id).sort()).toEqual([
    'addAddress',
    'disableAccount',
    'disableSecondFactor',
    'disconnectIdentity',
    'enableAccount',
    'issueStartPassword',
    'removeAddress',
  ])
})

const proving = every.filter((operation) => {
  const takesNothing = !operation.body || operation.body.safeParse({}).success
  return takesNothing && needsStepUp(operation, {}) && stepUpOf(operation.needs) !== 'or elevated'
})

test.each(named(proving))('%s takes a step-up also in an elevated session', async (_, operation) => {
  const by = await somebody(inForce, { operator: true, scopes: everyScope })
  await daemon.db.sql`update session set created_at = now() - interval '1 hour' where account_id = ${by.accountId}`
  const { status, json } = await send(operation, by.token, randomUUIDv7(), operation.body ? {} : undefined)
  expect([status, json?.code]).toEqual(required)
})

const sessionOnly = every.filter(({ needs }) => takesSessionOnly(needs))

test.each(named(sessionOnly))('%s takes a session and no token', async (_, operation) => {
  for (const kind of ['PERSONAL', 'SERVICE'] as const) {
    const { token } = await person(daemon, tenantId, { kind, operator: true })
    const { status, json } = await send(operation, token, randomUUIDv7(), {})
    expect([status, json?.code, json?.params]).toEqual([403, 'auth.credential_kind', { accepted: 'SESSION' }])
  }
  const session = await person(daemon, tenantId, { kind: 'SESSION', scopes: ['workspace:read'] })
  expect((await send(operation, session.token, randomUUIDv7(), {})).json?.code).not.toBe('auth.credential_kind')
})

describe('elevating', () => {
  const elevate = async (who: Person, body: object, proof?: string) =>
    send(operations.elevateSession, who.token, '', body, proof)
  const proofOf = async (who: Person) => {
    const [row] = await daemon.db.sql<
      { id: string }[]
    >`select session_id as id from credential where id = ${who.credentialId}`
    return plantProof(daemon, { ...who, credentialId: row!.id })
  }
  const until = async (who: Person) =>
    (await daemon.call('GET', '/api/v1/accounts/me', { token: who.token })).json.credential.elevated_until

  test('takes a step-up, lasts as long as asked, and is told by accounts/me and by the trail', async () => {
    const who = await somebody()
    expect((await elevate(who, {})).json.code).toBe('auth.step_up_required')
    for (const [body, minutes] of [
      [{}, 5],
      [{ minutes: 15 }, 15],
      [{ minutes: 1 }, 1],
    ] as const) {
      const { status, json } = await elevate(who, body, await proofOf(who))
      expect(status).toBe(200)
      expect(Math.round((Date.parse(json.elevated_until) - Date.now()) / 60_000)).toBe(minutes)
      expect(await until(who)).toBe(json.elevated_until)
    }
    const [entry] = await daemon.db.sql`
      select params from audit_entry where action = 'session.elevated' and actor_account_id = ${who.accountId} order by id limit 1`
    expect(entry?.['params']).toEqual({ until: expect.any(String) })
    for (const minutes of [-1, 16, 1.5]) expect((await elevate(who, { minutes })).json.code).toBe('request.invalid')
  })

  test('is not lengthened by use, and ends with 0 minutes and no proof', async () => {
    const who = await somebody(inForce)
    const end = await until(who)
    await act(operations.disableAccount, who, await somebody())
    expect(await until(who)).toBe(end)
    expect((await elevate(who, { minutes: 0 })).json).toEqual({ elevated_until: null })
    expect(await until(who)).toBe(null)
    expect((await act(operations.disableAccount, who, await somebody())).json.code).toBe('auth.step_up_required')
  })

  test('ends with the password of the account, in the session that changes it, too', async () => {
    const password = 'correct horse battery staple'
    const who = await somebody(inForce, { passwordHash: await storedPassword(password) })
    const body = { current_password: password, new_password: `${password}, and more` }
    expect((await send(operations.changePassword, who.token, '', body)).status).toBe(204)
    expect(await until(who)).toBe(null)
    expect((await act(operations.disableAccount, who, await somebody())).json.code).toBe('auth.step_up_required')
  })

  test('ends with the factor of the account, and with its session', async () => {
    const [who, admin] = [await somebody(inForce), await somebody(inForce)]
    expect((await act(operations.disableSecondFactor, admin, who)).status).toBe(204)
    expect([await until(who), await until(admin)]).toEqual([null, expect.any(String)])
    await daemon.call('DELETE', '/api/v1/auth/sessions', { token: admin.token })
    expect((await act(operations.disableAccount, admin, who)).status).toBe(401)
    expect((await elevate(admin, {}, await proofOf(admin))).status).toBe(401)
  })

  test.each([[{}], [{ minutes: 0 }]])(
    'is refused with %j where the session ends while it waits for the account',
    async (body) => {
      const { sql } = daemon.db
      let who: Person | undefined
      const [ended, elevated] = await played(async () => {
        const [own, admin] = [await somebody(), await somebody(inForce)]
        const proof = await proofOf(own)
        who = own
        let ending: ReturnType<typeof act> | undefined
        // The account is held; disabling waits first, and elevating behind it.
        const elevating = await meeting(
          sql,
          (held) => held`select 1 from account where id = ${own.accountId} for update`,
          2,
          async () => {
            ending = act(operations.disableAccount, admin, own)
            await untilWaiting(sql, 1)
            return elevate(own, body, proof)
          },
        )
        return [await ending!, elevating] as const
      })
      expect(ended.status).toBe(200)
      expect([elevated.status, elevated.json.code]).toEqual([401, 'auth.unauthenticated'])
      const [session] = await sql`
      select elevated_until, revoked_at is null as is_alive from session where account_id = ${who!.accountId}`
      expect(session).toEqual({ elevated_until: null, is_alive: false })
      expect(
        await sql`
      select 1 from audit_entry where action = 'session.elevated' and actor_account_id = ${who!.accountId}`,
      ).toHaveLength(0)
    },
  )
})
