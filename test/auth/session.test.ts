/** Signing in, staying in, leaving. Spec: decisions 2, Tokens and shapes. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { newId } from '../../src/core/kernel/values/id.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type Callers, callers, joinedWorkspace, type Person, plantAccount, plantToken } from '../kit/accounts.ts'
import { request } from '../kit/callers.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'

const {
  signIn,
  refreshSession,
  signOut,
  endSession,
  listSessions,
  getOwnAccount,
  changePassword,
  createToken,
  stepUp,
} = operations

let own: TestInstallation
let who: Callers
let owner: Person
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
beforeEach(async () => {
  owner = await joinedWorkspace(own)
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const enter = (secret = password) =>
  who.as().call(signIn, { body: { workspace: owner.slug, email: owner.email, password: secret } })
const refresh = (refresh_token: string) => who.as().call(refreshSession, { body: { refresh_token } })
const me = (token: string) => who.as(token).call(getOwnAccount)
/** Longer than the grace of an answer that was lost (refresh-grace.test.ts). */
const late = () =>
  own.oracle`update session set rotated_at = rotated_at - interval '61 seconds' where tenant_id = ${owner.tenantId}`
const unauthenticated = { code: 'auth.unauthenticated', status: 401 }

describe('signing in', () => {
  test('a session has an access token of a quarter of an hour and a refresh token of thirty days', async () => {
    const session = await enter()
    expect(session.access_token).toMatch(/^svcs_/)
    expect(session.refresh_token).toMatch(/^svcr_/)
    const minutes = (moment: string) => Math.round((Date.parse(moment) - Date.now()) / 60_000)
    expect(minutes(session.access_expires_at)).toBe(15)
    expect(minutes(session.refresh_expires_at)).toBe(30 * 24 * 60)
    expect((await me(session.access_token)).id).toBe(owner.accountId)
  })

  test('the address is compared without regard to case', async () => {
    const session = await who
      .as()
      .call(signIn, { body: { workspace: owner.slug, email: owner.email.toUpperCase(), password } })
    expect(session.access_token).toMatch(/^svcs_/)
  })

  test('a wrong password, an unknown address and an unknown workspace answer to the letter alike', async () => {
    const answers = await Promise.all(
      [
        { workspace: owner.slug, email: owner.email, password: 'not the password' },
        { workspace: owner.slug, email: 'nobody@nowhere.example', password },
        { workspace: 'nobody-has-it', email: owner.email, password },
        { workspace: who.operator.slug, email: owner.email, password },
        { email: owner.email, password }, // no workspace at all, on a host that names none
      ].map((body) => request(who.daemon.url, signIn, { body })),
    )
    const seen = answers.map(({ status, headers, body }) => {
      const { instance: _, ...rest } = body as Record<string, unknown>
      const kept = [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name))
      return JSON.stringify([status, rest, kept])
    })
    expect(new Set(seen).size).toBe(1)
    expect(answers[0]).toMatchObject({ status: 401, body: { code: 'auth.sign_in_failed' } })
  })

  test('an account that was invited only, or disabled, cannot', async () => {
    await own.oracle`update account set state = 'DISABLED' where id = ${owner.accountId}`
    await expect(enter()).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    await expect(me(owner.session.access_token)).rejects.toMatchObject(unauthenticated)
    await expect(refresh(owner.session.refresh_token)).rejects.toMatchObject(unauthenticated)
  })
})

describe('refreshing', () => {
  test('the new pair serves, the old access token does not', async () => {
    const next = await refresh(owner.session.refresh_token)
    expect(next.session_id).toBe(owner.session.session_id)
    expect((await me(next.access_token)).id).toBe(owner.accountId)
    await expect(me(owner.session.access_token)).rejects.toMatchObject(unauthenticated)
  })

  test('a refresh token that comes back late ends the session for whoever holds it', async () => {
    const next = await refresh(owner.session.refresh_token)
    await late()
    await expect(refresh(owner.session.refresh_token)).rejects.toMatchObject(unauthenticated)
    await expect(me(next.access_token)).rejects.toMatchObject(unauthenticated)
    await expect(refresh(next.refresh_token)).rejects.toMatchObject(unauthenticated)
    const ended =
      await own.oracle`select params from audit_entry where tenant_id = ${owner.tenantId} and action = 'session.ended'`
    expect([...ended]).toEqual([{ params: { reason: 'refresh_token_reused' } }])
  })

  test('other sessions go on', async () => {
    const other = await enter()
    await refresh(owner.session.refresh_token)
    await late()
    await expect(refresh(owner.session.refresh_token)).rejects.toMatchObject(unauthenticated)
    expect((await me(other.access_token)).id).toBe(owner.accountId)
  })

  test('expired, unknown and foreign tokens are unauthenticated, and an access token is no refresh token', async () => {
    await own.oracle`update credential set expires_at = now() where tenant_id = ${owner.tenantId} and kind = 'REFRESH'`
    for (const token of [owner.session.refresh_token, mintToken('refresh').token, owner.session.access_token, 'x'])
      await expect(refresh(token)).rejects.toMatchObject(unauthenticated)
  })

  test('a refresh token opens nothing by itself', async () => {
    await expect(me(owner.session.refresh_token)).rejects.toMatchObject(unauthenticated)
  })
})

