/** `svc recovery …` as people run it, beside a daemon that serves: exit codes, --json, what is said. */
import { randomUUIDv7 } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { person, setUp } from '../kit/people.ts'
import { keep, takeBack } from '../kit/rewinding.ts'
import { databaseEnv, type Home, type Ran, temporaryHome } from '../kit/svc.ts'

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
  const env = databaseEnv(daemon.config)
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
  expect(early.stderr.trim()).toBe('The gate is open. Run: svc recovery begin --recovery-point MOMENT')
  expect(await recovery('recovery', 'admit')).toMatchObject({ code: 5 })

  const served = await recovery('recovery', 'begin', '--recovery-point', point)
  expect(served).toMatchObject({ code: 5, stdout: '' })
  expect(served.stderr).toContain('A daemon is serving this installation. Stop it, or add --while-serving')
  expect(await containers()).toBe(200)
  const begun = await recovery('recovery', 'begin', '--recovery-point', point, '--while-serving')
  expect(begun).toMatchObject({ code: 0 })
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
  expect(refused.stderr).toContain('The gate stays closed because of: holds.')
  expect(await containers()).toBe(503)

  const plan = await recovery('recovery', 'reconcile')
  expect(plan.code).toBe(8)
  expect(plan.stdout).toContain(hold.id)
  expect(await daemon.db.sql`select 1 from legal_hold where id = ${hold.id}`).toHaveLength(0)
  expect(await recovery('recovery', 'reconcile', '--apply')).toMatchObject({ code: 0 })
  const again = await recovery('recovery', 'reconcile', '--apply')
  expect(again).toMatchObject({ code: 0 })
  expect(again.stdout).toContain('Nothing needs to be repeated.')

  expect(await recovery('recovery', 'check')).toMatchObject({ code: 0 })
  const admitted = await recovery('recovery', 'admit')
  expect(admitted).toMatchObject({ code: 0 })
  expect(admitted.stderr).toContain('The gate is open.')
  expect(await containers()).toBe(200)
})

describe('T-44', () => {
  const moment = '2026-01-01T00:00:00Z'

  test('on a terminal a recovery beside a daemon that serves is warned of and asked about', async () => {
    const env = databaseEnv(daemon.config)
    const command = ['recovery', 'begin', '--recovery-point', moment]
    const declined = await home.onTerminal(command, [['Go on?', 'n\r']], env)
    expect(declined.code).toBe(1)
    expect(declined.screen).toContain(
      'A daemon is serving this installation. If you go on, it refuses every workspace from now on.',
    )
    expect(await containers()).toBe(200)
    const agreed = await home.onTerminal(command, [['Go on?', 'y\r']], env)
    expect(agreed.code).toBe(0)
    expect(await containers()).toBe(503)
  })

  test('beside a daemon that is gated nothing has to be said', async () => {
    expect(await recovery('holds', 'list', 'home', '--recovery')).toMatchObject({ code: 0 })
  })

  test('what is done is journalled with the system’s user and host', async () => {
    const [entry] = await daemon.db
      .sql`select actor_kind, via, params from journal where action = 'recovery.begun' order by id desc limit 1`
    expect(entry).toMatchObject({
      actor_kind: 'RECOVERY',
      via: 'RECOVERY',
      params: { os_user: userInfo().username, host: hostname() },
    })
    await daemon.db.sql`update installation set gated_at = null, gate_reason = null, recovery_point = null`
  })

  test('a secret file that others can read is refused, and a secret is no argument', async () => {
    const open = home.secretFile('open.key', 'secret')
    chmodSync(open, 0o644)
    const target = ['--endpoint', 'https://s3.example', '--region', 'eu-1', '--bucket', 'abc', '--access-key-id', 'A']
    const pull = ['recovery', 'ledger', 'pull', '--kind', 's3', ...target]
    const refused = await recovery(...pull, '--secret-file', open)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('chmod 600')
    for (const flag of ['--secret', '--token', '--password', '--secret-access-key']) {
      const unknown = await recovery(...pull, flag, 'svcp_visible-to-all')
      expect([flag, unknown.code]).toEqual([flag, 2])
      expect(unknown.stderr, 'nor is it repeated').not.toContain('svcp_visible-to-all')
    }
  })

  test('a keyring that others can read is refused', async () => {
    const { keyringFile } = daemon.config
    chmodSync(keyringFile, 0o644)
    const refused = await recovery('recovery', 'status')
    chmodSync(keyringFile, 0o600)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('mode 644')
  })

  test('names reach the terminal with their control characters in words', async () => {
    await daemon.db.sql`
      insert into backup_target (tenant_id, id, name, kind, config)
      values ('00000000-0000-0000-0000-000000000000', ${randomUUIDv7()}, ${'x\u001b]0;pwned\u0007\u202e\r'}, 'LOCAL', '{"path":"nowhere"}')`
    for (const command of [['status'], ['check'], ['ledger', 'pull', '--from', '\u001b[2J'], ['status', '--json']]) {
      const { stdout, stderr } = await recovery('recovery', ...command)
      expect(stdout + stderr).not.toMatch(/[\u001b\u0007\u202e\r]/)
    }
    expect((await recovery('recovery', 'status')).stdout).toContain('\\u001b]0;pwned')
    await daemon.db.sql`delete from backup_target`
  })
})

