/** The second factor from a terminal and from scripts: codes are asked for or read from a file, never an argument. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { codeAt } from '../kit/authenticator.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Home as Owner, setUp } from '../kit/people.ts'
import { databaseEnv, type Home, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let owner: Owner
let home: Home
let passwordFile: string

beforeAll(async () => {
  daemon = await testDaemon()
  owner = await setUp(daemon)
})
afterAll(() => daemon.close())
beforeEach(() => {
  home = temporaryHome()
  passwordFile = home.secretFile('password', `${owner.password}\n`)
})
afterEach(async () => {
  home.remove()
  await daemon.db.sql`delete from second_factor`
  await daemon.db.sql`delete from recovery_code`
  await daemon.db.sql`delete from failed_attempt`
})

const forget = () => daemon.db.sql`update second_factor set last_step = 0 where confirmed_at is not null`
const enter = '\r'
const login = (...more: string[]) =>
  home.svc([
    ...['login', '--api-url', daemon.address, '--workspace', 'home', '--email', owner.email],
    ...['--password-file', passwordFile, ...more],
  ])

/** Enrols as a script does, and answers the secret and the recovery codes. */
async function enrolled(): Promise<{ secret: string; codes: string[] }> {
  await login('--no-admin')
  const begun = await home.svc(['mfa', 'enroll', '--password-file', passwordFile, '--json'])
  const { secret } = JSON.parse(begun.stdout) as { secret: string }
  const confirmed = await home.svc(['mfa', 'confirm', '--code-stdin', '--json'], { input: `${codeAt(secret)}\n` })
  const { recovery_codes: codes } = JSON.parse(confirmed.stdout) as { recovery_codes: string[] }
  await forget()
  return { secret, codes }
}

describe('from scripts', () => {
  test('is set up, shown, and asked for from then on', async () => {
    const { secret, codes } = await enrolled()
    expect(codes).toHaveLength(10)
    const status = await home.svc(['mfa', 'status', '--json'])
    expect(JSON.parse(status.stdout)).toMatchObject({
      second_factor: { recovery_codes_left: 10 },
      second_factor_demanded: false,
    })
    expect((await home.svc(['mfa', 'status'])).stdout).toMatch(/recovery codes left +10/)

    const without = await login('--no-admin')
    expect([without.code, without.stdout]).toEqual([4, ''])
    expect(without.stderr).toContain('--code-file')

    // One code a line: signing in takes one, the step-up for the admin token the next.
    const codesFile = home.secretFile('codes', `${codeAt(secret)}\n${codes[0]}\n`)
    const both = await login('--admin', '--code-file', codesFile)
    expect([both.code, both.stderr]).toEqual([0, expect.stringContaining('Signed in')])
    const { token } = JSON.parse(readFileSync(join(home.config, 'svc', 'profiles', 'work.json'), 'utf8')) as {
      token: string
    }
    expect(token).toMatch(/^svcp_/)
  })

  test('a file with too few codes, a used one, and one that others can read are each told', async () => {
    const { secret, codes } = await enrolled()
    const code = codeAt(secret)
    const once = home.secretFile('once', `${code}\n`)
    const few = await login('--admin', '--code-file', once)
    expect([few.code, few.stderr]).toEqual([4, expect.stringContaining('has too few codes')])
    const used = await login('--no-admin', '--code-file', once)
    expect([used.code, used.stderr]).toEqual([4, expect.stringContaining('each code works once')])
    expect(`${few.stderr}${used.stderr}`).not.toContain(code)
    const open = home.secretFile('open', `${codes[1]}\n`)
    const { chmodSync } = await import('node:fs')
    chmodSync(open, 0o644)
    expect((await login('--no-admin', '--code-file', open)).code).toBe(2)
  })

  test('new recovery codes go to a file of mode 0600 that is new', async () => {
    const { codes } = await enrolled()
    const codesFile = home.secretFile('codes', `${codes[0]}\n`)
    const made = await home.svc([
      ...['mfa', 'recovery-codes', '--password-file', passwordFile, '--code-file', codesFile],
      ...['--recovery-codes-file', 'new-codes', '--json'],
    ])
    expect([made.code, JSON.parse(made.stdout)]).toEqual([0, { recovery_codes: null }])
    const kept = join(home.folder, 'new-codes')
    expect(statSync(kept).mode & 0o777).toBe(0o600)
    expect(readFileSync(kept, 'utf8').trim().split('\n')).toHaveLength(10)
  })

  test('is removed with a code, and by the operator at the database without', async () => {
    const { secret } = await enrolled()
    const codesFile = home.secretFile('codes', `${codeAt(secret)}\n`)
    const declined = await home.svc(['mfa', 'remove', '--password-file', passwordFile, '--code-file', codesFile])
    expect(declined.code).toBe(2)
    const proof = ['--password-file', passwordFile, '--code-file', codesFile, '--confirm', owner.email]
    expect((await home.svc(['mfa', 'remove', ...proof])).code).toBe(0)
    expect(await daemon.db.sql`select 1 from second_factor`).toEqual([])

    await enrolled()
    const env = databaseEnv(daemon.config)
    const named = ['--workspace', 'home', '--email', owner.email, '--confirm', owner.email]
    const at = await home.svc(['mfa', 'remove', '--recovery', '--while-serving', ...named], { env })
    expect([at.code, at.stderr]).toEqual([0, expect.stringContaining('The second factor of')])
    expect(at.stderr, 'and where its mail goes').toContain(`writes it to ${join(daemon.config.dataDir, 'mail')}`)
  })

  test('svc api --step-up takes a code as well', async () => {
    const { codes } = await enrolled()
    const codesFile = home.secretFile('codes', `${codes[2]}\n`)
    const args = ['api', 'POST', '/auth/mfa/recovery:regenerate', '--step-up', '--password-file', passwordFile]
    const made = await home.svc([...args, '--code-file', codesFile])
    expect(made.code).toBe(0)
    expect(JSON.parse(made.stdout)).toMatchObject({ recovery_codes: expect.any(Array) })
  })
})

