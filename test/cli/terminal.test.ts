/** Questions on a terminal: asked where something is missing, checked as the API checks, and declined without a trace. */
import { spawnSync } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Home as Owner, person, setUp } from '../kit/people.ts'
import { type Home, temporaryHome, terminalColumns } from '../kit/svc.ts'

let daemon: TestDaemon
let owner: Owner
let home: Home
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  daemon = await testDaemon()
  owner = await setUp(daemon)
  env = { SVC_API_URL: daemon.address, SVC_TOKEN: (await person(daemon, owner.tenantId, { operator: true })).token }
})
afterAll(() => daemon.close())
beforeEach(() => {
  home = temporaryHome()
})
afterEach(() => home.remove())

/** A token of an account that has a password, so that a command can prove it. */
async function tokenOf({ tenantId, accountId }: Owner): Promise<string> {
  const { token, hash, last4 } = mintToken('personal')
  await daemon.db.sql`
    insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes, expires_at)
    values (${tenantId}, ${randomUUIDv7()}, ${accountId}, 'PERSONAL', ${hash}, ${last4}, 'ops', 'admin:tenants workspace:read', now() + interval '1 day')`
  return token
}

const slugs = async () => (await daemon.db.sql<{ slug: string }[]>`select slug from tenant`).map(({ slug }) => slug)
const enter = '\r'
const interrupt = '\u0003'

describe('provisioning', () => {
  test('asks for what is missing, and again for what breaks a rule', async () => {
    const answers = [
      ['Slug', `x${enter}`],
      ['It must have 3 to 40', `\u007fasked${enter}`],
      ['Name of the workspace', `Asked Ltd${enter}`],
      ["owner's e-mail", `ada@asked.example${enter}`],
      ['Go on?', enter],
    ] as const
    const { code, screen } = await home.onTerminal(['tenants', 'provision'], answers, env)
    expect(code).toBe(0)
    expect(screen).toContain('Will provision asked (Asked Ltd), owned by ada@asked.example, on ')
    expect(screen).toMatch(/svci_[0-9A-Za-z]{49}/)
    expect(await slugs()).toContain('asked')
  })

  test.each([
    ['declined', 'Go on?', `n${enter}`, 1],
    ['interrupted at the last question', 'Go on?', interrupt, 130],
  ])('%s, nothing is done', async (_, question, typed, ending) => {
    const answers = [
      ['Slug', `declined${enter}`],
      ['Name of the workspace', `D${enter}`],
      ["owner's e-mail", `d@declined.example${enter}`],
      [question, typed],
    ] as const
    const { code, screen } = await home.onTerminal(['tenants', 'provision'], answers, env)
    expect(code).toBe(ending)
    expect(screen).toContain('Nothing was done.')
    expect(await slugs()).not.toContain('declined')
  })

  test('interrupted at the first question, nothing is done', async () => {
    const { code, screen } = await home.onTerminal(['tenants', 'provision'], [['Slug', interrupt]], env)
    expect(code).toBe(130)
    expect(screen).toContain('Nothing was done.')
    expect(screen).not.toMatch(/ExitPromptError|^\s+at /m)
  })
})

describe('what locks oneself out', () => {
  test('wants the name typed; anything else does nothing', async () => {
    const { code, screen } = await home.onTerminal(
      ['tenants', 'suspend', 'home'],
      [['Type home to confirm', `hom${enter}`]],
      env,
    )
    expect(code).toBe(1)
    expect(screen).toContain('this locks you out')
    expect(await daemon.db.sql`select state from tenant where slug = 'home'`).toEqual([{ state: 'ACTIVE' }])
  })
})

describe('a deletion', () => {
  const answers = (typed: string) =>
    [
      ['Type Leaving Ltd to confirm', `${typed}${enter}`],
      ['password again', `${owner.password}${enter}`],
    ] as const
  const stateOf = async () => (await daemon.db.sql`select state from tenant where slug = 'leaving'`)[0]?.['state']

  test('shows its plan and wants the display name typed; anything else does nothing', async () => {
    const operator = await person(daemon, owner.tenantId, { operator: true })
    const { token } = operator
    const made = await daemon.call('POST', '/api/v1/admin/tenants', {
      token,
      body: { slug: 'leaving', display_name: 'Leaving Ltd', owner_email: 'ada@leaving.example' },
    })
    expect(made.status).toBe(201)
    for (const typed of ['leavin', 'Leaving  Ltd', '']) {
      const { code, screen } = await home.onTerminal(['tenants', 'delete', 'leaving'], answers(typed), env)
      expect([code, await stateOf()]).toEqual([1, 'ACTIVE'])
      expect(screen).toContain('Nothing was done.')
      expect(screen).toMatch(/labels +4/)
      expect(screen).toContain('This locks the people of leaving out at once')
    }
    const interrupted = await home.onTerminal(
      ['tenants', 'delete', 'leaving'],
      [['Type Leaving Ltd to confirm', interrupt]],
      env,
    )
    expect([interrupted.code, await stateOf()]).toEqual([130, 'ACTIVE'])
  })

  test('goes on once the name is typed exactly and the password proven', async () => {
    const own = { ...env, SVC_TOKEN: await tokenOf(owner) }
    const { code, screen } = await home.onTerminal(['tenants', 'delete', 'leaving'], answers('Leaving Ltd'), own)
    expect(screen).toContain('leaving is pending deletion')
    expect([code, await stateOf()]).toEqual([0, 'PENDING_DELETION'])
    expect(screen).not.toContain(owner.password)
    const back = await home.svc(['tenants', 'cancel-deletion', 'leaving'], { env: own })
    expect([back.code, await stateOf()]).toEqual([0, 'ACTIVE'])
  })
})

