/** The commands about people, as they are typed: over the API, and directly on the database where nobody gets in any more. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plantToken } from '../kit/accounts.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { everyScope, type Home as Owner, setUp } from '../kit/people.ts'
import { databaseEnv, type Home, type Ran, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let owner: Owner
let home: Home
let passwordFile: string
beforeAll(async () => {
  daemon = await testDaemon()
  owner = await setUp(daemon)
  const { token } = await plantToken({ oracle: daemon.db.sql }, owner, { scopes: everyScope })
  home = temporaryHome({ SVC_API_URL: daemon.address, SVC_TOKEN: token })
  passwordFile = join(home.folder, 'me.password')
  writeFileSync(passwordFile, owner.password, { mode: 0o600 })
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})

const svc = (...args: string[]): Promise<Ran> => home.svc(['accounts', ...args])
const atDatabase = (...args: string[]): Promise<Ran> =>
  home.svc(['accounts', ...args, '--recovery', '--while-serving'], {
    env: { ...databaseEnv(daemon.config), SVC_API_URL: '', SVC_TOKEN: '' },
  })
const states = async () =>
  Object.fromEntries(
    (await daemon.db.sql<{ email: string; state: string }[]>`select email, state from account`).map((one) => [
      one.email,
      one.state,
    ]),
  )

describe('invite', () => {
  test('mails, and says so', async () => {
    const { code, stdout, stderr } = await svc('invite', 'charles@acme.example', '--name', 'Charles Babbage')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'The invitation goes to charles@acme.example by mail.\n',
    })
    expect(stdout).toMatch(/^account +charles@acme\.example$/m)
    expect(stdout).toMatch(/^role +MEMBER$/m)
    expect(stdout).not.toContain('svci_')
  })

  test('shows a token once, or writes it to a file that nobody else reads', async () => {
    const shown = await svc('invite', 'mary@acme.example', '--role', 'VIEWER', '--token')
    expect(shown.stdout).toMatch(/^token +svci_[0-9A-Za-z]{49}$/m)
    const file = join(home.folder, 'joan.token')
    const { code, stdout } = await svc('invite', 'joan@acme.example', '--token-file', file, '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      redemption_token: null,
      token_file: file,
      account: { email: 'joan@acme.example' },
    })
    expect(readFileSync(file, 'utf8')).toMatch(/^svci_\w+\n$/)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('refuses an address that is taken in one line, and leaves no file', async () => {
    const file = join(home.folder, 'twice.token')
    const { code, stderr } = await svc('invite', 'joan@acme.example', '--token-file', file)
    expect(code).toBe(5)
    expect(stderr).toContain('An account of this workspace has the address already; it is INVITED.')
    expect(() => statSync(file)).toThrow()
  })

  test('takes roles in containers as ID=ROLE, and a guest without any is refused', async () => {
    expect(await svc('invite', 'guest@else.example', '--role', 'none')).toMatchObject({ code: 2 })
    const { code, stderr } = await svc('invite', 'guest@else.example', '--role', 'none', '--container', 'here')
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('names no role') })
    const { data } = JSON.parse((await home.svc(['api', 'GET', '/containers'])).stdout)
    const place = `${data[0].id}=VIEWER`
    const made = await svc('invite', 'guest@else.example', '--role', 'none', '--container', place, '--token')
    expect(made.stdout).toMatch(/^role +none on the workspace$/m)
  })
})

test('list finds people, in words and as JSON', async () => {
  const { code, stdout } = await svc('list')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^NAME +ADDRESS +ROLE +STATE +LAST SEEN +ID/)
  expect(stdout).toMatch(/^Charles Babbage +charles@acme\.example +MEMBER +INVITED/m)
  const found = JSON.parse((await svc('list', '--find', 'bab', '--json')).stdout)
  expect(found.data.map(({ email }: { email: string }) => email)).toEqual(['charles@acme.example'])
  expect(JSON.parse((await svc('list', '--state', 'INVITED', '--max', '2', '--json')).stdout).data).toHaveLength(2)
  expect((await svc('list', '--state', 'DISABLED')).stdout).toContain('No account is like that.')
  expect((await svc('list', '--workspace', 'home')).code).toBe(2)
})

test('show says what an administrator sees, by address or id', async () => {
  const { stdout } = await svc('show', 'owner@home.example')
  expect(stdout).toMatch(/^role +OWNER$/m)
  expect(stdout).toMatch(/^password +yes$/m)
  expect((await svc('show', owner.accountId)).stdout).toBe(stdout)
  expect(await svc('show', 'nobody@acme.example')).toMatchObject({ code: 3 })
})

test('renew-invitation gives another token, and what joined needs none', async () => {
  const { code, stdout } = await svc('renew-invitation', 'charles@acme.example', '--token')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^token +svci_/m)
  const joined = await svc('renew-invitation', 'owner@home.example', '--token')
  expect(joined).toMatchObject({ code: 5, stderr: expect.stringContaining('it is ACTIVE') })
})

describe('disable and enable', () => {
  const proof = () => ['--password-file', passwordFile]

  test('ask for the name, and for the password again', async () => {
    expect(await svc('disable', 'mary@acme.example', ...proof())).toMatchObject({ code: 2 })
    expect(await svc('disable', 'mary@acme.example', '--confirm', 'somebody', ...proof())).toMatchObject({ code: 1 })
    expect(await svc('disable', 'mary@acme.example', '--confirm', 'mary@acme.example')).toMatchObject({ code: 4 })
    expect((await states())['mary@acme.example']).toBe('INVITED')
  })

  test('end an account and let it return', async () => {
    const ended = await svc('disable', 'mary@acme.example', '--confirm', 'mary@acme.example', ...proof())
    expect(ended).toMatchObject({ code: 0, stdout: '' })
    expect(ended.stderr).toBe(
      'mary@acme.example is disabled: nothing of the account lets anybody in any more.\nTo let it return: svc accounts enable mary@acme.example\n',
    )
    expect((await svc('disable', 'mary@acme.example', ...proof())).stderr).toContain('was disabled already')
    const back = await svc('enable', 'mary@acme.example', ...proof())
    expect(back).toMatchObject({
      code: 0,
      stderr: 'mary@acme.example may return. It has not joined yet and needs a new invitation.\n',
    })
  })

  test('keep the last owner', async () => {
    const { code, stderr } = await svc('disable', owner.email, '--confirm', owner.email, ...proof())
    expect({ code, stderr }).toMatchObject({ code: 5 })
  })
})

describe('at the database', () => {
  test('the workspace is named, for an address and for the list', async () => {
    expect(await atDatabase('list')).toMatchObject({ code: 2, stderr: expect.stringContaining('--workspace SLUG') })
    expect((await atDatabase('list', '--workspace', 'home')).stdout).toContain('charles@acme.example')
    expect(await atDatabase('list', '--workspace', 'nowhere')).toMatchObject({ code: 3 })
    expect((await atDatabase('show', 'joan@acme.example', '--workspace', 'home')).stdout).toMatch(/^state +INVITED$/m)
  })

  test('an owner is invited anew, disabled and let in again, without a password', async () => {
    const { code, stdout } = await atDatabase('renew-invitation', 'joan@acme.example', '--workspace', 'home', '--token')
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/svci_/) })
    const where = ['--workspace', 'home']
    expect(await atDatabase('disable', 'joan@acme.example', '--confirm', 'joan@acme.example', ...where)).toMatchObject({
      code: 0,
    })
    expect((await states())['joan@acme.example']).toBe('DISABLED')
    expect(await atDatabase('enable', 'joan@acme.example', ...where)).toMatchObject({ code: 0 })
    const journal = await daemon.db
      .sql`select action, params ->> 'os_user' as os_user from journal order by id desc limit 3`
    expect(journal.map(({ action }) => action)).toEqual([
      'account.enabled',
      'account.disabled',
      'account.invitation_renewed',
    ])
    expect(journal.every(({ os_user }) => os_user !== null)).toBe(true)
  })

  test('nobody is invited: that is for the workspace', async () => {
    expect(await atDatabase('invite', 'x@acme.example')).toMatchObject({ code: expect.any(Number), stdout: '' })
  })
})
