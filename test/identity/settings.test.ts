/** The times that an operator sets for people are followed: none of them is a constant. Spec: people 1 and 3, the settings. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweepNotifications } from '../../src/core/areas/notifications/jobs.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import { plantProof } from '../kit/proofs.ts'
import { openTelling, type Telling } from '../notifications/telling-kit.ts'

const hourMs = 3_600_000
let desk: Desk
let telling: Telling
beforeAll(async () => {
  desk = await openDesk({
    ...{ invitationDays: 3, startPasswordDays: 2, addressHours: 5 },
    notifications: { quietSeconds: 7, days: 10 },
  })
  telling = await openTelling(desk)
})
afterAll(async () => {
  await telling.close()
  await desk.close()
})

const sql = () => desk.daemon.db.sql
const hoursUntil = (moment: string) => Math.round((Date.parse(moment) - Date.now()) / hourMs)
const email = () => `${randomUUIDv7()}@new.example`

test('an invitation is good for SVC_INVITATION_DAYS', async () => {
  const { json } = await desk.ask('POST /accounts:invite', { email: email(), role: 'MEMBER', deliver: 'TOKEN' })
  expect(hoursUntil(json.expires_at)).toBe(72)
})

test('a start password is good for SVC_START_PASSWORD_DAYS', async () => {
  const body = { sign_in_name: 'lathe', display_name: 'Lathe', role: 'MEMBER' }
  const { json } = await desk.ask('POST /accounts:create-managed', body)
  expect(hoursUntil(json.expires_at)).toBe(48)
})

test('an address waits for SVC_ADDRESS_HOURS', async () => {
  const { OWNER, VIEWER } = desk.people
  const address = email()
  const { status } = await desk.ask(
    `POST /accounts/${VIEWER.accountId}:add-address`,
    { email: address },
    { headers: { 'x-service-step-up': await plantProof(sql(), OWNER) } },
  )
  expect(status).toBe(200)
  const [row] = await sql()<{ ends_at: Date }[]>`select ends_at from account_address where email = ${address}`
  expect(hoursUntil(row!.ends_at.toISOString())).toBe(5)
})

test('a mail waits for SVC_NOTIFY_QUIET_SECONDS, and what was told is kept for SVC_NOTIFICATION_DAYS', async () => {
  const { OWNER, MEMBER } = desk.people
  const { id } = await desk.item({ title: 'His' }, OWNER)
  await desk.ask(`POST /items/${id}:assign`, { account_id: MEMBER.accountId })
  await telling.tell()
  const due = () => sql()<{ seconds: number }[]>`
    select extract(epoch from mail_due_at - mail_since)::int as seconds from notification where account_id = ${MEMBER.accountId}`
  const [told] = await due()
  expect(told?.seconds).toBe(7)
  const after = async (days: number) => {
    await sql()`update notification set at = now() - make_interval(days => ${days}), began_at = now() - make_interval(days => ${days})`
    await sweepNotifications.run(telling.installation, {})
    return (await due()).length
  }
  expect([await after(9), await after(11)]).toEqual([1, 0])
})
