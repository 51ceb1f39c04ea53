/**
 * An administrator's token is in the wrong hands and invites the world: a workspace mails 200 invitations an hour, exactly, also
 * where 20 calls are under way at once, and what is refused leaves nothing. 600 invitations, 10,000 with SVC_FAULTS=full. People 10.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { person, setUp } from '../kit/people.ts'

const invitations = process.env['SVC_FAULTS'] === 'full' ? 10_000 : 600
const atOnce = 20
/** What a workspace mails in an hour where nothing is configured. */
const perHour = 200

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await testDaemon()
})
afterAll(() => daemon.close())

test(`of ${invitations} invitations ${perHour} are mailed`, { timeout: 600_000 }, async () => {
  const { sql } = daemon.db
  const { tenantId } = await setUp(daemon)
  await sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
  const { token } = await person(daemon, tenantId, { role: 'ADMIN' })
  /** A daemon that has no time for a call says so, and is called again: not what is asked for here. */
  const invited = async (email: string) => {
    for (;;) {
      const answer = await daemon.call('POST', '/api/v1/accounts:invite', { token, body: { email } })
      if (answer.status !== 503) return answer
      await pause(100)
    }
  }
  const answers = new Map<string, number>()
  let next = 0
  const inviteOnAndOn = async () => {
    for (let n = next++; n < invitations; n = next++) {
      const { status, json, headers } = await invited(`n${n}@world.example`)
      if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0)
      const answer = `${status} ${json.code ?? ''} ${json.params?.limit ?? ''}`.trim()
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, inviteOnAndOn))

  expect(Object.fromEntries(answers)).toEqual({ 201: perHour, '429 mail.limited 200': invitations - perHour })
  const [made] = await sql`
    select (select count(*) from account where email like '%@world.example')::int as accounts,
           (select count(*) from invitation where tenant_id = ${tenantId})::int as invitations,
           (select count(*) from pgboss.job where name = 'send_invitation')::int as mails,
           (select count(*) from audit_entry where action = 'account.invited')::int as entries`
  expect(made).toEqual({ accounts: perHour, invitations: perHour, mails: perHour, entries: perHour })
  const handed = { email: 'one@world.example', deliver: 'TOKEN' }
  expect((await daemon.call('POST', '/api/v1/accounts:invite', { token, body: handed })).status).toBe(201)
})