test('a ledger that is lost is a finding, and is admitted in spite of only by name', async () => {
  rmSync(daemon.config.ledgerFile)
  await recovery('recovery', 'begin', '--recovery-point', new Date().toISOString(), '--while-serving')
  const refused = await recovery('recovery', 'admit')
  expect(refused.code).toBe(8)
  expect(refused.stderr).toContain('The gate stays closed because of: ledger.')
  expect(await recovery('recovery', 'admit', '--accept', 'nothing')).toMatchObject({ code: 2 })
  expect(await recovery('recovery', 'admit', '--accept', 'ledger')).toMatchObject({ code: 0 })
  const [entry] = await daemon.db
    .sql`select params from journal where action = 'recovery.admitted' order by id desc limit 1`
  expect(entry).toMatchObject({ params: { accepted: ['ledger'] } })
})

test('a ledger is pulled from a target that is named, or described, and is read from then on', async () => {
  const add = ['backup-targets', 'add', 'disk', '--kind', 'local', '--path', 'ledgers', '--recovery', '--while-serving']
  expect(await recovery(...add)).toMatchObject({ code: 0 })
  const place = ['holds', 'place', 'home', '--reason', 'case 13', '--recovery', '--while-serving', '--json']
  const { id } = JSON.parse((await recovery(...place)).stdout) as { id: string }
  const status = await recovery('recovery', 'status')
  expect(status.stdout).toMatch(/at disk +every line/)
  rmSync(daemon.config.ledgerFile)
  const check = JSON.parse((await recovery('recovery', 'check', '--json')).stdout)
  expect(check.checks).toContainEqual(
    expect.objectContaining({ code: 'copies', state: 'finding', remedy: 'svc recovery ledger pull --from disk' }),
  )

  expect(await recovery('recovery', 'ledger', 'pull', '--from', 'nowhere')).toMatchObject({ code: 3, stdout: '' })
  const none = await recovery('recovery', 'ledger', 'pull', '--kind', 'local', '--path', 'elsewhere')
  expect(none).toMatchObject({ code: 8 })
  for (const target of [
    ['--from', 'disk'],
    ['--kind', 'local', '--path', 'ledgers'],
  ]) {
    const pulled = await recovery('recovery', 'ledger', 'pull', ...target, '--json')
    expect(pulled).toMatchObject({ code: 0 })
    expect(JSON.parse(pulled.stdout).ledgers).toMatchObject([{ fault: null, obligations: 1 }])
  }
  await daemon.db.sql`delete from legal_hold where id = ${id}`
  const plan = await recovery('recovery', 'reconcile', '--json')
  expect(JSON.parse(plan.stdout).steps).toMatchObject([{ what: 'hold.place', id }])
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