describe('passwords', () => {
  test('are asked for and not shown; an operator is offered an admin token', async () => {
    const answers = [
      ['Workspace (its slug)', `home${enter}`],
      ['E-mail address', `${owner.email}${enter}`],
      ['Password:', `${owner.password}${enter}`],
      ['You are an operator', enter],
    ] as const
    const { code, screen } = await home.onTerminal(['login', '--api-url', daemon.address], answers)
    expect(code).toBe(0)
    expect(screen).not.toContain(owner.password)
    const file = join(home.config, 'svc', 'profiles', 'work.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ token: expect.stringMatching(/^svcp_/) })
    const minted = await home.onTerminal(
      ['tokens', 'create', '--name', 'ops', '--scope', 'admin:tenants'],
      [['password again', `${owner.password}${enter}`]],
    )
    expect(minted.code).toBe(0)
    expect(minted.screen).not.toContain(owner.password)
    expect(minted.screen).toMatch(/svcp_[0-9A-Za-z]{49}/)
  })
})

describe('svc up', () => {
  test('interrupted at its first question makes nothing', async () => {
    const { code, screen } = await home.onTerminal(['up'], [['Slug of the first workspace', interrupt]], {
      SVC_PORT: '0',
    })
    expect(code).toBe(130)
    expect(screen).toContain('Nothing was done.')
    expect(readdirSync(home.folder)).toEqual([])
  })

  test('wants the same password twice', async () => {
    const answers = [
      ['Slug of the first workspace', `acme${enter}`],
      ['Name of the workspace', enter],
      ['Your name', `Ada${enter}`],
      ['Your e-mail', `ada@acme.example${enter}`],
      ['New password', `short${enter}`],
      ['It must have at least 12 characters', `\u0015correct horse battery${enter}`],
      ['Repeat the password', `another horse battery${enter}`],
      ['It differs from the first', interrupt],
    ] as const
    const { code, screen } = await home.onTerminal(['up'], answers, { SVC_PORT: '0' })
    expect(screen).toContain('It differs from the first')
    expect(code).toBe(130)
    expect(screen).not.toMatch(/horse|short/)
    expect(readdirSync(home.folder)).toEqual([])
  })
})

test('a list fits the terminal, by cutting names and never ids', async () => {
  await daemon.db.sql`update tenant set display_name = ${'A name that goes on and on '.repeat(4)} where slug = 'home'`
  const { code, screen } = await home.onTerminal(['tenants', 'list'], [], env)
  expect(code).toBe(0)
  expect(screen).toContain(owner.tenantId)
  expect(screen).toContain('…')
  expect(Math.max(...screen.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(terminalColumns)
})

test('a spinner shows the names that others gave, and nothing of them reaches the terminal', () => {
  const told = `
    const { withToldProgress } = await import(process.argv[1])
    await withToldProgress('Testing \u001b]0;owned\u0007', async (tell) => {
      await new Promise((done) => setTimeout(done, 200))
      tell('Receiving \u001b]0;owned\u0007')
      await new Promise((done) => setTimeout(done, 300))
    })`
  const { CI: _, ...env } = process.env
  const program = { ...env, NODE: process.execPath, TOLD: told, PROGRESS: resolve('src/cli/render/progress.ts') }
  const line = 'stty cols 80; "$NODE" --input-type=module -e "$TOLD" "$PROGRESS"'
  const { stdout } = spawnSync('script', ['-qefc', line, '/dev/null'], {
    env: { ...program, TERM: 'xterm' },
    encoding: 'utf8',
  })
  for (const text of ['Testing', 'Receiving']) expect(stdout).toContain(`${text} \\u001b]0;owned\\u0007`)
  expect(stdout).not.toContain('\u001b]0;')
})
