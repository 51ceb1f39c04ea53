/**
 * Requests about personal data: who opens, sees, handles and withdraws one, and when it has to be answered.
 * Keeping 2, N1 to N4 and K1.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Person } from '../kit/people.ts'
import { told } from '../notifications/telling-kit.ts'
import { type PrivacyHouse, privacyHouse } from './privacy-kit.ts'

let house: PrivacyHouse
let admin: Person
let who: Person
beforeAll(async () => {
  house = await privacyHouse()
  admin = await house.member({ role: 'ADMIN' })
})
afterAll(() => house.close())
beforeEach(async () => {
  who = await house.member()
})

const path = '/privacy/requests'
const open = async (by: Person, body: Record<string, unknown>) => {
  const answer = await house.proven(by, 'POST', path, body)
  expect(answer.status, answer.text).toBe(201)
  return answer.json
}
const entered = (kind: string, more: Record<string, unknown> = {}) =>
  open(admin, { kind, account_id: who.accountId, ...more })
const code = ({ status, json }: { status: number; json: { code?: string } }) => [status, json?.code]
const trail = async (id: string) =>
  (await house.sql<{ action: string }[]>`select action from audit_entry where subject_id = ${id} order by id`).map(
    ({ action }) => action,
  )
const mails = async (accountId?: string) =>
  (
    await house.sql<{ name: string }[]>`
      select data ->> 'name' as name from pgboss.job
      where name in ('send_mail', 'tell_administrators') and (${accountId ?? null}::text is null and name = 'tell_administrators' or data ->> 'accountId' = ${accountId ?? null})
      order by created_on, id`
  ).map(({ name }) => name)

describe('opening', () => {
  test('of oneself: known, with a deadline, told to the person and the administrators, in the trail', async () => {
    const made = await open(who, { kind: 'ACCESS', details: 'all of it' })
    expect(made).toMatchObject({
      ...{ kind: 'ACCESS', state: 'RECEIVED', channel: 'SELF', details: 'all of it', is_overdue: false, version: 1 },
      subject: { account_id: who.accountId, name: 'Somebody', contact: `${who.accountId}@people.example` },
      identity: { state: 'VERIFIED', how: null, by: who.accountId },
      ...{ extended: null, handler_id: null, decision: null, package: null, held_parts: [], closed_at: null },
    })
    expect(await trail(made.id)).toEqual(['privacy_request.received', 'privacy_request.told', 'privacy_request.told'])
    expect(await mails(who.accountId)).toContain('privacy_received')
    expect(await mails()).toContain('privacy_arrived')
    const [event] = await house.sql<{ body: string }[]>`
      select body from outbox_event where type like '%.work.privacy_request.received.v1' order by id desc limit 1`
    expect(JSON.parse(event!.body).data).toEqual({ id: made.id, kind: 'ACCESS', state: 'RECEIVED' })
  })

  test('of oneself takes a step-up where it opens or destroys the account', async () => {
    for (const kind of ['ACCESS', 'ERASURE', 'PORTABILITY'])
      expect(code(await house.call(who, 'POST', path, { kind }))).toEqual([401, 'auth.step_up_required'])
    for (const kind of ['RECTIFICATION', 'RESTRICTION'])
      expect((await house.call(who, 'POST', path, { kind })).status).toBe(201)
  })

  test('one of a kind is open at a time, also of twenty at once', async () => {
    const made = await open(who, { kind: 'RECTIFICATION' })
    const again = await house.call(who, 'POST', path, { kind: 'RECTIFICATION' })
    expect([...code(again), again.json.params]).toEqual([409, 'privacy.request_open', { request_id: made.id }])
    const many = await Promise.all(
      Array.from({ length: 20 }, () => house.call(who, 'POST', path, { kind: 'RESTRICTION' })),
    )
    expect(many.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 409)])
    expect((await house.patch(who, made.id, { state: 'WITHDRAWN' })).json.state).toBe('WITHDRAWN')
    expect((await house.call(who, 'POST', path, { kind: 'RECTIFICATION' })).status).toBe(201)
  })

  test('an objection names what it is against; to AI or statistics it is done at once', async () => {
    expect(code(await house.call(who, 'POST', path, { kind: 'OBJECTION' }))).toEqual([422, 'request.invalid'])
    expect(code(await house.call(who, 'POST', path, { kind: 'RECTIFICATION', processing: 'AI' }))).toEqual([
      422,
      'request.invalid',
    ])
    for (const processing of ['AI', 'STATISTICS'])
      expect(await open(who, { kind: 'OBJECTION', processing })).toMatchObject({ state: 'DONE', decision: 'GRANTED' })
    const consents = await house.call(who, 'GET', '/privacy/consents')
    const states = Object.fromEntries(
      consents.json.data.map(({ kind, state }: { kind: string; state: string }) => [kind, state]),
    )
    expect(states).toMatchObject({ ai_content: 'WITHDRAWN', statistics: 'WITHDRAWN' })
    expect((await house.call(who, 'GET', '/privacy/ai-objection')).json.is_objected).toBe(true)
    expect(await open(who, { kind: 'OBJECTION', processing: 'OTHER' })).toMatchObject({ state: 'RECEIVED' })
  })

  test('for others is for administrators, of persons, and not of oneself', async () => {
    const body = { kind: 'ACCESS', account_id: admin.accountId }
    expect(code(await house.call(who, 'POST', path, body))).toEqual([403, 'auth.role_required'])
    const narrow = await house.member({ role: 'ADMIN', scopes: ['workspace:read'] })
    expect(code(await house.call(narrow, 'POST', path, body))).toEqual([403, 'auth.scope_required'])
    expect(code(await house.call(admin, 'POST', path, body))).toEqual([422, 'request.invalid'])
    expect(code(await house.call(admin, 'POST', path, { ...body, account_id: randomUUIDv7() }))).toEqual([
      422,
      'request.invalid',
    ])
    const service = await house.member({ kind: 'SERVICE' })
    expect(code(await house.call(admin, 'POST', path, { ...body, account_id: service.accountId }))).toEqual([
      409,
      'privacy.person_only',
    ])
    expect(code(await house.call(service, 'POST', path, { kind: 'RECTIFICATION' }))).toEqual([
      409,
      'privacy.person_only',
    ])
    expect(await open(admin, { kind: 'ACCESS', subject: { name: 'Ann', contact: 'by letter' } })).toMatchObject({
      channel: 'ENTERED',
      subject: { account_id: null, name: 'Ann', contact: 'by letter' },
      identity: { state: 'UNVERIFIED' },
    })
    expect(
      code(await house.call(admin, 'POST', path, { kind: 'RESTRICTION', received_at: '2026-01-01T00:00:00Z' })),
    ).toEqual([422, 'request.invalid'])
  })

  test('an erasure that is entered is mailed and shown to the person, who may withdraw it', async () => {
    await house.sql`update account set created_at = now() - interval '1 day' where id = ${who.accountId}`
    const made = await entered('ERASURE')
    expect(await mails(who.accountId)).toContain('privacy_entered')
    await told(house.two.daemon)
    const shown = () => house.sql`
      select category, event_type, subject, mail_form from notification where account_id = ${who.accountId}`
    // Where the daemon's own notifier has the turn, it tells.
    await expect
      .poll(async () => [...(await shown())])
      .toEqual([
        {
          category: 'SECURITY',
          event_type: 'privacy_entered',
          subject: `/privacy/requests/${made.id}`,
          mail_form: null,
        },
      ])
    expect((await house.patch(who, made.id, { state: 'WITHDRAWN' })).json).toMatchObject({ state: 'WITHDRAWN' })
  })
})

describe('the deadline', () => {
  const due = async (zone: string, receivedAt: string): Promise<string> => {
    const [row] = await house.sql<{ due: string }[]>`
      select to_char(privacy_due(${receivedAt}::timestamptz, 1, interval '0', ${zone}) at time zone ${zone}, 'YYYY-MM-DD HH24:MI:SS.MS') as due`
    return row!.due
  }

  test('is the end of the day one calendar month later, in the zone of the workspace', async () => {
    expect(await due('UTC', '2026-01-31T12:00:00Z')).toBe('2026-02-28 23:59:59.999')
    expect(await due('UTC', '2028-01-31T12:00:00Z')).toBe('2028-02-29 23:59:59.999')
    // Already the first of May there.
    expect(await due('Pacific/Auckland', '2026-04-30T23:00:00Z')).toBe('2026-06-01 23:59:59.999')
    expect(await due('America/New_York', '2026-10-01T12:00:00Z')).toBe('2026-11-01 23:59:59.999')
  })

  test('counts from when it came, at most 90 days ago; past, it is overdue', async () => {
    const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
    const body = { kind: 'ACCESS', subject: { name: 'Ann' } }
    expect(code(await house.call(admin, 'POST', path, { ...body, received_at: ago(91) }))).toEqual([
      422,
      'request.invalid',
    ])
    expect(code(await house.call(admin, 'POST', path, { ...body, received_at: ago(-1) }))).toEqual([
      422,
      'request.invalid',
    ])
    const late = await open(admin, { ...body, received_at: ago(60) })
    expect(late.is_overdue).toBe(true)
    const listed = await house.call(admin, 'GET', `${path}?overdue=true`)
    expect(listed.json.data.map(({ id }: { id: string }) => id)).toContain(late.id)
    const extended = await house.call(admin, 'POST', `${path}/${late.id}:extend`, { reason: 'COMPLEX', text: 'much' })
    expect(code(extended)).toEqual([409, 'privacy.too_late'])
  })

  test('stands while identity is asked for, a month at most', async () => {
    const made = await entered('ACCESS')
    const asked = await house.patch(admin, made.id, { identity: { state: 'ASKED' } })
    expect(asked.json.identity).toMatchObject({ state: 'ASKED', verified_at: null })
    expect(Date.parse(asked.json.due_at)).toBeGreaterThan(Date.parse(made.due_at) + 27 * 86_400_000)
    await house.sql`update privacy_request set identity_asked_at = now() - interval '3 days' where id = ${made.id}`
    const known = await house.patch(admin, made.id, { identity: { state: 'VERIFIED', how: 'by passport' } })
    expect(known.json.identity).toMatchObject({ state: 'VERIFIED', how: 'by passport', by: admin.accountId })
    // Three days on the calendar are one to four of the month after.
    const [three] = await house.sql<{ due: Date }[]>`
      select privacy_due(received_at, 1, interval '3 days', time_zone) as due from privacy_request where id = ${made.id}`
    expect(known.json.due_at).toBe(new Date(three!.due).toISOString())
    await house.sql`
      update privacy_request set identity_asked_at = now() - interval '80 days', identity_state = 'ASKED', identity_verified_at = null, identity_how = null
      where id = ${made.id}`
    const longest = await house.patch(admin, made.id, { identity: { state: 'VERIFIED', how: 'by letter' } })
    expect(Math.round((Date.parse(longest.json.due_at) - Date.parse(made.due_at)) / 86_400_000)).toBeLessThan(35)
  })

  test('is lengthened once, which is mailed', async () => {
    const made = await open(who, { kind: 'RECTIFICATION' })
    const longer = await house.call(admin, 'POST', `${path}/${made.id}:extend`, { reason: 'NUMEROUS', text: 'many' })
    expect(longer.json).toMatchObject({ extended: { months: 2, reason: 'NUMEROUS' }, version: 2 })
    const days = (Date.parse(longer.json.due_at) - Date.parse(made.due_at)) / 86_400_000
    expect(days).toBeGreaterThan(57)
    expect(days).toBeLessThan(64)
    expect(await mails(who.accountId)).toContain('privacy_extended')
    expect(
      code(await house.call(admin, 'POST', `${path}/${made.id}:extend`, { reason: 'COMPLEX', text: 'x' })),
    ).toEqual([409, 'privacy.extended_already'])
    await house.patch(who, made.id, { state: 'WITHDRAWN' })
    expect(
      code(await house.call(admin, 'POST', `${path}/${made.id}:extend`, { reason: 'COMPLEX', text: 'x' })),
    ).toEqual([409, 'privacy.closed'])
  })

  test('is mailed to administrators seven days and one day before, the day after, and then each week', async () => {
    const { id } = await open(admin, { kind: 'ACCESS', subject: { name: 'Ann' } })
    const told = async () => (await trail(id)).filter((action) => action === 'privacy_request.told').length
    const before = await told()
    const at = async (due: string, reminded = '') => {
      await house.sql`
        update privacy_request set due_at = now() + ${due}::interval ${reminded === '' ? house.sql`` : house.sql`, reminded_at = now() - ${reminded}::interval`}
        where id = ${id}`
      await house.runJobs()
      return (await told()) - before
    }
    expect(await at('8 days')).toBe(0)
    expect(await at('6 days')).toBe(1)
    expect(await at('5 days')).toBe(1)
    expect(await at('20 hours')).toBe(2)
    expect(await at('-1 minute')).toBe(3)
    expect(await at('-2 days', '2 days')).toBe(3)
    expect(await at('-8 days', '7 days')).toBe(4)
    await house.sql`update privacy_request set state = 'WITHDRAWN', closed_at = now() where id = ${id}`
    expect(await at('-20 days', '7 days')).toBe(4)
  })
})

describe('seeing', () => {
  test('one’s own, and as administrator all; others answer as unknown', async () => {
    const mine = await open(who, { kind: 'RECTIFICATION' })
    const other = await house.member()
    const ids = async (by: Person, query = '') =>
      (await house.call(by, 'GET', `${path}${query}`)).json.data.map(({ id }: { id: string }) => id)
    expect(await ids(who)).toEqual([mine.id])
    expect(await ids(other)).toEqual([])
    expect(await ids(admin, `?account_id=${who.accountId}`)).toEqual([mine.id])
    expect(await ids(admin, `?account_id=${who.accountId}&state=DONE`)).toEqual([])
    expect(await ids(admin, '?kind=RECTIFICATION&size=1')).toEqual([mine.id])
    for (const by of [who, admin]) expect((await house.call(by, 'GET', `${path}/${mine.id}`)).json.id).toBe(mine.id)
    expect(code(await house.call(other, 'GET', `${path}/${mine.id}`))).toEqual([404, 'not_found'])
    expect(code(await house.patch(other, mine.id, { state: 'WITHDRAWN' }))).toEqual([404, 'not_found'])
    expect(code(await house.call(who, 'GET', `${path}?cursor=x`))).toEqual([400, 'cursor.invalid'])
  })
})

describe('handling', () => {
  test('the person withdraws, and no more', async () => {
    const { id } = await open(who, { kind: 'RECTIFICATION' })
    const narrow = await house.member({ role: 'ADMIN', scopes: ['workspace:read'] })
    // Without the scope an administrator sees the own requests alone.
    expect(code(await house.patch(narrow, id, { decision: 'GRANTED' }))).toEqual([404, 'not_found'])
    const own = await open(narrow, { kind: 'RECTIFICATION' })
    expect(code(await house.patch(narrow, own.id, { decision: 'GRANTED' }))).toEqual([403, 'auth.scope_required'])
    const preview = await house.call(admin, 'GET', `${path}/${id}/erasure-preview`)
    expect(code(preview)).toEqual([409, 'privacy.closed'])
    expect(code(await house.patch(who, id, { decision: 'GRANTED' }))).toEqual([403, 'auth.role_required'])
    expect(code(await house.patch(who, id, { state: 'DONE' }))).toEqual([403, 'auth.role_required'])
    expect((await house.patch(who, id, { state: 'WITHDRAWN' })).json).toMatchObject({ state: 'WITHDRAWN', version: 2 })
    expect((await house.patch(who, id, { state: 'WITHDRAWN' })).json.version).toBe(2)
    expect(code(await house.patch(admin, id, { decision: 'GRANTED' }))).toEqual([409, 'privacy.closed'])
  })

  test('is granted once somebody has made sure who it is, and done by hand', async () => {
    const { id } = await entered('RECTIFICATION')
    expect(code(await house.patch(admin, id, { decision: 'GRANTED' }))).toEqual([409, 'privacy.identity_unverified'])
    expect(code(await house.patch(admin, id, { state: 'DONE' }))).toEqual([409, 'privacy.closed'])
    expect(code(await house.patch(admin, id, { identity: { state: 'VERIFIED' } }))).toEqual([422, 'request.invalid'])
    expect(code(await house.patch(admin, id, { handler_id: who.accountId }))).toEqual([422, 'request.invalid'])
    const taken = await house.patch(admin, id, {
      handler_id: admin.accountId,
      identity: { state: 'VERIFIED', how: 'known for years' },
    })
    expect(taken.json).toMatchObject({ handler_id: admin.accountId, identity: { state: 'VERIFIED' }, version: 2 })
    expect((await house.patch(admin, id, { decision: 'GRANTED' })).json).toMatchObject({ state: 'GRANTED' })
    expect((await house.patch(admin, id, { state: 'DONE' })).json).toMatchObject({ state: 'DONE' })
    expect(await mails(who.accountId)).toContain('privacy_answered')
    expect(await trail(id)).toEqual(
      expect.arrayContaining(['privacy_request.changed', 'privacy_request.granted', 'privacy_request.done']),
    )
  })

  test('is refused with a ground, which is mailed with the right to complain', async () => {
    const { id } = await open(who, { kind: 'RECTIFICATION' })
    expect(code(await house.patch(admin, id, { decision: 'REFUSED' }))).toEqual([422, 'request.invalid'])
    const refused = await house.patch(admin, id, { decision: 'REFUSED', refusal_ground: 'UNFOUNDED' })
    expect(refused.json).toMatchObject({ state: 'REFUSED', decision: 'REFUSED', refusal_ground: 'UNFOUNDED' })
    expect(refused.json.closed_at).not.toBeNull()
    expect(await mails(who.accountId)).toContain('privacy_answered')
  })

  test('a change that was overtaken is refused', async () => {
    const { id } = await open(who, { kind: 'RECTIFICATION' })
    const stale = await house.call(
      admin,
      'PATCH',
      `${path}/${id}`,
      { handler_id: admin.accountId },
      { 'if-match': '"7"' },
    )
    expect(code(stale)).toEqual([412, 'precondition.failed'])
  })

  test('granting an erasure takes a proof and the preview, and keeps the ceiling', async () => {
    const { id } = await open(who, { kind: 'ERASURE' })
    await house.runJobs()
    const { json: preview } = await house.call(admin, 'GET', `${path}/${id}/erasure-preview`)
    const body = { decision: 'GRANTED', plan_hash: preview.hash }
    expect(code(await house.patch(admin, id, body))).toEqual([401, 'auth.step_up_required'])
    expect(code(await house.patch(admin, id, { decision: 'GRANTED' }, true))).toEqual([422, 'request.invalid'])
    expect(code(await house.patch(admin, id, { ...body, plan_hash: 'x.y' }, true))).toEqual([409, 'plan.stale'])
    const granted = await house.patch(admin, id, body, true)
    expect(granted.json).toMatchObject({ state: 'GRANTED', decision: 'GRANTED' })
    const waits = Date.parse(granted.json.executes_at) - Date.now()
    expect(Math.round(waits / 3_600_000)).toBe(72)
    expect(await mails(who.accountId)).toContain('privacy_erasing')
    expect((await house.patch(who, id, { state: 'WITHDRAWN' })).json).toMatchObject({ state: 'WITHDRAWN' })
    await house.sql`update privacy_request set executes_at = null where id = ${id}`
  })

  test('an ADMIN grants nothing of an OWNER or an operator, and nobody the end of the last OWNER', async () => {
    const owner = await house.member({ role: 'OWNER' })
    const operator = await house.member({ operator: true })
    for (const [target, refusal] of [
      [owner, 'auth.role_required'],
      [operator, 'admin.operator_required'],
    ] as const) {
      const { id } = await open(target, { kind: 'ERASURE' })
      expect(code(await house.patch(admin, id, { decision: 'GRANTED', plan_hash: 'x' }, true))).toEqual([403, refusal])
      expect(code(await house.patch(admin, id, { handler_id: admin.accountId }))).toEqual([403, refusal])
    }
    await house.sql`update membership set role = 'ADMIN' where role = 'OWNER' and account_id not in (${owner.accountId})`
    const last = await house.member({ role: 'OWNER' })
    await house.sql`delete from membership where account_id = ${last.accountId}`
    const { json } = await house.call(owner, 'GET', `${path}?kind=ERASURE&account_id=${owner.accountId}`)
    const [{ id }] = json.data
    await house.runJobs()
    const { json: preview } = await house.call(owner, 'GET', `${path}/${id}/erasure-preview`)
    const granted = await house.patch(owner, id, { decision: 'GRANTED', plan_hash: preview.hash }, true)
    expect(code(granted)).toEqual([409, 'membership.last_owner'])
  })
})
