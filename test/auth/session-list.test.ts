/** Sessions that people can tell apart: the family of the device, the way in, the last use. People 4. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type DeviceFamily, deviceFamilies } from '../../src/core/contract/auth/devices.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { deviceFamilyOf } from '../../src/daemon/device.ts'
import { type Callers, callers, joinedWorkspace, type Person } from '../kit/accounts.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
let who: Callers
let ada: Person
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
beforeEach(async () => {
  ada = await joinedWorkspace(own)
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const agents: Readonly<Record<DeviceFamily, string>> = {
  WINDOWS: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:141.0) Gecko/20100101 Firefox/141.0',
  MAC: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
  LINUX: 'Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0',
  CHROMEOS:
    'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Safari/537.36',
  IPHONE:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  IPAD: 'Mozilla/5.0 (iPad; CPU OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.7 Mobile/15E148 Safari/604.1',
  ANDROID:
    'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Mobile Safari/537.36',
  COMMAND_LINE: 'svc (linux; node 24.4.1)',
  OTHER: 'curl/8.14.1',
}

test.each(deviceFamilies.map((family) => [family, agents[family]] as const))(
  '%s is known by its header',
  (family, agent) => {
    expect(deviceFamilyOf(agent)).toBe(family)
  },
)

test('a client that says nothing is of no family, and one that says much is read at its beginning', () => {
  for (const silent of [undefined, '', '  ']) expect(deviceFamilyOf(silent)).toBe(null)
  expect(deviceFamilyOf(`${'x'.repeat(5000)} iPhone`)).toBe('OTHER')
})

test('each session says its device, its way in and its last use, and nothing else of the client', async () => {
  for (const agent of [agents.IPHONE, agents.WINDOWS]) {
    const answer = await fetch(`${who.daemon.url}/auth/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': agent },
      body: JSON.stringify({ workspace: ada.slug, email: ada.email, password }),
    })
    expect(answer.status).toBe(201)
  }
  const { data } = await who.as(ada.session.access_token).call(operations.listSessions)
  expect(data.map(({ device_family, way, provider_id }) => [device_family, way, provider_id])).toEqual([
    ['WINDOWS', 'PASSWORD', null],
    ['IPHONE', 'PASSWORD', null],
    [null, 'INVITATION', null],
  ])
  for (const { last_used_at } of data) expect(Math.abs(Date.parse(last_used_at) - Date.now())).toBeLessThan(60_000)
  const rows = JSON.stringify(await own.oracle`select * from session where tenant_id = ${ada.tenantId}`)
  expect(rows).not.toContain('Mozilla')
})

test('the set-up of the installation is a way in, and a session of before says none', async () => {
  const operator = who.as(who.operator.session.access_token)
  expect((await operator.call(operations.listSessions)).data).toMatchObject([{ way: 'SET_UP', device_family: null }])
  await own.oracle`update session set way = null where tenant_id = ${ada.tenantId}`
  const { data } = await who.as(ada.session.access_token).call(operations.listSessions)
  expect(data).toMatchObject([{ way: null, device_family: null, provider_id: null, is_current: true }])
})
