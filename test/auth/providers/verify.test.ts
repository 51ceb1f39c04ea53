/**
 * The second factor behind a provider: by the challenge of the callback, or by the same call once more. One return from the
 * provider opens one session. People 4, N17.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { codeAt } from '../../kit/authenticator.ts'
import { meeting } from '../../kit/meeting.ts'
import {
  type Back,
  type Place,
  type ProvingHouse,
  password,
  provingHouse,
  type Somebody,
} from '../../kit/proving-house.ts'
import { finish } from '../../kit/signing-in.ts'

let house: ProvingHouse
let at: Place
let ada: Somebody
let secret: string
let codes: string[]
beforeAll(async () => {
  house = await provingHouse()
})
afterAll(() => house.close())
beforeEach(async () => {
  at = await house.place()
  ada = await house.somebody(at)
  await house.post('/auth/sessions:link', { link_token: await house.linkOf(at, ada.accountId) }, ada.token)
  secret = (await house.post('/auth/mfa/totp:enroll', {}, ada.token, await house.proof(ada))).json.secret
  codes = (await house.post('/auth/mfa/totp:confirm', { code: codeAt(secret) }, ada.token)).json.recovery_codes
})

const sessions = async () =>
  (await house.ways.sql`select 1 from session where account_id = ${ada.accountId} and revoked_at is null`).length
const come = () => house.comeBack(at, at.offered, ada.accountId)
const asked = async (back: Back) => {
  const { status, json } = await finish(house.ways.daemon, back)
  expect([status, json.code]).toEqual([401, 'auth.second_factor_required'])
  return json.params.challenge_token as string
}
const verify = (challenge_token: string, n: number) =>
  house.post('/auth/sessions:verify', { challenge_token, recovery_code: codes[n] })

test('the callback answers a challenge, which opens the session; then the flow is over', async () => {
  const back = await come()
  const challenge = await asked(back)
  const before = await sessions()
  expect((await verify(challenge, 0)).status).toBe(201)
  expect((await finish(house.ways.daemon, { ...back, recovery_code: codes[1] })).json.code).toBe('auth.sign_in_failed')
  expect((await verify(challenge, 1)).json.code).toBe('auth.challenge_invalid')
  expect(await sessions()).toBe(before + 1)
})

test('the same call once more opens the session; then every challenge of the flow is over', async () => {
  const back = await come()
  const challenges = [await asked(back), await asked(back)]
  expect((await finish(house.ways.daemon, { ...back, recovery_code: codes[0] })).status).toBe(201)
  for (const challenge of challenges) expect((await verify(challenge, 1)).json.code).toBe('auth.challenge_invalid')
})

test('of two challenges of one flow one opens a session', async () => {
  const back = await come()
  const [one, other] = [await asked(back), await asked(back)]
  const before = await sessions()
  const outcomes = await meeting(
    house.ways.sql,
    (sql) => sql`select 1 from account where id = ${ada.accountId} for update`,
    2,
    () => Promise.all([verify(one, 0), verify(other, 1)]),
  )
  expect(outcomes.map(({ status }) => status).sort()).toEqual([201, 410])
  expect(await sessions()).toBe(before + 1)
})

test('a challenge is void where the provider is off meanwhile, and stays where passwords are', async () => {
  const [byProvider, off] = [await asked(await come()), await asked(await come())]
  const byPassword = (await house.signIn(at, ada.email)).json.params.challenge_token
  expect((await verify(byProvider, 0)).status).toBe(201)
  await house.ways.sql`delete from provider_switch where tenant_id = ${at.id} and provider_id = ${at.offered}`
  expect((await verify(off, 1)).json.code).toBe('auth.challenge_invalid')
  expect((await verify(byPassword, 1)).status).toBe(201)
  const { json } = await house.post('/auth/sessions', {
    workspace: at.slug,
    email: ada.email,
    password: `${password}!`,
  })
  expect([json.code, json.params]).toEqual(['auth.sign_in_failed', {}])
})
