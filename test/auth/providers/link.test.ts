/**
 * An identity joins the account in which its person is signed in: by the link that everybody gets who is turned away, or by a
 * flow of its own. Against a real provider, and with what somebody would try. People 4, N18; 10.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mintToken } from '../../../src/core/kernel/values/token.ts'
import { meeting, played, untilWaiting } from '../../kit/meeting.ts'
import { type Place, type ProvingHouse, provingHouse, type Somebody } from '../../kit/proving-house.ts'
import { finish, whoIs } from '../../kit/signing-in.ts'

let house: ProvingHouse
let at: Place
let ada: Somebody
let person = 0
/** A person whom only the provider knows. */
let sub: string
beforeAll(async () => {
  house = await provingHouse()
})
afterAll(() => house.close())
beforeEach(async () => {
  house.hostile.reset()
  at = await house.place()
  ada = await house.somebody(at)
  person += 1
  sub = `person-${person}`
})

const link = (body: object, who: Pick<Somebody, 'token'> = ada, stepUp?: string) =>
  house.post('/auth/sessions:link', body, who.token, stepUp)
const codeOf = ({ status, json }: { status: number; json: { code?: string } }) => [status, json?.code]
const invalid = [410, 'auth.link_invalid']
const identities = async (accountId = ada.accountId) =>
  (await house.ways.sql`select subject from connected_identity where account_id = ${accountId} order by id`).map(
    ({ subject }) => subject,
  )
/** Who the provider's person is here. */
const enters = async (name = sub) => {
  const answer = await finish(house.ways.daemon, await house.comeBack(at, at.offered, name))
  return answer.status === 201 ? ((await whoIs(house.ways.daemon, answer)).id as string) : answer.json.code
}
const age = (seconds: number, who: Somebody = ada) =>
  house.ways
    .sql`update session set created_at = created_at - make_interval(secs => ${seconds}) where id = ${who.sessionId}`

