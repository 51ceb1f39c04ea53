/** `svc privacy overdue`: counts for operators, over the API and at the database; and what the doctor says. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plantToken } from '../kit/accounts.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { everyScope, setUp } from '../kit/people.ts'
import { databaseEnv, type Home, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let home: Home
let token: string
let tenantId: string
beforeAll(async () => {
  daemon = await testDaemon()
  const owner = await setUp(daemon, 'acme')
  tenantId = owner.tenantId
  token = (await plantToken({ oracle: daemon.db.sql }, owner, { scopes: everyScope })).token
  home = temporaryHome()
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})

const api = () => home.svc(['privacy', 'overdue'], { env: { SVC_API_URL: daemon.address, SVC_TOKEN: token } })
const database = () =>
  home.svc(['privacy', 'overdue', '--recovery', '--while-serving'], { env: databaseEnv(daemon.config) })
const doctor = async () => {
  const { stdout } = await home.svc(['doctor', '--json'], { env: databaseEnv(daemon.config) })
  const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string; says: string }[] }
  return checks.find(({ check }) => check === 'privacy')
}

test('says where requests are overdue, and nothing of whom', async () => {
  expect((await api()).stdout).toContain('No request about personal data is overdue.')
  expect(await doctor()).toMatchObject({ state: 'ok', says: 'no request is open' })
  for (const days of [9, 3, -4])
    await daemon.db.sql`
      insert into privacy_request (tenant_id, id, kind, channel, subject_name, received_at, time_zone, due_at)
      values (${tenantId}, ${randomUUIDv7()}, 'ACCESS', 'ENTERED', 'Canary', now(), 'UTC', now() - make_interval(days => ${days}))`
  for (const way of [api, database]) {
    const { code, stdout } = await way()
    expect([code, stdout]).toEqual([0, expect.stringMatching(/acme +2 +20/)])
    expect(stdout).not.toContain('Canary')
  }
  expect(await doctor()).toMatchObject({
    state: 'warn',
    says: '2 request(s) about personal data of 1 workspace(s) are overdue',
  })
})
