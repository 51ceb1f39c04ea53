/** How long a session lasts: the two bounds, absolute and idle. Spec: InstanceSettings (session_idle_minutes, session_absolute_hours). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { tokenLives } from '../../src/core/areas/auth/sign-in/session.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, joinedWorkspace, type Person } from '../kit/accounts.ts'
import { decide, decideNothing } from '../kit/deciding.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'

const { signIn, refreshSession, getOwnAccount } = operations

let own: TestInstallation
let who: Callers
let owner: Person
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
beforeEach(async () => {
  await decideNothing(own)
  owner = await joinedWorkspace(own)
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const enter = () => who.as().call(signIn, { body: { workspace: owner.slug, email: owner.email, password } })
const refresh = (refresh_token: string) => who.as().call(refreshSession, { body: { refresh_token } })
const minutesUntil = (moment: string) => Math.round((Date.parse(moment) - Date.now()) / 60_000)
/** Lets time pass for one session, by the database's clock. */
const age = (id: string, column: 'created_at' | 'last_used_at', minutes: number) =>
  own.oracle`update session set ${own.oracle(column)} = ${own.oracle(column)} - make_interval(mins => ${minutes}) where id = ${id}`
const over = { code: 'auth.unauthenticated', status: 401 }

describe('the lives of tokens', () => {
  const lives = { sessionAccessMinutes: 15, sessionRefreshDays: 30 }
  const minute = 60_000
  test.each([
    [0, 0, 0, { access: 15, refresh: 43_200 }],
    [5, 0, 0, { access: 5, refresh: 10 }],
    [60, 0, 0, { access: 15, refresh: 75 }],
    [0, 1, 0, { access: 15, refresh: 60 }],
    [0, 1, 50, { access: 10, refresh: 10 }],
    [5, 1, 58, { access: 2, refresh: 2 }],
    [525_600, 87_600, 0, { access: 15, refresh: 43_200 }],
  ])('idle %i min, absolute %i h, begun %i min ago: %j', (idle, hours, begun, expected) => {
    const now = 1_900_000_000_000
    const made = tokenLives(
      lives,
      { session_idle_minutes: idle, session_absolute_hours: hours },
      now,
      now - begun * minute,
    )
    expect({ access: (made.access - now) / minute, refresh: (made.refresh - now) / minute }).toEqual(expected)
  })
})

describe('a session', () => {
  test('that nobody used for that long is over at its next refresh, whatever its tokens say', async () => {
    await decide(own, { sign_in: { session_idle_minutes: { value: 30 } } })
    const session = await enter()
    await age(session.session_id, 'last_used_at', 29)
    const next = await refresh(session.refresh_token)
    await age(session.session_id, 'last_used_at', 30)
    await expect(refresh(next.refresh_token)).rejects.toMatchObject(over)
    await expect(who.as(next.access_token).call(getOwnAccount)).rejects.toMatchObject(over)
    expect(
      await own.oracle`select params from audit_entry where tenant_id = ${owner.tenantId} and action = 'session.ended'`,
    ).toEqual([{ params: { reason: 'bound_reached' } }])
  })

  test('ends for good when its absolute bound has passed, however busy it was', async () => {
    await decide(own, { sign_in: { session_absolute_hours: { value: 2 } } })
    const session = await enter()
    expect(minutesUntil(session.refresh_expires_at)).toBe(120)
    await age(session.session_id, 'created_at', 115)
    const next = await refresh(session.refresh_token)
    expect(minutesUntil(next.access_expires_at)).toBe(5)
    await age(session.session_id, 'created_at', 5)
    await expect(refresh(next.refresh_token)).rejects.toMatchObject(over)
  })

  test('from before the bound was decided obeys it as well', async () => {
    const session = await enter()
    await age(session.session_id, 'created_at', 180)
    await decide(own, { sign_in: { session_absolute_hours: { value: 2 } } })
    await expect(refresh(session.refresh_token)).rejects.toMatchObject(over)
  })
})
