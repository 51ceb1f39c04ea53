/**
 * A member is removed at the same moment as it signs in, renews its session, mints a token, makes a service account
 * or a container and, as somebody invited, redeems; through two daemons. Whatever came first, nothing of it is alive afterwards, and
 * a role that is given again opens none of it. 10 rounds each here, 200 with SVC_FAULTS=full.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type Answered, type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp, storedPassword } from '../kit/people.ts'

const rounds = process.env['SVC_FAULTS'] === 'full' ? 200 : 10
const password = 'correct horse battery staple'

let one: TestDaemon
let two: TestDaemon
let tenantId: string
let owner: Person
let passwordHash: string
beforeAll(async () => {
  one = await testDaemon()
  two = await one.twin()
  tenantId = (await setUp(one)).tenantId
  await one.db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
  owner = await person(one, tenantId)
  passwordHash = await storedPassword(password)
})
afterAll(async () => {
  await two.close()
  await one.close()
})

const member = (accountState: 'ACTIVE' | 'INVITED' = 'ACTIVE') =>
  person(one, tenantId, { role: 'ADMIN', passwordHash, accountState })
const post = (daemon: TestDaemon, path: string, body: object, token?: string) =>
  daemon.call('POST', `/api/v1${path}`, { body, token })
const signIn = (daemon: TestDaemon, { accountId }: Person) =>
  post(daemon, '/auth/sessions', { workspace: 'home', email: `${accountId}@people.example`, password })

/** Tokens that an answer brought. */
const brought = ({ json }: Answered): string[] =>
  [json?.access_token, json?.token].filter((token) => typeof token === 'string')

async function invitationOf({ accountId }: Person): Promise<string> {
  const { token, hash } = mintToken('invitation')
  await one.db.sql`
    insert into invitation (tenant_id, id, account_id, hash, expires_at)
    values (${tenantId}, ${randomUUIDv7()}, ${accountId}, ${hash}, now() + interval '1 hour')`
  return token
}

/** What the member does meanwhile; set up before, so that only the act itself races. */
const acts: Readonly<Record<string, () => Promise<{ who: Person; act: (daemon: TestDaemon) => Promise<Answered> }>>> = {
  'a sign-in': async () => {
    const who = await member()
    return { who, act: (daemon) => signIn(daemon, who) }
  },
  'a refresh': async () => {
    const who = await member()
    const { refresh_token } = (await signIn(one, who)).json
    return { who, act: (daemon) => post(daemon, '/auth/sessions:refresh', { refresh_token }) }
  },
  'a token': async () => {
    const who = await member()
    const body = { name: 'kept', scopes: ['workspace:read'] }
    return { who, act: (daemon) => post(daemon, '/auth/tokens', body, who.token) }
  },
  'a token of a session': async () => {
    const who = await member()
    const { access_token } = (await signIn(one, who)).json
    const body = { name: 'kept', scopes: ['workspace:read'] }
    return { who, act: (daemon) => post(daemon, '/auth/tokens', body, access_token) }
  },
  'a service account': async () => {
    const who = await member()
    const body = { name: 'robot', role: 'ADMIN', scopes: ['workspace:read', 'workspace:admin'] }
    return { who, act: (daemon) => post(daemon, '/auth/service-accounts', body, who.token) }
  },
  'a proof': async () => {
    const who = await member()
    return { who, act: (daemon) => post(daemon, '/auth/step-up', { password }, who.token) }
  },
  'a container of its own': async () => {
    const who = await member()
    const body = { kind: 'HUB', name: 'mine', is_private: true }
    return { who, act: (daemon) => post(daemon, '/containers', body, who.token) }
  },
  'a redemption': async () => {
    const who = await member('INVITED')
    const token = await invitationOf(who)
    return { who, act: (daemon) => post(daemon, '/auth/invitations:redeem', { token, password }) }
  },
}

const hashing = new Set(['a sign-in', 'a proof', 'a redemption'])

/** Credentials, sessions, proofs and roles of the account, and credentials of whatever its tokens made. */
async function alive({ accountId }: Person): Promise<number> {
  const [row] = await one.db.sql<{ n: number }[]>`
    with recursive line as (
      select id from credential where account_id = ${accountId}
      union select c.id from credential c join line on c.parent_id = line.id)
    select (select count(*) from credential where id in (select id from line) and revoked_at is null)::int
         + (select count(*) from session where account_id = ${accountId} and revoked_at is null)::int
         + (select count(*) from step_up where account_id = ${accountId} and used_at is null)::int
         + (select count(*) from membership where account_id = ${accountId})::int
         + (select count(*) from invitation where account_id = ${accountId} and used_at is null)::int as n`
  return row!.n
}

test.each(Object.entries(acts))(`%s against removal, ${rounds} times: nothing stays alive`, async (name, prepare) => {
  let won = 0
  for (let round = 0; round < rounds; round += 1) {
    const { who, act } = await prepare()
    const [membership] = await one.db.sql<
      { id: string }[]
    >`select id from membership where account_id = ${who.accountId}`
    const remove = () => two.call('DELETE', `/api/v1/memberships/${membership!.id}`, { token: owner.token })
    // The removal is spread over the whole of an act: a password takes its 30 ms first.
    const pause = hashing.has(name) ? (round % 10) * 8 : round % 4
    const [removed, answer] = await Promise.all([
      new Promise((resolve) => setTimeout(resolve, pause)).then(remove),
      act(round % 2 === 0 ? one : two),
    ])
    expect(removed.status).toBe(204)
    expect([200, 201, 401, 410]).toContain(answer.status)
    if (answer.status < 300) won += 1
    expect([round, await alive(who)]).toEqual([round, 0])

    await one.db
      .sql`insert into membership (tenant_id, id, account_id, role) values (${tenantId}, ${randomUUIDv7()}, ${who.accountId}, 'ADMIN')`
    for (const token of brought(answer))
      expect((await one.call('GET', '/api/v1/accounts/me', { token })).status).toBe(401)
  }
  process.stdout.write(`removed members: ${name} came first in ${won} of ${rounds} rounds, 0 alive\n`)
})

test('and no two of these waited for each other in a circle', async () => {
  const read = () =>
    one.db.sql`select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()`
  expect(await read()).toEqual([{ deadlocks: 0 }])
})
