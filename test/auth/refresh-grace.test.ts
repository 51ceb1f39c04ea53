/**
 * A refresh whose answer was lost: the token before the newest serves once more for some moments, and later its return ends the
 * session. Decisions 7, Refresh; people 9, rounds of 20 at once: 5 here, 1,000 with SVC_FAULTS=full.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { performForAnswer } from '../../src/core/app/perform.ts'
import type { Session } from '../../src/core/contract/auth/operations.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { anyone } from '../../src/core/kernel/values/actor.ts'
import { type Callers, callers, joinedWorkspace, type Person } from '../kit/accounts.ts'
import { decide, decideNothing } from '../kit/deciding.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { meeting } from '../kit/meeting.ts'

const rounds = process.env['SVC_FAULTS'] === 'full' ? 1000 : 5
const crowd = 20

let own: TestInstallation
let who: Callers
let ada: Person
let first: Session
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
beforeEach(async () => {
  ada = await joinedWorkspace(own)
  first = ada.session
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const refresh = ({ refresh_token }: Pick<Session, 'refresh_token'>) =>
  who.as().call(operations.refreshSession, { body: { refresh_token } })
const lives = ({ access_token }: Session) =>
  who
    .as(access_token)
    .call(operations.getOwnAccount)
    .then(
      () => true,
      () => false,
    )
const refused = { code: 'auth.unauthenticated', status: 401 }
const ended = async () =>
  (
    await own.oracle<{ reason: string }[]>`
      select params ->> 'reason' as reason from audit_entry where tenant_id = ${ada.tenantId} and action = 'session.ended'`
  ).map(({ reason }) => reason)
/** As if the newest token had taken its place so many seconds ago, by the database's clock. */
const pass = async (seconds: number) => {
  await own.oracle`
    update credential c set used_at = c.used_at - make_interval(secs => ${seconds}) from session s
    where s.tenant_id = ${ada.tenantId} and c.session_id = s.id and c.used_at = s.rotated_at`
  await own.oracle`
    update session set rotated_at = rotated_at - make_interval(secs => ${seconds}) where tenant_id = ${ada.tenantId}`
}

describe('within the grace', () => {
  test('the token before the newest brings a further pair, beside the one whose answer was lost', async () => {
    const lost = await refresh(first)
    await pass(30) // far from the end, so that a slow machine is within it
    const further = await refresh(first)
    expect(further.session_id).toBe(first.session_id)
    expect([await lives(first), await lives(lost), await lives(further)]).toEqual([false, true, true])
    expect((await refresh(further)).session_id).toBe(first.session_id)
    expect(await ended()).toEqual([])
  })

  test('it serves once more; a third use is refused, and ends nothing', async () => {
    const newest = await refresh(first)
    expect((await refresh(first)).session_id).toBe(first.session_id)
    for (let n = 0; n < 3; n += 1) await expect(refresh(first)).rejects.toMatchObject(refused)
    expect([await lives(newest), await ended()]).toEqual([true, []])
    expect((await refresh(newest)).session_id).toBe(first.session_id)
  })

  test('a bound of the session ends it all the same', async () => {
    await refresh(first)
    await decide(own, { sign_in: { session_absolute_hours: { value: 1 } } })
    try {
      await own.oracle`update session set created_at = now() - interval '61 minutes' where tenant_id = ${ada.tenantId}`
      await expect(refresh(first)).rejects.toMatchObject(refused)
      expect(await ended()).toEqual(['bound_reached'])
    } finally {
      await decideNothing(own)
    }
  })

  test.each(Array.from({ length: rounds }, (_, n) => n + 1))(
    `of ${crowd} at once two are served, none ends the session, and both pairs go on, round %i`,
    async () => {
      const outcomes = await meeting(
        own.oracle,
        (sql) => sql`select 1 from session where id = ${first.session_id} for update`,
        2,
        () => Promise.allSettled(Array.from({ length: crowd }, () => refresh(first))),
      )
      const served = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      expect(served).toHaveLength(2)
      for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(refused)
      expect(await ended()).toEqual([])
      // Whichever arrived: the one that is used first makes both the ones before, and the other serves a moment more.
      expect((await refresh(served[1]!)).session_id).toBe(first.session_id)
      expect((await refresh(served[0]!)).session_id).toBe(first.session_id)
      await pass(60)
      await expect(refresh(served[0]!)).rejects.toMatchObject(refused)
      expect(await ended()).toEqual(['refresh_token_reused'])
    },
  )
})

describe('outside of the grace, whoever comes back ends the session', () => {
  const expectEnded = async (token: Session, newest: Session) => {
    await expect(refresh(token)).rejects.toMatchObject(refused)
    expect([await lives(newest), await ended()]).toEqual([false, ['refresh_token_reused']])
    await expect(refresh(newest)).rejects.toMatchObject(refused)
  }

  test('60 s later', async () => {
    const newest = await refresh(first)
    await pass(60)
    await expectEnded(first, newest)
  })

  test('with a token before the one before', async () => {
    const newest = await refresh(await refresh(first))
    await expectEnded(first, newest)
  })

  test('with a further pair that was not used while another one went on', async () => {
    const [one, other] = [await refresh(first), await refresh(first)]
    const newest = await refresh(one)
    await pass(60)
    await expectEnded(other, newest)
  })

  test('where the clock has jumped back by a day', async () => {
    const newest = await refresh(first)
    await pass(-86_400)
    await expectEnded(first, newest)
  })
})

test('a session of before has no grace', async () => {
  await refresh(first)
  await own.oracle`update session set rotated_at = null where tenant_id = ${ada.tenantId}`
  await expect(refresh(first)).rejects.toMatchObject(refused)
  expect(await ended()).toEqual(['refresh_token_reused'])
})

test('the moments are what the installation decided; 0 is none', async () => {
  const other = await testInstallation({ env: { SVC_SESSION_GRACE_SECONDS: '0' } })
  try {
    const { session } = await joinedWorkspace(other)
    const use = () =>
      performForAnswer(other.installation, operations.refreshSession, anyone, {
        body: { refresh_token: session.refresh_token },
      })
    await use()
    await expect(use()).rejects.toMatchObject(refused)
    const [row] =
      await other.oracle`select revoked_at is not null as is_over from session where id = ${session.session_id}`
    expect(row).toEqual({ is_over: true })
  } finally {
    await other.close()
  }
})
