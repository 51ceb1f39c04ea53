/** `svc backup-schedules`: made, listed, shown, changed and removed, over the API and at the database; and what the doctor says. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plantToken } from '../kit/accounts.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { everyScope, type Home as Owner, setUp } from '../kit/people.ts'
import { databaseEnv, type Home, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let owner: Owner
let home: Home
let token: string

beforeAll(async () => {
  daemon = await testDaemon()
  owner = await setUp(daemon, 'acme')
  token = (await plantToken({ oracle: daemon.db.sql }, owner, { scopes: everyScope })).token
  home = temporaryHome()
  await database('backup-targets', 'add', 'disk', '--kind', 'local', '--path', 'disk')
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})

const api = (...args: string[]) => home.svc(args, { env: { SVC_API_URL: daemon.address, SVC_TOKEN: token } })
const database = (...args: string[]) =>
  home.svc([...args, '--recovery', '--while-serving'], { env: databaseEnv(daemon.config) })
const doctor = async () => {
  const { stdout } = await home.svc(['doctor', '--json'], { env: databaseEnv(daemon.config) })
  const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string; says: string }[] }
  return checks.find(({ check }) => check === 'backups')
}

test.each([
  ['over the API', () => api],
  ['at the database', () => database],
])('%s a schedule is made, shown, changed and removed', async (_, way) => {
  const svc = way()
  const made = await svc(
    ...['backup-schedules', 'create', 'nightly', '--cron', '30 2 * * *', '--target', 'disk', '--workspace', 'acme'],
    ...['--keep', 'last=3,daily=30', '--time-zone', 'Europe/Zurich'],
  )
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('A worker runs it.')])
  expect(made.stdout).toMatch(/cron +30 2 \* \* \* \(Europe\/Zurich\)\n/)
  expect(made.stdout).toMatch(/keeps +last 3, daily 30, weekly 4, monthly 6, min_days 1\n/)
  expect((await svc('backup-schedules', 'list')).stdout).toMatch(/nightly +on +30 2 \* \* \*/)

  const changed = await svc('backup-schedules', 'update', 'nightly', '--no-enabled', '--keep', 'yearly=2', '--all')
  expect([changed.code, changed.stdout]).toEqual([0, expect.stringMatching(/state +off\n[\s\S]*workspaces +all\n/)])
  expect((await svc('backup-schedules', 'show', 'nightly')).stdout).toBe(changed.stdout)
  const again = await svc('backup-schedules', 'update', 'nightly', '--no-enabled')
  expect(again.stderr).toContain('Nothing changed')

  for (const [args, says] of [
    [['--keep', 'often=3'], 'cannot be read'],
    [['--cron', '* * * * *'], 'cron'],
    [[], 'Nothing is given to change'],
  ] as const)
    expect((await svc('backup-schedules', 'update', 'nightly', ...args)).stderr).toContain(says)

  const declined = await svc('backup-schedules', 'remove', 'nightly', '--confirm', 'other')
  expect(declined.code).not.toBe(0)
  const removed = await svc('backup-schedules', 'remove', 'nightly', '--confirm', 'nightly')
  expect([removed.code, removed.stderr]).toEqual([0, expect.stringContaining('Its backups stay')])
  expect((await svc('backup-schedules', 'list')).stdout).toContain('There is no schedule.')
})

test('the doctor says which schedules fail', async () => {
  expect(await doctor()).toMatchObject({ state: 'ok' })
  const made = await database(
    'backup-schedules',
    'create',
    'x',
    '--cron',
    '0 3 * * *',
    '--target',
    'disk',
    '--all',
    '--json',
  )
  const { id } = JSON.parse(made.stdout)
  await daemon.db.sql`update backup_schedule set consecutive_failures = 2 where id = ${id}`
  expect(await doctor()).toMatchObject({ state: 'ok' })
  await daemon.db.sql`update backup_schedule set consecutive_failures = 3 where id = ${id}`
  expect(await doctor()).toMatchObject({ state: 'warn', says: `1 schedule(s) fail, the first is ${id}` })
  await daemon.db
    .sql`update backup_schedule set consecutive_failures = 0, paused_reason = 'TARGET_REMOVED' where id = ${id}`
  expect(await doctor()).toMatchObject({ state: 'warn' })
})
