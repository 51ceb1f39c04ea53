/**
 * Step-up by a provider: the person signs in there anew, and `auth_time` is the proof. Against a real provider, and against one
 * that says what an attacker would want. People 4, N21; 10.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { codeAt, wrongCode } from '../../kit/authenticator.ts'
import { meeting } from '../../kit/meeting.ts'
import { type Back, type Place, type ProvingHouse, provingHouse, type Somebody } from '../../kit/proving-house.ts'
import { finish } from '../../kit/signing-in.ts'

let house: ProvingHouse
let at: Place
let ada: Somebody
beforeAll(async () => {
  house = await provingHouse()
})
afterAll(() => house.close())
beforeEach(async () => {
  house.hostile.reset()
  at = await house.place()
  ada = await house.somebody(at, 'OWNER')
  await house.post('/auth/sessions:link', { link_token: await house.linkOf(at, ada.accountId) }, ada.token)
  await house.ways.sql`
    insert into connected_identity (tenant_id, id, provider_id, account_id, issuer, subject)
    values (${at.id}, uuidv7(), ${at.own}, ${ada.accountId}, ${house.hostile.issuer}, ${ada.accountId})`
})

const come = (sub = ada.accountId, purpose = 'STEP_UP') => house.comeBack(at, at.offered, sub, { purpose })
const prove = (body: object, token = ada.token) => house.post('/auth/step-up:provider', body, token)
const codeOf = ({ status, json }: { status: number; json: { code?: string } }) => [status, json?.code]
const failed = [401, 'auth.sign_in_failed']
const stale = [409, 'identity_provider.no_fresh_sign_in']
const now = () => Math.floor(Date.now() / 1000)
/** What the lying provider says in its signed token, and when the person signed in there. */
const said = async (claims: object) =>
  prove(await house.comeBackLying(at, at.own, 'STEP_UP', { sub: ada.accountId, ...claims }))
const enrol = async () => {
  const { json } = await house.post('/auth/mfa/totp:enroll', {}, ada.token, await house.proof(ada))
  const confirmed = await house.post('/auth/mfa/totp:confirm', { code: codeAt(json.secret) }, ada.token)
  return { secret: json.secret as string, codes: confirmed.json.recovery_codes as string[] }
}

describe('with a real provider', () => {
  test('a sign-in anew is a proof for one call, also for an account without a password', async () => {
    await house.ways.sql`update account set password_hash = null where id = ${ada.accountId}`
    const proof = await prove({ ...(await come()), operation: 'elevateSession' })
    expect([proof.status, proof.json]).toEqual([
      201,
      { step_up_token: expect.stringMatching(/^svcu_/), expires_at: expect.any(String) },
    ])
    const elevate = () => house.post('/auth/sessions:elevate', {}, ada.token, proof.json.step_up_token)
    expect((await elevate()).status).toBe(200)
    expect(codeOf(await elevate())).toEqual([401, 'auth.step_up_required'])
    const [entry] = await house.ways.sql`
      select params from audit_entry where tenant_id = ${at.id} and action = 'step_up.granted'`
    expect(entry?.['params']).toEqual({ operation: 'elevateSession' })
  })

  test('the provider is asked to let the person sign in anew', async () => {
    const { json } = await house.post('/auth/oidc:start', {
      workspace: at.slug,
      provider_id: at.offered,
      redirect_uri: 'https://app.example/signed-in',
      purpose: 'STEP_UP',
    })
    const asked = new URL(json.authorization_url).searchParams
    expect([asked.get('prompt'), asked.get('max_age')]).toEqual(['login', '0'])
  })

  test('a proof for one call serves no other', async () => {
    const { json } = await prove({ ...(await come()), operation: 'disableAccount', target_id: ada.accountId })
    expect(codeOf(await house.post('/auth/sessions:elevate', {}, ada.token, json.step_up_token))).toEqual([
      401,
      'auth.step_up_required',
    ])
  })

  test('somebody else’s identity, somebody else’s session and another workspace get no proof', async () => {
    const bob = await house.somebody(at)
    expect(codeOf(await prove(await come('somebody else')))).toEqual(failed)
    expect(codeOf(await prove(await come(), bob.token))).toEqual(failed)
    const mallory = await house.somebody(await house.place())
    const theirs = await come()
    expect(codeOf(await prove(theirs, mallory.token))).toEqual(failed)
    expect(codeOf(await prove(theirs)), 'spent').toEqual(failed)
  })

  test('a flow serves its purpose, once, also of two uses at once', async () => {
    for (const purpose of ['SIGN_IN', 'LINK']) {
      const other = await come(ada.accountId, purpose)
      expect(codeOf(await prove(other))).toEqual(failed)
      expect(codeOf(await finish(house.ways.daemon, other))).toEqual(failed)
    }
    const mine = await come()
    expect(codeOf(await finish(house.ways.daemon, mine))).toEqual(failed)
    expect(codeOf(await prove(mine))).toEqual(failed)
    const twice = await come()
    const [flow] = await house.ways.sql`
      select id from sign_in_flow where tenant_id = ${at.id} and used_at is null order by began_at desc limit 1`
    const outcomes = await meeting(
      house.ways.sql,
      (sql) => sql`select 1 from sign_in_flow where id = ${flow?.['id']} for update`,
      2,
      () => Promise.all([prove(twice), prove(twice)]),
    )
    expect(outcomes.map(({ status }) => status).sort()).toEqual([201, 401])
  })

  test('a secret that cannot be opened is told', async () => {
    const back = await come()
    await house.ways.sql`update sealed_value set ciphertext = '\\x00' where owner_id = ${at.offered}`
    expect(codeOf(await prove(back))).toEqual([503, 'secret.unavailable'])
  })

  test('another state, a provider that is off, and a caller that is gone get none', async () => {
    expect(codeOf(await prove({ ...(await come()), state: 'another' }))).toEqual(failed)
    const back = await come()
    await house.ways.sql`delete from provider_switch where tenant_id = ${at.id} and provider_id = ${at.offered}`
    expect(codeOf(await prove(back))).toEqual(failed)
    await house.ways.daemon.call('DELETE', '/api/v1/auth/sessions', { token: ada.token })
    expect(codeOf(await prove(back))).toEqual([401, 'auth.unauthenticated'])
  })
})

