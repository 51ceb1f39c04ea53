/**
 * People without an address and the operators' notice by the command line, and an owner whom nobody can help any more: the
 * run-book docs/runbooks/locked-out.md as it is written. People 1, 3; issue: the command line.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plantToken } from '../kit/accounts.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { everyScope, type Home as Owner, setUp } from '../kit/people.ts'
import { databaseEnv, type Home, type Ran, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let owner: Owner
let home: Home
let away: Home
const file = (name: string, content?: string) => {
  const path = join(home.folder, name)
  if (content !== undefined) writeFileSync(path, content, { mode: 0o600 })
  return path
}
beforeAll(async () => {
  daemon = await testDaemon()
  owner = await setUp(daemon)
  const { token } = await plantToken({ oracle: daemon.db.sql }, owner, { scopes: everyScope })
  home = temporaryHome({ SVC_API_URL: daemon.address, SVC_TOKEN: token })
  away = temporaryHome({ SVC_API_URL: daemon.address })
  file('me.password', owner.password)
  file('new.password', 'quite another good password')
})
afterAll(async () => {
  home.remove()
  away.remove()
  await daemon.close()
})

const svc = (...args: string[]): Promise<Ran> => home.svc(args)
const atDatabase = (...args: string[]): Promise<Ran> =>
  home.svc([...args, '--recovery', '--while-serving'], {
    env: { ...databaseEnv(daemon.config), SVC_API_URL: '', SVC_TOKEN: '' },
  })
const login = (email: string, password: string, ...more: string[]) =>
  away.svc(['login', '--workspace', 'home', '--email', email, '--password-file', password, ...more])

describe('somebody without an address', () => {
  test('is created with a start password, and replaces it at the first sign-in', async () => {
    const start = file('bench-3.password')
    const made = await svc('accounts', 'create-managed', 'bench-3', '--name', 'Bench 3', '--token-file', start)
    expect(made.code).toBe(0)
    expect(made.stdout).toMatch(/^signs in as +bench-3$/m)
    expect(made.stdout).toContain(`written to ${start}`)
    expect(made.stderr).toContain('bench-3 replaces it at the first sign-in')
    expect(readFileSync(start, 'utf8')).toMatch(/^[0-9a-z]{4}(-[0-9a-z]{4}){3}\n$/)

    const refused = await login('bench-3', start)
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('svc login --new-password-file FILE')
    const entered = await login('bench-3', start, '--new-password-file', file('new.password'))
    expect({ code: entered.code, stderr: entered.stderr }).toMatchObject({ code: 0 })
    expect(entered.stderr).toContain('Signed in')
    const shown = await svc('accounts', 'show', 'bench-3')
    expect(shown.stdout).toMatch(/^signs in as +bench-3$/m)
  })

  test('gets another start password, and nothing from before serves', async () => {
    const next = await svc('accounts', 'start-password', 'bench-3', '--password-file', file('me.password'))
    expect(next.code).toBe(0)
    expect(next.stdout).toMatch(/^start password +[0-9a-z]{4}(-[0-9a-z]{4}){3}$/m)
    expect((await away.svc(['api', 'GET', '/accounts/me'])).code).not.toBe(0)
    const refused = await svc('accounts', 'start-password', owner.email, '--password-file', file('me.password'))
    expect(refused.stderr).toContain('The account has an address')
  })
})

test('somebody without an address is an operator, and none any more, by the sign-in name', async () => {
  const proven = ['--password-file', file('me.password')]
  const added = await svc('operators', 'add', 'home', 'bench-3', ...proven)
  expect({ code: added.code, stderr: added.stderr }).toMatchObject({ code: 0 })
  expect(added.stderr).toContain('bench-3 is an operator')
  expect((await svc('operators', 'list')).stdout).toContain('bench-3')
  const removed = await svc('operators', 'remove', 'bench-3', ...proven)
  expect({ code: removed.code, stderr: removed.stderr }).toMatchObject({ code: 0 })
  const gone = await atDatabase('mfa', 'remove', '--workspace', 'home', '--email', 'bench-3', '--confirm', 'bench-3')
  expect(gone.stderr).toContain('no second factor')
})

test('the operators say something to everybody, and nothing any more, in both modes', async () => {
  for (const run of [svc, atDatabase]) {
    const said = await run('notice', 'set', 'Maintenance on Sunday', '--severity', 'WARNING')
    expect(said.code).toBe(0)
    expect(said.stdout).toMatch(/^message +Maintenance on Sunday$/m)
    expect(said.stderr).toContain('notice clear')
    const me = await svc('api', 'GET', '/accounts/me/emergency-notices')
    expect(JSON.parse(me.stdout).data).toMatchObject([{ kind: 'INSTALLATION_NOTICE', severity: 'WARNING' }])
    expect((await run('notice', 'show')).stdout).toMatch(/^severity +WARNING$/m)
    expect((await run('notice', 'clear')).stderr).toBe('There is no notice any more.\n')
    expect((await run('notice', 'show')).stdout).toBe('There is no notice.\n')
  }
})

test('the last owner is locked out, and gets in again as the run-book says', async () => {
  const at = ['--workspace', 'home']
  expect((await atDatabase('accounts', 'list', ...at)).stdout).toContain(owner.email)
  const start = file('owner.password')
  const issued = await atDatabase('accounts', 'start-password', owner.email, ...at, '--token-file', start)
  expect({ code: issued.code, stderr: issued.stderr }).toMatchObject({ code: 0 })
  expect(issued.stdout).toContain(owner.email)
  expect((await login(owner.email, file('me.password'), '--profile', 'old')).code).not.toBe(0)
  const entered = await login(
    owner.email,
    start,
    '--new-password-file',
    file('new.password'),
    '--profile',
    'owner',
    '--admin',
  )
  expect({ code: entered.code, stderr: entered.stderr }).toMatchObject({ code: 0 })
  expect((await away.svc(['api', 'GET', '/accounts/me', '--profile', 'owner'])).stdout).toContain('"role": "OWNER"')
  const journal = await atDatabase('journal')
  expect(journal.stdout).toContain('account.start_password_issued')
})
