/**
 * A daemon killed with SIGKILL at every step of an invitation, of a managed account and of the confirmation of an address: nothing
 * of it is there, and the same call once more does it once, with one token that serves. People 9, kill -9 at each step of N1, N3
 * and N20; of N18 it is killed-linking.test.ts, and killed-ways-in.test.ts kills PostgreSQL meanwhile.
 */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { failpoints } from '../../src/core/kernel/values/failpoint.ts'
import { hashToken, mintToken } from '../../src/core/kernel/values/token.ts'
import { type Answered, spawnDaemon, type TestDaemon, testDaemon, urlOf } from '../kit/daemon.ts'
import { type Person, person, setUp } from '../kit/people.ts'
import { bareEnvironment } from '../kit/processes.ts'

let daemon: TestDaemon
let admin: Person
beforeAll(async () => {
  daemon = await testDaemon()
  const { tenantId } = await setUp(daemon)
  await daemon.db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
  admin = await person(daemon, tenantId, { role: 'ADMIN' })
})
afterAll(() => daemon.close())

/** One request that is sent to the daemon that is killed, and then to the other one. */
interface Act {
  readonly path: string
  readonly token: string
  readonly body: object
  /** Rows of each kind that it leaves. */
  left(): Promise<number[]>
  /** What the second call answered serves. */
  serves(answer: Answered): Promise<void>
}

const named = async (field: 'email' | 'sign_in_name', value: string, action: string): Promise<number[]> => {
  const [row] = await daemon.db.sql<{ counts: number[] }[]>`
    with made as (select id from account where ${daemon.db.sql(field)} = ${value})
    select array[
      (select count(*) from made),
      (select count(*) from membership where account_id in (select id from made)),
      (select count(*) from invitation where account_id in (select id from made) and used_at is null),
      (select count(*) from audit_entry where action = ${action} and subject_id in (select id from made)),
      (select count(*) from outbox_event e join made on e.body like '%' || made.id || '%' where e.type like ${`%${action}.v1`}),
      (select count(*) from pgboss.job j join made on j.data ->> 'accountId' = made.id::text where j.name in ('send_invitation', 'end_start_password'))
    ]::int[] as counts`
  return row!.counts
}

const invite = (deliver: 'TOKEN' | 'MAIL'): Act => {
  const email = `${randomUUIDv7()}@new.example`
  return {
    path: '/accounts:invite',
    token: admin.token,
    body: { email, deliver },
    left: () => named('email', email, 'account.invited'),
    async serves({ status, json }) {
      expect(status).toBe(201)
      expect(await named('email', email, 'account.invited')).toEqual([1, 1, 1, 1, 1, deliver === 'MAIL' ? 1 : 0])
      if (deliver === 'MAIL') return expect(json.redemption_token).toBeNull()
      const [row] = await daemon.db.sql`select hash from invitation where account_id = ${json.account.id}`
      expect(hashToken(json.redemption_token).equals(row?.['hash'])).toBe(true)
    },
  }
}

const create = (): Act => {
  const name = `n${randomUUIDv7()}`
  return {
    path: '/accounts:create-managed',
    token: admin.token,
    body: { sign_in_name: name, display_name: 'Bench' },
    left: () => named('sign_in_name', name, 'account.created'),
    async serves({ status, json }) {
      expect(status).toBe(201)
      expect(await named('sign_in_name', name, 'account.created')).toEqual([1, 1, 0, 1, 1, 1])
      const entered = await daemon.call('POST', '/api/v1/auth/sessions', {
        body: { workspace: 'home', email: name, password: json.start_password },
      })
      expect(entered.json.code).toBe('auth.password_expired')
    },
  }
}

async function confirm(): Promise<Act> {
  const who = await person(daemon, admin.tenantId, { kind: 'SESSION', role: 'MEMBER' })
  const [addressId, email, { token, hash }] = [
    randomUUIDv7(),
    `${randomUUIDv7()}@new.example`,
    mintToken('addressConfirmation'),
  ]
  const { sql } = daemon.db
  await sql`
    insert into account_address (tenant_id, id, account_id, email, email_fold, ends_at)
    values (${admin.tenantId}, ${addressId}, ${who.accountId}, ${email}, ${email}, now() + interval '1 day')`
  await sql`
    insert into address_confirmation (tenant_id, id, account_id, address_id, email_fold, makes_primary, is_asked, hash, expires_at)
    values (${admin.tenantId}, ${randomUUIDv7()}, ${who.accountId}, ${addressId}, ${email}, true, true, ${hash}, now() + interval '1 day')`
  const left = async () => {
    const [row] = await sql<{ counts: number[] }[]>`
      select array[
        (select count(*) from account_address where id = ${addressId} and held_fold is not null and is_primary),
        (select count(*) from address_confirmation where address_id = ${addressId} and used_at is not null),
        (select count(*) from account where id = ${who.accountId} and email = ${email}),
        (select count(*) from audit_entry where action = 'account.address_confirmed' and subject_id = ${who.accountId}),
        (select count(*) from outbox_event where type like '%address_confirmed.v1' and body like ${`%${who.accountId}%`})
      ]::int[] as counts`
    return row!.counts
  }
  return {
    path: '/auth/address:confirm',
    token: who.token,
    body: { token },
    left,
    async serves({ status }) {
      expect([status, await left()]).toEqual([200, [1, 1, 1, 1, 1]])
    },
  }
}

const acts = {
  invite: [() => invite('TOKEN'), () => invite('MAIL')],
  managed: [create],
  address: [confirm],
} as const
const steps = failpoints.flatMap((step) => {
  const [what] = step.split('.') as [keyof typeof acts]
  return (acts[what] ?? []).map((prepare, n) => ({ step, form: n + 1, prepare: prepare as () => Act | Promise<Act> }))
})

test('every step is one', () => {
  expect(steps.map(({ step }) => step).filter((step, at, all) => all.indexOf(step) === at)).toHaveLength(10)
})

test.each(steps)('killed at $step ($form), nothing is there; then it is done once', async ({ step, prepare }) => {
  const { path, token, body, left, serves } = await prepare()
  const key = randomUUID()
  const killed = await spawnDaemon(environment(step))
  const keyed = path.startsWith('/accounts') ? { 'idempotency-key': key } : {}
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...keyed }
  const asked = await fetch(`${killed.address}/api/v1${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  }).then(
    ({ status }) => status,
    () => 'lost',
  )
  await killed.ended
  expect([asked, killed.process.signalCode]).toEqual(['lost', 'SIGKILL'])
  expect((await left()).filter((count) => count > 0)).toEqual([])

  const call = () => daemon.call('POST', `/api/v1${path}`, { token, body, headers: keyed })
  const again = await call()
  await serves(again)
  if (again.status !== 201) return
  expect((await call()).json, 'and its answer stays').toEqual(again.json)
})

function environment(failpoint: string): NodeJS.ProcessEnv {
  const { config, db } = daemon
  return {
    ...bareEnvironment(),
    SVC_DATABASE_URL: urlOf(db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(db.owner),
    SVC_KEYRING_FILE: config.keyringFile,
    SVC_DATA_DIR: config.dataDir,
    SVC_MODE: 'multi',
    SVC_PORT: '0',
    SVC_TEST: '1',
    SVC_FAILPOINTS: `${failpoint}=exit`,
  }
}