describe('when the person signed in there', () => {
  test('auth_time of this moment is a proof; a minute before the flow and a minute ahead are, too', async () => {
    for (const auth_time of [now(), now() - 55, now() + 55]) expect((await said({ auth_time })).status).toBe(201)
  })

  test('an older or a later one is none, nor what is no moment', async () => {
    for (const auth_time of [now() - 65, now() - 30 * 86_400, now() + 65, now() + 86_400, now() * 1000, 0])
      expect(codeOf(await said({ auth_time }))).toEqual(stale)
    // What is no moment at all makes the token untrusted.
    for (const auth_time of [-1, String(now()), [now()], { at: now() }, true, null])
      expect([stale, failed]).toContainEqual(codeOf(await said({ auth_time })))
  })

  test('without it a fresh token proves nothing: its iat only says when it was written, and acr nothing', async () => {
    expect(codeOf(await said({ iat: now() }))).toEqual(stale)
    expect(codeOf(await said({ iat: now(), acr: 'urn:mace:incommon:iap:gold', amr: ['mfa', 'otp'] }))).toEqual(stale)
  })

  test('only the signed token says it: the user-info endpoint does not', async () => {
    house.hostile.metadata = { userinfo_endpoint: `${house.hostile.issuer}/userinfo` }
    house.hostile.answers.set('/userinfo', (response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ sub: ada.accountId, auth_time: now(), email: 'x@y.example' })),
    )
    expect(codeOf(await said({ email: undefined }))).toEqual(stale)
    house.hostile.metadata = {}
  })

  test('the clock of the database counts: a flow that began an hour ago by it takes no sign-in of then', async () => {
    const back = await house.comeBackLying(at, at.own, 'STEP_UP', { sub: ada.accountId, auth_time: now() - 1800 })
    await house.ways.sql`
      update sign_in_flow set began_at = now() - interval '40 minutes' where tenant_id = ${at.id} and used_at is null`
    expect((await prove(back)).status, 'behind the beginning of the flow').toBe(201)
    const early = await house.comeBackLying(at, at.own, 'STEP_UP', { sub: ada.accountId, auth_time: now() })
    await house.ways.sql`
      update sign_in_flow set began_at = now() + interval '1 day' where tenant_id = ${at.id} and used_at is null`
    expect(codeOf(await prove(early)), 'before it the flow itself serves nothing').toEqual([401, 'auth.sign_in_failed'])
  })

  test('a refusal spends the flow', async () => {
    const back = await house.comeBackLying(at, at.own, 'STEP_UP', { sub: ada.accountId, auth_time: now() - 3600 })
    expect(codeOf(await prove(back))).toEqual(stale)
    house.hostile.claims = { sub: ada.accountId, auth_time: now() }
    expect(codeOf(await prove(back))).toEqual(failed)
  })

  test("a workspace's own provider steps up people, and no operator", async () => {
    await house.ways.sql`insert into operator (account_id, workspace_id) values (${ada.accountId}, ${at.id})`
    expect(codeOf(await said({ auth_time: now() }))).toEqual(failed)
    expect((await prove(await come())).status).toBe(201)
    await house.ways.sql`delete from operator where account_id = ${ada.accountId}`
  })
})

describe("the account's own second factor", () => {
  test('is asked for besides, by the same call once more, and the provider not asked again', async () => {
    const { codes } = await enrol()
    const back = await come()
    expect(codeOf(await prove(back))).toEqual([401, 'auth.second_factor_required'])
    const asked = house.real.requests.length
    const proof = await prove({ ...back, recovery_code: codes[0] })
    expect(proof.status).toBe(201)
    expect(house.real.requests.length).toBe(asked)
    expect(codeOf(await prove({ ...back, recovery_code: codes[1] }))).toEqual(failed)
  })

  test('that waits is the account’s own: nobody else goes on with the flow', async () => {
    const { codes } = await enrol()
    const bob = await house.somebody(at)
    const back: Back = await come()
    expect(codeOf(await prove(back))).toEqual([401, 'auth.second_factor_required'])
    expect(codeOf(await prove(back, bob.token))).toEqual(failed)
    expect(codeOf(await prove({ ...back, recovery_code: codes[0] })), 'spent').toEqual(failed)
  })

  test('wrong codes count as at a step-up with the password, and lock it', async () => {
    const { secret, codes } = await enrol()
    const back = await come()
    for (let n = 0; n < 5; n += 1)
      expect(codeOf(await prove({ ...back, totp: wrongCode(secret) }))).toEqual([401, 'auth.second_factor_failed'])
    const locked = await prove({ ...(await come()), recovery_code: codes[0] })
    expect(codeOf(locked)).toEqual([429, 'auth.step_up_locked'])
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(890)
  })
})