describe('a link', () => {
  test('is answered to whoever is turned away, and connects the account of the session once', async () => {
    const token = await house.linkOf(at, sub)
    expect(token).toMatch(/^svcl_/)
    const { status, json } = await link({ link_token: token })
    expect([status, json]).toEqual([
      200,
      {
        id: expect.any(String),
        provider_id: at.offered,
        connected_at: expect.any(String),
        last_used_at: expect.any(String),
      },
    ])
    expect(await enters()).toBe(ada.accountId)
    expect(codeOf(await link({ link_token: token }))).toEqual(invalid)
    const entries = await house.ways.sql`
      select params from audit_entry where tenant_id = ${at.id} and action = 'account.connected' and subject_id = ${ada.accountId}`
    expect([...entries]).toEqual([{ params: { provider_id: at.offered } }])
    const mails = await house.ways.sql`
      select data ->> 'name' as name from pgboss.job where name = 'send_mail' and data ->> 'accountId' = ${ada.accountId}`
    expect([...mails]).toEqual([{ name: 'provider_changed' }])
  })

  test('is answered alike whether there is an account with that address or not, and an address alone never links', async () => {
    const claims = { email: ada.email, email_verified: false }
    const known = await finish(house.ways.daemon, await house.comeBack(at, at.offered, `${sub}-a`, { claims }))
    const unknown = await finish(house.ways.daemon, await house.comeBack(at, at.offered, `${sub}-b`))
    const shape = ({ status, json }: typeof known) => [status, json.code, Object.keys(json.params)]
    expect(shape(known)).toEqual([403, 'auth.not_admitted', ['link_token']])
    expect(shape(unknown)).toEqual(shape(known))
    expect(await identities()).toEqual([])
  })

  test('is stored as a hash, lives ten minutes, and not longer where the clock went ahead', async () => {
    const [over, ahead] = [await house.linkOf(at, sub), await house.linkOf(at, sub)]
    const rows = JSON.stringify(await house.ways.sql`select *, encode(hash, 'escape') as text from sign_in_link`)
    expect(rows).not.toContain(over.slice(5))
    const [row] = await house.ways.sql<{ minutes: number }[]>`
      select round(extract(epoch from min(expires_at) - now()) / 60)::int as minutes from sign_in_link where tenant_id = ${at.id}`
    expect(row?.minutes).toBe(10)
    await house.ways.sql`update sign_in_link set expires_at = now() where tenant_id = ${at.id}`
    expect(codeOf(await link({ link_token: over }))).toEqual(invalid)
    await house.ways.sql`
      update sign_in_link set issued_at = now() + interval '1 day', expires_at = now() + interval '1 day' where tenant_id = ${at.id}`
    expect(codeOf(await link({ link_token: ahead }))).toEqual(invalid)
    for (const token of [mintToken('link').token, mintToken('flow').token, 'x'])
      expect(codeOf(await link({ link_token: token }))).toEqual(invalid)
    expect(await identities()).toEqual([])
  })

  test('of another workspace is invalid, and spent by the attempt', async () => {
    const other = await house.place()
    const [mallory, token] = [await house.somebody(other), await house.linkOf(at, sub)]
    expect(codeOf(await link({ link_token: token }, mallory))).toEqual(invalid)
    expect(codeOf(await link({ link_token: token }))).toEqual(invalid)
    expect([...(await identities()), ...(await identities(mallory.accountId))]).toEqual([])
  })

  test('takes a session: no token, and no session that has ended', async () => {
    const body = { link_token: await house.linkOf(at, sub) }
    const { json: made } = await house.post('/auth/tokens', { name: 'x', scopes: ['workspace:admin'] }, ada.token)
    const refused = await link(body, made)
    expect([refused.status, refused.json.code, refused.json.params]).toEqual([
      403,
      'auth.credential_kind',
      { accepted: 'SESSION' },
    ])
    await house.ways.daemon.call('DELETE', '/api/v1/auth/sessions', { token: ada.token })
    expect(codeOf(await link(body))).toEqual([401, 'auth.unauthenticated'])
    expect(await identities()).toEqual([])
  })

  test('takes a step-up once the session is 300 s old; one from the future is old, too', async () => {
    await age(290)
    expect((await link({ link_token: await house.linkOf(at, sub) })).status).toBe(200)
    for (const seconds of [11, -86_400]) {
      await age(seconds)
      const token = await house.linkOf(at, `${sub}-${seconds}`)
      expect(codeOf(await link({ link_token: token }))).toEqual([401, 'auth.step_up_required'])
      expect((await link({ link_token: token }, ada, await house.proof(ada))).status).toBe(200)
    }
  })

  test('whose identity is taken by another account is refused and spent; the own identity is answered as it is', async () => {
    const bob = await house.somebody(at)
    const tokens = await Promise.all([house.linkOf(at, sub), house.linkOf(at, sub), house.linkOf(at, sub)])
    const first = await link({ link_token: tokens[0] })
    const again = await link({ link_token: tokens[1] })
    expect([again.status, again.json]).toEqual([200, first.json])
    expect(codeOf(await link({ link_token: tokens[2] }, bob))).toEqual([409, 'auth.identity_taken'])
    expect(codeOf(await link({ link_token: tokens[2] }))).toEqual(invalid)
    expect(await enters()).toBe(ada.accountId)
  })

  test('of two accounts with one identity at once one gets it', async () => {
    const bob = await house.somebody(at)
    const tokens = await Promise.all([house.linkOf(at, sub), house.linkOf(at, sub)])
    const outcomes = await meeting(
      house.ways.sql,
      (sql) => sql`select 1 from account where id in (${ada.accountId}, ${bob.accountId}) for update`,
      2,
      () => Promise.all([link({ link_token: tokens[0] }), link({ link_token: tokens[1] }, bob)]),
    )
    expect(outcomes.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('of two uses of one at once one is served', async () => {
    const body = { link_token: await house.linkOf(at, sub) }
    const outcomes = await meeting(
      house.ways.sql,
      (sql) => sql`select 1 from account where id = ${ada.accountId} for update`,
      2,
      () => Promise.all([link(body), link(body)]),
    )
    expect(outcomes.map(({ status }) => status).sort()).toEqual([200, 410])
  })

  test('is refused for the eleventh identity', async () => {
    for (let n = 0; n < 10; n += 1)
      expect((await link({ link_token: await house.linkOf(at, `${sub}-${n}`) })).status).toBe(200)
    const full = await link({ link_token: await house.linkOf(at, sub) })
    expect([...codeOf(full), full.json.params]).toEqual([409, 'account.identities_full', { limit: 10 }])
  })

  test('is void where the provider is off meanwhile', async () => {
    const token = await house.linkOf(at, sub)
    await house.ways.sql`delete from provider_switch where tenant_id = ${at.id} and provider_id = ${at.offered}`
    expect(codeOf(await link({ link_token: token }))).toEqual(invalid)
  })

  test('of a disabled account ends with it, and lets nobody else in', async () => {
    await link({ link_token: await house.linkOf(at, sub) })
    const admin = await house.somebody(at, 'OWNER')
    const act = async (what: string) =>
      house.post(`/accounts/${ada.accountId}:${what}`, {}, admin.token, await house.proof(admin))
    expect((await act('disable')).status).toBe(200)
    const token = await house.linkOf(at, sub)
    expect((await act('enable')).status).toBe(200)
    expect((await act('disable')).status).toBe(200)
    const alive = await house.ways.sql`
      select 1 from sign_in_link where account_id = ${ada.accountId} and used_at is null`
    expect(alive).toHaveLength(0)
    expect(codeOf(await link({ link_token: token }, admin))).toEqual(invalid)
  })
})

describe('a flow for linking', () => {
  const back = (more: object = {}) => house.comeBack(at, at.offered, sub, { purpose: 'LINK', ...more })

  test('connects the account of the session, once, with no account made', async () => {
    const body = await back()
    expect((await link(body)).json).toMatchObject({ provider_id: at.offered })
    expect(codeOf(await link(body))).toEqual([401, 'auth.sign_in_failed'])
    expect(await enters()).toBe(ada.accountId)
  })

  test('serves nothing else, and none of the others serves for it; each attempt spends it', async () => {
    const linking = await back()
    expect(codeOf(await finish(house.ways.daemon, linking))).toEqual([401, 'auth.sign_in_failed'])
    expect(codeOf(await link(linking))).toEqual([401, 'auth.sign_in_failed'])
    for (const purpose of ['SIGN_IN', 'STEP_UP']) {
      const other = await back({ purpose })
      expect(codeOf(await link(other))).toEqual([401, 'auth.sign_in_failed'])
      expect(codeOf(await finish(house.ways.daemon, other))).toEqual([401, 'auth.sign_in_failed'])
    }
    expect(await identities()).toEqual([])
  })

  test('of another workspace, or with another state, is spent and serves nothing', async () => {
    const mallory = await house.somebody(await house.place())
    const theirs = await back()
    expect(codeOf(await link(theirs, mallory))).toEqual([401, 'auth.sign_in_failed'])
    expect(codeOf(await link(theirs))).toEqual([401, 'auth.sign_in_failed'])
    const planted = { ...(await back()), state: 'another' }
    expect(codeOf(await link(planted))).toEqual([401, 'auth.sign_in_failed'])
    expect([...(await identities()), ...(await identities(mallory.accountId))]).toEqual([])
  })

  test('has all it needs, or a link, and not both', async () => {
    const { flow_token, code, state } = await back()
    const faults = [
      {},
      { flow_token },
      { flow_token, code },
      { flow_token, state },
      { flow_token, code, state, link_token: 'x' },
    ]
    for (const body of faults) expect(codeOf(await link(body))).toEqual([422, 'request.invalid'])
    expect((await link({ flow_token, code, state, iss: house.real.issuer })).status).toBe(200)
  })

  test('takes no invitation', async () => {
    const answer = await house.post('/auth/oidc:start', {
      workspace: at.slug,
      provider_id: at.offered,
      redirect_uri: 'https://app.example/signed-in',
      purpose: 'LINK',
      invitation_token: mintToken('invitation').token,
    })
    expect(codeOf(answer)).toEqual([422, 'request.invalid'])
  })

  test("a provider of the workspace's own connects people, and no operator", async () => {
    const honest = await house.comeBackLying(at, at.own, 'LINK', { sub })
    expect((await link(honest)).status).toBe(200)
    await house.ways.sql`insert into operator (account_id, workspace_id) values (${ada.accountId}, ${at.id})`
    const hostile = await house.comeBackLying(at, at.own, 'LINK', { sub: `${sub}-2` })
    expect(codeOf(await link(hostile))).toEqual([403, 'auth.not_admitted'])
    expect((await link(await back())).status, 'the installation’s own').toBe(200)
    await house.ways.sql`delete from operator where account_id = ${ada.accountId}`
  })

  test('tells that the secret of the client cannot be opened', async () => {
    const body = await back()
    await house.ways.sql`update sealed_value set ciphertext = '\\x00' where owner_id = ${at.offered}`
    expect(codeOf(await link(body))).toEqual([503, 'secret.unavailable'])
    expect(await identities()).toEqual([])
  })

  test('that lies about its nonce connects nobody', async () => {
    const body = await house.comeBackLying(at, at.own, 'LINK', { sub, nonce: 'another' })
    expect(codeOf(await link(body))).toEqual([401, 'auth.sign_in_failed'])
    expect(await identities()).toEqual([])
  })
})

describe('linking against disabling', () => {
  const disable = async (admin: Somebody) =>
    house.post(`/accounts/${ada.accountId}:disable`, {}, admin.token, await house.proof(admin))

  /** Both wait for the account, one behind the other; each round has a person of its own. */
  const inTurn = (first: 'disable' | 'link') =>
    played(async () => {
      const admin = await house.somebody(at, 'OWNER')
      ada = await house.somebody(at)
      const body = { link_token: await house.linkOf(at, sub) }
      const calls = { disable: () => disable(admin), link: () => link(body) }
      let ahead: ReturnType<typeof link> | undefined
      const behind = await meeting(
        house.ways.sql,
        (sql) => sql`select 1 from account where id = ${ada.accountId} for update`,
        2,
        async () => {
          ahead = calls[first]()
          await untilWaiting(house.ways.sql, 1)
          return calls[first === 'link' ? 'disable' : 'link']()
        },
      )
      return [await ahead!, behind] as const
    })

  test('behind it, the session is over and nothing is connected', async () => {
    const [disabled, linked] = await inTurn('disable')
    expect(disabled.status).toBe(200)
    expect(codeOf(linked)).toEqual([401, 'auth.unauthenticated'])
    expect(await identities()).toEqual([])
  })

  test('before it, the identity is there, and lets nobody in', async () => {
    const [linked, disabled] = await inTurn('link')
    expect([linked.status, disabled.status]).toEqual([200, 200])
    expect(await identities()).toEqual([sub])
    expect(await enters()).toBe('auth.not_admitted')
  })
})
