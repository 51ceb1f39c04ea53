/** `svc recovery …` as people run it, beside a daemon that serves: exit codes, --json, what is said. */
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../support/daemon.ts'
import { person, setUp } from '../support/people.ts'
import { keep, takeBack } from '../support/rewinding.ts'
import { databaseEnv, type Home, type Ran, temporaryHome } from '../support/svc.ts'

let daemon: TestDaemon
let home: Home
let member: string
let recovery: (...args: string[]) => Promise<Ran>

beforeAll(async () => {
  daemon = await testDaemon()
  const owner = await setUp(daemon)
  await person(daemon, owner.tenantId, { operator: true })
  member = (await person(daemon, owner.tenantId)).token
  home = temporaryHome()
  const env = { ...databaseEnv(daemon.config), SVC_DATA_DIR: daemon.config.dataDir }
  recovery = (...args) => home.svc(args, { env })
  await daemon.db.sql`delete from pgboss.job`
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})

const containers = async () => (await daemon.call('GET', '/api/v1/containers', { token: member })).status

test('the run-book, command by command', async () => {
  await keep(daemon.db.sql, 'base')
  const placed = await recovery(
    ...[
      'holds',
      'place',
      'home',

      '--reason',
      'case 12',
      '--recovery',
      '--while-serving',
      '--json',
    ],
  )
  expect(placed).toMatchObject({ code: 0 })
  const hold = JSON.parse(placed.stdout) as { id: string }
  const point = new Date(Date.now() - 60_000).toISOString()
  await takeBack(daemon.db.sql, 'base')

  const early = await recovery('recovery', 'reconcile', '--apply')
  expect(early).toMatchObject({ code: 5, stdout: '' })
  expect(early.stderr.trim()).toBe('The gate is open. Begin with: svc recovery begin --recovery-point MOMENT')
  expect(await recovery('recovery', 'admit')).toMatchObject({ code: 5 })

  const begun = await recovery('recovery', 'begin', '--recovery-point', point)
  expect(begun).toMatchObject({ code: 0 })
  expect(begun.stderr).toContain('A daemon is serving: it refuses workspaces from now on.')
  expect(begun.stderr).toContain('Next: svc recovery reconcile')
  expect(await containers()).toBe(503)
  const status = await recovery('recovery', 'status', '--json')
  expect(JSON.parse(status.stdout)).toMatchObject({ gate_reason: 'BEGUN', recovery_point: point })

  const check = await recovery('recovery', 'check', '--json')
  expect(check.code).toBe(8)
  expect(JSON.parse(check.stdout).checks).toContainEqual(
    expect.objectContaining({ code: 'holds', state: 'finding', remedy: 'svc recovery reconcile --apply' }),
  )
  const refused = await recovery('recovery', 'admit')
  expect(refused.code).toBe(8)
  expect(refused.stderr).toContain('The gate stays closed: holds.')
  expect(await containers()).toBe(503)

  const plan = await recovery('recovery', 'reconcile')
  expect(plan.code).toBe(8)
  expect(plan.stdout).toContain(hold.id)
  expect(await daemon.db.sql`select 1 from legal_hold where id = ${hold.id}`).toHaveLength(0)
  expect(await recovery('recovery', 'reconcile', '--apply')).toMatchObject({ code: 0 })
  const again = await recovery('recovery', 'reconcile', '--apply')
  expect(again).toMatchObject({ code: 0 })
  expect(again.stdout).toContain('Nothing is to be done again.')

  expect(await recovery('recovery', 'check')).toMatchObject({ code: 0 })
  const admitted = await recovery('recovery', 'admit')
  expect(admitted).toMatchObject({ code: 0 })
  expect(admitted.stderr).toContain('The gate is open.')
  expect(await containers()).toBe(200)
})

test('a ledger that is lost is a finding, and is admitted in spite of only by name', async () => {
  rmSync(daemon.config.ledgerFile)
  await recovery('recovery', 'begin', '--recovery-point', new Date().toISOString())
  const refused = await recovery('recovery', 'admit')
  expect(refused.code).toBe(8)
  expect(refused.stderr).toContain('The gate stays closed: ledger.')
  expect(await recovery('recovery', 'admit', '--accept', 'nothing')).toMatchObject({ code: 2 })
  expect(await recovery('recovery', 'admit', '--accept', 'ledger')).toMatchObject({ code: 0 })
  const [entry] = await daemon.db
    .sql`select params from journal where action = 'recovery.admitted' order by id desc limit 1`
  expect(entry).toMatchObject({ params: { accepted: ['ledger'] } })
})

test('a recovery point is a moment with its zone, and not one to come', async () => {
  for (const wrong of ['yesterday', '2026-11-20', '2026-11-20T11:30', '2026-13-40T99:99:99Z', '2999-01-01T00:00:00Z'])
    expect(await recovery('recovery', 'begin', '--recovery-point', wrong)).toMatchObject({ code: 2, stdout: '' })
  expect(await containers()).toBe(200)
})

test('a drill is refused on a database of one’s own, with what to do instead', async () => {
  const refused = await recovery('recovery', 'drill')
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain('docs/runbooks/point-in-time-recovery.md')
})
