/** Signing in, what is kept of it and where, and that it goes nowhere else. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Home as Owner, setUp } from '../kit/people.ts'
import { type Home, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let owner: Owner
let home: Home

beforeAll(async () => {
  daemon = await testDaemon()
  owner = await setUp(daemon)
})
afterAll(() => daemon.close())
beforeEach(() => {
  home = temporaryHome()
})
afterEach(() => home.remove())

const signIn = (...more: string[]) =>
  home.svc(
    ['login', '--api-url', daemon.address, '--workspace', 'home', '--email', owner.email, '--password-stdin', ...more],
    { input: `${owner.password}\n` },
  )
const profileFile = (name = 'work') => join(home.config, 'svc', 'profiles', `${name}.json`)
const profile = (name?: string) => JSON.parse(readFileSync(profileFile(name), 'utf8'))
const change = (members: object, name?: string) =>
  writeFileSync(profileFile(name), JSON.stringify({ ...profile(name), ...members }), { mode: 0o600 })

describe('login', () => {
  test('keeps a session for this folder, in a file for its owner only', async () => {
    const { code, stderr } = await signIn()
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(statSync(profileFile()).mode & 0o777).toBe(0o600)
    expect(statSync(join(home.config, 'svc', 'profiles')).mode & 0o777).toBe(0o700)
    expect(profile()).toMatchObject({ api_url: daemon.address, directory: home.folder, email: owner.email })
    expect(readFileSync(profileFile(), 'utf8')).not.toContain(owner.password)
    const me = await home.svc(['api', 'GET', '/accounts/me'])
    expect(JSON.parse(me.stdout)).toMatchObject({ email: owner.email })
  })

  test('without --admin an operator cannot administer yet, and is told how', async () => {
    await signIn()
    expect((await signIn()).stderr).toContain('svc login --admin')
    const answer = await home.svc(['tenants', 'list'])
    expect(answer).toMatchObject({ code: 4, stdout: '' })
    expect(answer.stderr).toContain('The token lacks the scope admin:tenants.')
  })

  test('with --admin the step-up is done by the command, and admin commands work', async () => {
    const { code, stdout } = await signIn('--admin', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ has_admin_token: true, is_operator: true })
    expect(stdout).not.toMatch(/svc[psr]_/)
    expect(await home.svc(['tenants', 'list'])).toMatchObject({ code: 0 })
    const [minted] = await daemon.db
      .sql`select scopes, expires_at < now() + interval '31 days' as is_short from credential where id = ${profile().token_id}`
    expect(minted).toEqual({ scopes: 'admin:tenants', is_short: true })
  })

  test('again keeps the admin token, and with --admin replaces it and revokes the old one', async () => {
    await signIn('--admin')
    const { token: first } = profile()
    await signIn()
    expect(profile().token).toBe(first)
    await signIn('--admin')
    expect(profile().token).not.toBe(first)
    expect((await daemon.call('GET', '/api/v1/accounts/me', { token: first })).status).toBe(401)
    expect((await daemon.call('GET', '/api/v1/accounts/me', { token: profile().token })).status).toBe(200)
  })

  test('with --admin somebody who is no operator is told so, keeps nothing, and his session is ended', async () => {
    await signIn()
    const before = readFileSync(profileFile(), 'utf8')
    const sessions = () => daemon.db.sql`select id from session where revoked_at is null`
    const open = await sessions()
    await daemon.db.sql`delete from operator`
    const answer = await signIn('--admin')
    await daemon.db.sql`insert into operator (account_id, workspace_id) values (${owner.accountId}, ${owner.tenantId})`
    expect(answer).toMatchObject({ code: 4, stdout: '' })
    expect(answer.stderr).toContain(`${owner.email} is not an operator`)
    expect(answer.stderr).toContain('The session was ended.')
    expect(await sessions()).toEqual(open)
    expect(readFileSync(profileFile(), 'utf8')).toBe(before)
    expect(await home.svc(['api', 'GET', '/accounts/me'])).toMatchObject({ code: 0 })
  })

  test('a wrong password is refused in one line and nothing is kept', async () => {
    const answer = await home.svc(
      ['login', '--api-url', daemon.address, '--workspace', 'home', '--email', owner.email, '--password-stdin'],
      { input: 'wrong' },
    )
    expect(answer).toEqual({ code: 4, stdout: '', stderr: 'The workspace, the address or the password is wrong.\n' })
    expect(existsSync(profileFile())).toBe(false)
  })

  test('off a terminal it says what is missing', async () => {
    expect(await home.svc(['login', '--api-url', daemon.address])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Give --workspace and --email.'),
    })
    expect(
      await home.svc(['login', '--api-url', daemon.address, '--workspace', 'home', '--email', owner.email]),
    ).toMatchObject({ code: 2, stderr: expect.stringContaining('--password-stdin') })
  })

  test('a token is kept from standard input, and tried first', async () => {
    await signIn('--admin')
    const { token } = profile()
    expect(
      await home.svc(['login', '--api-url', daemon.address, '--profile', 'robot', '--token-stdin'], { input: token }),
    ).toMatchObject({ code: 0 })
    expect(profile('robot')).toMatchObject({ token, email: owner.email })
    const wrong = await home.svc(['login', '--api-url', daemon.address, '--profile', 'other', '--token-stdin'], {
      input: 'svcp_nothing',
    })
    expect(wrong).toMatchObject({ code: 4, stderr: expect.stringContaining('The request has no valid token.') })
    expect(existsSync(profileFile('other'))).toBe(false)
  })

  test('logout ends the session and revokes the token at the server', async () => {
    await signIn('--admin')
    const { token, session } = profile()
    expect(await home.svc(['logout'])).toMatchObject({ code: 0 })
    expect(readdirSync(join(home.config, 'svc', 'profiles'))).toEqual([])
    for (const gone of [token, session.access_token])
      expect((await daemon.call('GET', '/api/v1/accounts/me', { token: gone })).status).toBe(401)
  })
})

describe('a profile', () => {
  beforeEach(() => signIn('--admin'))

  test('serves its folder and all below it, and no other', async () => {
    const below = join(home.folder, 'a', 'b')
    mkdirSync(below, { recursive: true })
    expect(await home.svc(['tenants', 'list'], { cwd: below })).toMatchObject({ code: 0 })
    expect(await home.svc(['tenants', 'list'], { cwd: home.config })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No installation is configured for this folder'),
    })
    expect(await home.svc(['tenants', 'list', '--profile', 'work'], { cwd: home.config })).toMatchObject({ code: 0 })
    const minted = await home.svc(['tokens', 'create', '--name=r', '--scope=workspace:read', '--profile', 'work'], {
      cwd: home.config,
    })
    expect(minted.stderr).toMatch(/To revoke it: svc tokens revoke \S+ --profile work\n/)
    expect(await home.svc(['profiles', 'use', 'work', '--directory', '.'], { cwd: home.config })).toMatchObject({
      code: 0,
    })
    expect(await home.svc(['tenants', 'list'], { cwd: home.config })).toMatchObject({ code: 0 })
    expect(await home.svc(['tenants', 'list'])).toMatchObject({ code: 2 })
  })

  test.each([0o644, 0o640, 0o604])('of mode %o is refused, with the remedy', async (mode) => {
    chmodSync(profileFile(), mode)
    const answer = await home.svc(['tenants', 'list'])
    expect(answer).toEqual({
      code: 2,
      stdout: '',
      stderr: `Other users can read ${profileFile()} (mode ${mode.toString(8)}). Run: chmod 600 ${profileFile()}\n`,
    })
  })

  test('that is truncated is refused, with the remedy, and can be removed', async () => {
    writeFileSync(profileFile(), '{"api_url": "http')
    expect(await home.svc(['tenants', 'list'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is damaged'),
    })
    expect(await home.svc(['profiles', 'remove', 'work'])).toMatchObject({ code: 0 })
    expect(await home.svc(['profiles', 'list'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('There is no profile.'),
    })
  })

  test.each(['../work', 'a\r\nb', 'A', '', '-a', 'x'.repeat(41), 'a/b', 'a.b'])('named %j is refused', async (name) => {
    expect(await home.svc(['tenants', 'list', `--profile=${name}`])).toMatchObject({ code: 2, stdout: '' })
    expect(
      await home.svc(['login', '--api-url', daemon.address, `--profile=${name}`, '--token-stdin'], { input: 'svcp_x' }),
    ).toMatchObject({ code: 2 })
  })

  test('is never sent to another installation', async () => {
    const other = await testDaemon()
    try {
      const answer = await home.svc(['tenants', 'list', '--api-url', other.address])
      expect(answer).toMatchObject({ code: 2, stdout: '' })
      expect(answer.stderr).toContain(`Profile work belongs to ${daemon.address}`)
    } finally {
      await other.close()
    }
  })

  test('lists without its secrets', async () => {
    const { stdout } = await home.svc(['profiles', 'list', '--json'])
    expect(JSON.parse(stdout).data).toMatchObject([{ name: 'work', has_token: true, is_here: true }])
    expect(stdout).not.toMatch(/svc[psr]_/)
  })
})

describe('a session that ends', () => {
  beforeEach(() => signIn())
  const endAccess = () =>
    change({ session: { ...profile().session, access_expires_at: new Date(Date.now() - 1000).toISOString() } })

  test('is renewed and the new one kept', async () => {
    const before = profile().session
    endAccess()
    expect(await home.svc(['tokens', 'list'])).toMatchObject({ code: 0 })
    const after = profile().session
    expect(after.session_id).toBe(before.session_id)
    expect(after.refresh_token).not.toBe(before.refresh_token)
    expect(statSync(profileFile()).mode & 0o777).toBe(0o600)
  })

  test('is renewed once by many commands at once; a second use of the refresh token would end it', async () => {
    endAccess()
    const answers = await Promise.all([1, 2, 3, 4].map(() => home.svc(['tokens', 'list'])))
    expect(answers.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(await home.svc(['tokens', 'list'])).toMatchObject({ code: 0 })
  })

  test('is renewed where the server says so before the clock does', async () => {
    await daemon.db
      .sql`update credential set expires_at = now() - interval '1 second' where kind = 'SESSION' and session_id = ${profile().session.session_id}`
    const before = profile().session.access_token
    expect(await home.svc(['tokens', 'list'])).toMatchObject({ code: 0 })
    expect(profile().session.access_token).not.toBe(before)
  })

  test('for good is one line with the remedy', async () => {
    await daemon.db.sql`update session set revoked_at = now() where id = ${profile().session.session_id}`
    const answer = await home.svc(['tokens', 'list'])
    expect(answer).toEqual({
      code: 4,
      stdout: '',
      stderr: 'The session of profile work has ended. `svc login` signs in again.\n',
    })
  })
})

describe('step-up', () => {
  beforeEach(() => signIn())
  const mint = (args: readonly string[], input?: string) =>
    home.svc(
      ['tokens', 'create', '--name', 'ops', '--scope', 'admin:tenants', ...args],
      input === undefined ? {} : { input },
    )

  test('is done by the command, bound to the operation', async () => {
    const { code, stdout } = await mint(['--password-stdin', '--json'], owner.password)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'ops',
      scopes: ['admin:tenants'],
      token: expect.stringMatching(/^svcp_/),
    })
    const used = await daemon.db
      .sql`select operation from step_up where used_at is not null order by used_at desc limit 1`
    expect(used).toEqual([{ operation: 'createToken' }])
  })

  test('puts the token into a new file where one is named; --json says where, and null in its place', async () => {
    const { code, stdout } = await mint(['--password-stdin', '--token-file', 'ops.token', '--json'], owner.password)
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { token: null, token_file: join(home.folder, 'ops.token') }])
    expect(readFileSync(join(home.folder, 'ops.token'), 'utf8')).toMatch(/^svcp_[0-9A-Za-z]+\n$/)
  })

  test('that cannot be asked for ends with 4 and says which flags', async () => {
    const answer = await mint([])
    expect(answer).toMatchObject({ code: 4, stdout: '' })
    expect(answer.stderr).toContain('--password-stdin or --password-file FILE')
  })

  test('with a wrong password mints nothing', async () => {
    const before = await daemon.db.sql`select count(*)::int from credential`
    expect(await mint(['--password-stdin'], 'wrong')).toMatchObject({ code: 4, stdout: '' })
    expect(await daemon.db.sql`select count(*)::int from credential`).toEqual(before)
  })

  test('a password file that others can read is refused', async () => {
    const file = home.secretFile('pw', owner.password)
    expect(await mint(['--password-file', file])).toMatchObject({ code: 0 })
    chmodSync(file, 0o644)
    expect(await mint(['--password-file', file])).toMatchObject({
      code: 2,
      stderr: `Other users can read ${file} (mode 644). Run: chmod 600 ${file}\n`,
    })
  })

  test('a token without admin rights needs none', async () => {
    expect(
      await home.svc([
        'tokens',
        'create',
        '--name',
        'r',
        '--scope',
        'workspace:read',
        '--scope',
        'workspace:write',
        '--days',
        '3',
      ]),
    ).toMatchObject({ code: 0 })
  })
})