describe('on a terminal', () => {
  test('is set up in one go: secret, code, recovery codes; then signing in asks', async () => {
    await login('--no-admin')
    const secretOn = (screen: string) =>
      /\n\s+((?:[A-Z2-7]{4} ){7}[A-Z2-7]{4})/.exec(screen)?.[1]?.replaceAll(' ', '') ?? ''
    let secret = ''
    const { code, screen } = await home.onTerminal(
      ['mfa', 'enroll'],
      [
        ['password again', `${owner.password}${enter}`],
        ['Code that the app shows', `12345${enter}`],
        [
          'That code was wrong',
          (shown) => {
            secret = secretOn(shown)
            return `${codeAt(secret)}${enter}`
          },
        ],
      ],
    )
    expect(code).toBe(0)
    expect(screen.match(/[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}/g)).toHaveLength(10)
    await forget()
    const again = await home.onTerminal(
      ['login', '--api-url', daemon.address, '--workspace', 'home', '--email', owner.email, '--no-admin'],
      [
        ['Password:', `${owner.password}${enter}`],
        ['Code of your authenticator app', () => `000000${enter}`],
        ['That code was wrong', () => `${codeAt(secret)}${enter}`],
      ],
    )
    expect(again.code).toBe(0)
    expect(again.screen).not.toContain(secret)
  })
})

test('where it is demanded, signing in says so and what comes next', async () => {
  await daemon.db.sql`insert into setting (name, value) values ('sign_in.mfa_required_for', '"ALL"')`
  try {
    const { code, stderr } = await login('--admin')
    expect([code, stderr]).toEqual([0, expect.stringContaining('Next: svc mfa enroll')])
    const refused = await home.svc(['tokens', 'list'])
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('svc mfa enroll')])
    expect((await home.svc(['mfa', 'status'])).stderr).toContain('svc mfa enroll')
  } finally {
    await daemon.db.sql`delete from setting`
  }
})

describe('svc signin explain', () => {
  test('says the same by both ways, to people and to programs', async () => {
    const env = databaseEnv(daemon.config)
    await login('--admin')
    const args = ['signin', 'explain', 'home', owner.email]
    const [api, recovery] = [
      await home.svc([...args, '--json']),
      await home.svc([...args, '--json', '--recovery', '--while-serving'], { env }),
    ]
    expect(JSON.parse(api.stdout)).toEqual(JSON.parse(recovery.stdout))
    const { stdout, code } = await home.svc(args)
    expect(code).toBe(0)
    expect(stdout).toContain(`${owner.email} can sign in to home.`)
    expect(stdout).toMatch(/password +open/)
    expect(stdout).toContain("password_enabled is true (the product's default)")
    const missing = await home.svc(['signin', 'explain', 'nobody', owner.email])
    expect([missing.code, missing.stdout]).toEqual([3, ''])
  })

  test('names the lock, its reason and who set it', async () => {
    await login('--admin')
    await daemon.db.sql`
      insert into setting (name, value, is_locked, reason, set_by) values ('sign_in.password_enabled', 'false', true, ${'single sign-on \u001b[31monly'}, ${owner.accountId})`
    try {
      const { stdout } = await home.svc(['signin', 'explain', 'home', owner.email])
      expect(stdout).toContain('cannot sign in to home')
      expect(stdout).toContain('locked: a workspace cannot change it')
      expect(stdout).toContain(`decided by account ${owner.accountId}`)
      expect(stdout).toContain('reason: single sign-on')
      expect(stdout).not.toContain('\u001b')
    } finally {
      await daemon.db.sql`delete from setting`
    }
  })
})
