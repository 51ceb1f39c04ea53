/**
 * The end of an account against everything that would let it in at the same moment, on two daemons: whichever came first,
 * nothing of the account is alive behind the answer of `:disable`, and a later return revives nothing.
 * 12 rounds of each race, 200 with SVC_FAULTS=full. People 9.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { codeAt } from '../kit/authenticator.ts'
import { type Answered, type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, plantProof, setUp, storedPassword } from '../kit/people.ts'
import { tightRace } from '../kit/tight-race.ts'

const rounds = process.env['SVC_FAULTS'] === 'full' ? 200 : 12
const password = 'correct horse battery staple'

let daemon: TestDaemon
let twin: TestDaemon
let tenantId: string
let passwordHash: string
let admin: Person
beforeAll(async () => {
  daemon = await testDaemon()
  tenantId = (await setUp(daemon)).tenantId
  await daemon.db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
  twin = await daemon.twin()
  passwordHash = await storedPassword(password)
  admin = await person(daemon, tenantId, { role: 'ADMIN' })
})
afterAll(async () => {
  await twin.close()
  await daemon.close()
})

const act = async (what: 'disable' | 'enable', { accountId }: Person) =>
  daemon.call('POST', `/api/v1/accounts/${accountId}:${what}`, {
    token: admin.token,
    headers: { 'x-service-step-up': await plantProof(daemon, admin) },
  })
const post = (on: TestDaemon, path: string, body: object, token?: string) =>
  on.call('POST', `/api/v1${path}`, { body, ...(token === undefined ? {} : { token }) })
const signIn = (on: TestDaemon, { accountId }: Person) =>
  post(on, '/auth/sessions', { workspace: 'home', email: `${accountId}@people.example`, password })

async function alive({ accountId }: Person): Promise<number> {
  const [row] = await daemon.db.sql<{ count: number }[]>`
    select ((select count(*) from credential where account_id = ${accountId} and revoked_at is null)
          + (select count(*) from session where account_id = ${accountId} and revoked_at is null)
          + (select count(*) from sign_in_challenge where account_id = ${accountId} and used_at is null)
          + (select count(*) from step_up where account_id = ${accountId} and used_at is null)
          + (select count(*) from password_reset where account_id = ${accountId} and used_at is null)
          + (select count(*) from invitation where account_id = ${accountId} and used_at is null))::int as count`
  return row!.count
}

async function linked(table: 'invitation' | 'password_reset', kind: 'invitation' | 'passwordReset', who: Person) {
  const { token, hash } = mintToken(kind)
  await daemon.db.sql`
    insert into ${daemon.db.sql(table)} (tenant_id, id, account_id, hash, expires_at)
    values (${tenantId}, ${randomUUIDv7()}, ${who.accountId}, ${hash}, now() + interval '1 hour')`
  return token
}

interface Race {
  readonly state?: 'INVITED'
  /** Prepares the other side, and answers what it sends, by either daemon. */
  prepare(who: Person): Promise<(on: TestDaemon) => Promise<Answered>>
}

const races: Readonly<Record<string, Race>> = {
  'a sign-in': { prepare: async (who) => (on) => signIn(on, who) },
  'a verification': {
    async prepare(who) {
      const call = (path: string, body?: object, proof?: string) =>
        daemon.call('POST', `/api/v1/auth/mfa/totp:${path}`, {
          token: who.token,
          ...(body ? { body } : {}),
          ...(proof ? { headers: { 'x-service-step-up': proof } } : {}),
        })
      const { json: begun } = await call('enroll', undefined, await plantProof(daemon, who))
      const { json: codes } = await call('confirm', { code: codeAt(begun.secret) })
      const challenges: string[] = []
      for (let n = 0; n < 2; n += 1) challenges.push((await signIn(daemon, who)).json.params.challenge_token)
      return (on) => {
        const recovery_code = codes.recovery_codes.pop()
        return post(on, '/auth/sessions:verify', { challenge_token: challenges.pop(), recovery_code })
      }
    },
  },
  'a refresh': {
    async prepare(who) {
      let { refresh_token } = (await signIn(daemon, who)).json
      return async (on) => {
        const answer = await post(on, '/auth/sessions:refresh', { refresh_token })
        refresh_token = answer.json.refresh_token ?? refresh_token
        return answer
      }
    },
  },
  'a redemption': {
    state: 'INVITED',
    async prepare(who) {
      const token = await linked('invitation', 'invitation', who)
      return (on) => post(on, '/auth/invitations:redeem', { token, password })
    },
  },
  'a start password that is replaced': {
    state: 'INVITED',
    async prepare({ accountId }) {
      const name = `n${accountId}`
      await daemon.db.sql`
        update account set sign_in_name = ${name}, password_hash = ${passwordHash}, password_changed_at = now(), start_password_until = now() + interval '1 day'
        where id = ${accountId}`
      const sent = { workspace: 'home', email: name, password, new_password: `${password} of the own` }
      return (on) => post(on, '/auth/sessions:set-password', sent)
    },
  },
  'a reset of the password': {
    async prepare(who) {
      const token = await linked('password_reset', 'passwordReset', who)
      return async (on) => {
        const answer = await post(on, '/auth/password:reset', { token, password: `${password} again` })
        await signIn(on, who)
        return answer
      }
    },
  },
  'a token that makes tokens': {
    prepare: async (who) => (on) => post(on, '/auth/tokens', { name: 'more', scopes: ['workspace:read'] }, who.token),
  },
  'a step-up': { prepare: async (who) => (on) => post(on, '/auth/step-up', { password }, who.token) },
}

test.each(Object.entries(races))(
  'disabling against %s leaves nothing alive',
  async (_, { state, prepare }) => {
    const outcomes = new Set<string>()
    const race = tightRace()
    for (let round = 0; round < rounds; round += 1) {
      const who = await person(daemon, tenantId, {
        role: 'MEMBER',
        ...(state ? { accountState: state } : { passwordHash }),
      })
      const attempt = await prepare(who)
      const [tried, ended] = await race.run(
        () => Promise.all([twin, daemon].map((on) => attempt(on))),
        () => act('disable', who),
      )
      expect(ended.json).toMatchObject({ state: 'DISABLED' })
      expect((await daemon.call('GET', '/api/v1/accounts/me', { token: who.token })).status).toBe(401)
      expect(await alive(who), `round ${round}: ${tried.map(({ status }) => status)}`).toBe(0)
      for (const { json } of tried)
        if (json?.access_token !== undefined)
          expect((await twin.call('GET', '/api/v1/accounts/me', { token: json.access_token })).status).toBe(401)
      expect((await act('enable', who)).status).toBe(200)
      expect(await alive(who)).toBe(0)
      const isBefore = tried.some(({ status }) => status < 300)
      outcomes.add(isBefore ? 'before' : 'behind')
      race.wonBy(isBefore ? 'first' : 'second')
    }
    expect([...outcomes].sort(), 'no round was a race').toEqual(['before', 'behind'])
  },
  240_000,
)