describe('leaving', () => {
  test('signing out ends this session from the next call on, and no other', async () => {
    const other = await enter()
    await who.as(owner.session.access_token).call(signOut)
    await expect(me(owner.session.access_token)).rejects.toMatchObject(unauthenticated)
    await expect(refresh(owner.session.refresh_token)).rejects.toMatchObject(unauthenticated)
    expect((await me(other.access_token)).id).toBe(owner.accountId)
  })

  test('a token that belongs to no session signs nobody out', async () => {
    const { token } = await plantToken(own, owner, { scopes: ['workspace:admin'] })
    await expect(who.as(token).call(signOut)).rejects.toMatchObject({ code: 'not_found', status: 404 })
  })

  test('sessions are listed newest first, and one of them is this one', async () => {
    const other = await enter()
    const { data } = await who.as(owner.session.access_token).call(listSessions)
    expect(data.map(({ id, is_current }) => [id, is_current])).toEqual([
      [other.session_id, false],
      [owner.session.session_id, true],
    ])
  })

  test('an ended or a spent session is listed no more', async () => {
    const [gone, spent] = [await enter(), await enter()]
    await who.as(owner.session.access_token).call(endSession, { sessionId: gone.session_id })
    await own.oracle`update credential set expires_at = now() where session_id = ${spent.session_id}`
    const { data } = await who.as(owner.session.access_token).call(listSessions)
    expect(data.map(({ id }) => id)).toEqual([owner.session.session_id])
    await expect(me(gone.access_token)).rejects.toMatchObject(unauthenticated)
  })

  test('a session that is over, of somebody else, or of nobody is not_found', async () => {
    const mine = who.as(owner.session.access_token)
    const gone = await enter()
    await mine.call(endSession, { sessionId: gone.session_id })
    const colleague = await plantAccount(own, owner.tenantId)
    const theirs = newId()
    await own.oracle`insert into session (tenant_id, id, account_id) values (${owner.tenantId}, ${theirs}, ${colleague.accountId})`
    for (const sessionId of [gone.session_id, theirs, who.operator.session.session_id, randomUUID()])
      await expect(mine.call(endSession, { sessionId })).rejects.toMatchObject({ code: 'not_found', status: 404 })
    expect((await me(who.operator.session.access_token)).id).toBe(who.operator.accountId)
    expect(await own.oracle`select 1 from session where id = ${theirs} and revoked_at is null`).toHaveLength(1)
  })
})

describe('changing the password', () => {
  const change = (token: string, current_password: string, new_password = 'an entirely different one') =>
    who.as(token).call(changePassword, { body: { current_password, new_password } })

  test('ends every other session, keeps this one, and only the new password signs in', async () => {
    const other = await enter()
    await change(owner.session.access_token, password)
    expect((await me(owner.session.access_token)).id).toBe(owner.accountId)
    await expect(me(other.access_token)).rejects.toMatchObject(unauthenticated)
    await expect(refresh(other.refresh_token)).rejects.toMatchObject(unauthenticated)
    await expect(enter()).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    expect((await enter('an entirely different one')).access_token).toMatch(/^svcs_/)
  })

  test('voids every unspent step-up', async () => {
    const person = who.as(who.operator.session.access_token)
    const { step_up_token } = await person.call(stepUp, { body: { password } })
    await change(who.operator.session.access_token, password)
    const minting = { body: { name: 'x', scopes: ['admin:tenants' as const] }, stepUp: step_up_token }
    await expect(person.call(createToken, minting)).rejects.toMatchObject({ code: 'auth.step_up_required' })
    await change(who.operator.session.access_token, 'an entirely different one', password)
  })

  test('a wrong one changes nothing and counts like a failed step-up', async () => {
    for (let n = 0; n < 5; n += 1)
      await expect(change(owner.session.access_token, 'wrong wrong wrong')).rejects.toMatchObject({
        code: 'auth.sign_in_failed',
      })
    await expect(change(owner.session.access_token, password)).rejects.toMatchObject({
      code: 'auth.step_up_locked',
      status: 429,
    })
    expect((await enter()).access_token).toMatch(/^svcs_/)
  })

  test('of two at once that change it from the same one, one succeeds', async () => {
    const outcomes = await Promise.allSettled([
      change(owner.session.access_token, password, 'the first new password'),
      change(owner.session.access_token, password, 'the second new password'),
    ])
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})
