/** The same commands over the API and directly on the database: the same answers, the same endings. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plantToken } from '../kit/accounts.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { everyScope, type Home as Owner, person, setUp, workspace } from '../kit/people.ts'
import { databaseEnv, type Home, type Ran, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let owner: Owner
let home: Home
let token: string
let passwordFile: string

beforeAll(async () => {
  daemon = await testDaemon()
  owner = await setUp(daemon)
  // Of somebody with a password, which a change of the register takes.
  token = (await plantToken({ oracle: daemon.db.sql }, owner, { scopes: everyScope })).token
  home = temporaryHome()
  passwordFile = join(home.folder, 'me.password')
  writeFileSync(passwordFile, owner.password, { mode: 0o600 })
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})

describe.each(['api', 'database'] as const)('by the %s', (way) => {
  const run = (...args: string[]): Promise<Ran> =>
    way === 'api'
      ? home.svc(args, { env: { SVC_API_URL: daemon.address, SVC_TOKEN: token } })
      : home.svc([...args, '--recovery', '--while-serving'], { env: databaseEnv(daemon.config) })
  const slug = `acme-${way}`
  const provision = (...more: string[]) =>
    run(
      'tenants',
      'provision',
      '--slug',
      slug,
      '--display-name',
      'Acme Ltd',
      '--owner-email',
      'ada@acme.example',
      ...more,
    )

  test('provisions, shows the token once, and says what is next', async () => {
    const { code, stdout, stderr } = await provision()
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout).toMatch(/redemption token +svci_[0-9A-Za-z]{49}\n/)
    expect(stderr).toContain(`Will provision ${slug} (Acme Ltd), owned by ada@acme.example, on `)
    // The owner is at another machine, where no profile names this installation.
    const join = way === 'api' ? `svc invitations redeem --api-url ${daemon.address}` : 'svc invitations redeem'
    expect(stderr).toContain(`give the token to ada@acme.example. They join with \`${join}\``)
  })

  test('a slug that is taken is a conflict, told in one line, and with --json as the problem', async () => {
    const words = await provision()
    expect(words).toMatchObject({ code: 5, stdout: '' })
    expect(words.stderr.trim().split('\n').at(-1)).toBe(
      'The slug is in use, or was until recently. Choose another slug.',
    )
    const json = await provision('--json')
    expect(json).toMatchObject({ code: 5, stdout: '' })
    expect(JSON.parse(json.stderr)).toMatchObject({ status: 409, code: 'admin.slug_taken', params: {} })
  })

  test('--json is the representation of the API, unchanged', async () => {
    const { stdout } = await run('tenants', 'list', '--json')
    const { json } = await daemon.call('GET', '/api/v1/admin/tenants', { token })
    expect(JSON.parse(stdout)).toEqual(json)
  })

  test('a workspace is named by its slug or its id', async () => {
    const bySlug = JSON.parse((await run('tenants', 'show', slug, '--json')).stdout)
    const byId = JSON.parse((await run('tenants', 'show', bySlug.id, '--json')).stdout)
    expect(byId).toEqual(bySlug)
    expect(byId.slug).toBe(slug)
  })

  test('suspends and resumes, and a second time is no failure', async () => {
    const suspended = await run('tenants', 'suspend', slug)
    expect(suspended).toMatchObject({ code: 0, stdout: '' })
    const same = way === 'api' ? '' : ' --recovery --while-serving'
    expect(suspended.stderr).toContain(`To let them in again: svc tenants resume ${slug}${same}\n`)
    const again = await run('tenants', 'suspend', slug)
    expect(again).toMatchObject({ code: 0 })
    expect(again.stderr).toContain(`${slug} was suspended already`)
    const [row] = await daemon.db.sql`select state from tenant where slug = ${slug}`
    expect(row).toEqual({ state: 'SUSPENDED' })
    expect(await run('tenants', 'resume', slug)).toMatchObject({ code: 0 })
    expect(await daemon.db.sql`select state from tenant where slug = ${slug}`).toEqual([{ state: 'ACTIVE' }])
  })

  test('with --json a command that answers nothing prints nothing', async () => {
    expect(await run('tenants', 'resume', slug, '--json')).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  test('quotas keep every digit of an int64', async () => {
    const { code, stdout } = await run(
      'tenants',
      'quotas',
      'set',
      slug,
      'items=9223372036854775807',
      'export_jobs=unlimited',
      'media_bytes=default',
      '--json',
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(/"items": \{\s+"value": 9223372036854775807,\s+"source": "WORKSPACE"/)
    const shown = await run('tenants', 'quotas', 'show', slug)
    expect(shown.stdout).toMatch(/export_jobs +unlimited +0 +WORKSPACE/)
    expect(shown.stdout).toMatch(/media_bytes +10737418240 +0 +PRODUCT/)
  })

  test('what a workspace has is told in numbers and bars', async () => {
    const { code, stdout } = await run('tenants', 'stats', slug)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ENTITY +ROWS +SIZE +LAST 30 DAYS +NEW$/m)
    expect(stdout).toMatch(/^containers +2 +[0-9]+ B +▁{29}█ +2$/m)
    const [row] = await daemon.db.sql<{ id: string }[]>`select id from tenant where slug = ${slug}`
    const { json } = await daemon.call('GET', `/api/v1/admin/tenants/${row?.id}/statistics`, { token })
    const told = JSON.parse((await run('tenants', 'stats', slug, '--json')).stdout)
    expect({ ...told, counted_at: '' }).toEqual({ ...json, counted_at: '' })
    expect(await run('tenants', 'stats', 'nobody')).toMatchObject({ code: 3, stdout: '' })
  })

  test('the journal names who did it', async () => {
    const { stdout } = await run('journal', '--size', '5')
    expect(stdout).toContain(way === 'api' ? `  ${owner.email}` : '  RECOVERY ')
    const [head, ...entries] = stdout.trim().split('\n')
    expect(head).toMatch(/^WHEN /)
    expect(entries).toHaveLength(5)
    const all = JSON.parse((await run('journal', '--all', '--json')).stdout)
    const [counted] = await daemon.db.sql<{ count: number }[]>`select count(*)::int as count from journal`
    expect(all.data).toHaveLength(counted!.count)
  })

  test('the token goes into a new file of mode 0600 where one is named, and nowhere else', async () => {
    const file = join(home.folder, `${way}.token`)
    const answer = await run(
      'tenants',
      'provision',
      '--slug',
      `file-${way}`,
      '--display-name',
      'File',
      '--owner-email',
      'f@acme.example',
      '--token-file',
      file,
      '--json',
    )
    expect(answer.code).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const written = readFileSync(file, 'utf8')
    expect(written).toMatch(/^svci_[0-9A-Za-z]{49}\n$/)
    expect(answer.stdout + answer.stderr).not.toContain('svci_')
    expect(JSON.parse(answer.stdout)).toMatchObject({ redemption_token: null, token_file: file })
  })

  test('a token file that exists is refused before anything is done; one for a refused call is removed', async () => {
    const taken = join(home.folder, `${way}.taken`)
    writeFileSync(taken, 'precious')
    const refused = await run(
      'tenants',
      'provision',
      '--slug',
      `never-${way}`,
      '--display-name',
      'N',
      '--owner-email',
      'n@acme.example',
      '--token-file',
      taken,
    )
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(readFileSync(taken, 'utf8')).toBe('precious')
    expect(await daemon.db.sql`select 1 from tenant where slug = ${`never-${way}`}`).toHaveLength(0)
    const unused = join(home.folder, `${way}.unused`)
    expect(await provision('--token-file', unused)).toMatchObject({ code: 5 })
    expect(existsSync(unused)).toBe(false)
  })

  test('an idempotency key makes a repeat answer the same, token included', async () => {
    const key = way === 'api' ? '7d1f0a52-3c6e-4a8b-9d55-0c9b7f6f2f11' : '7d1f0a52-3c6e-4a8b-9d55-0c9b7f6f2f12'
    const once = () =>
      run(
        'tenants',
        'provision',
        '--slug',
        `twice-${way}`,
        '--display-name',
        'T',
        '--owner-email',
        't@acme.example',
        '--idempotency-key',
        key,
        '--json',
      )
    const [first, second] = [await once(), await once()]
    expect(first.code).toBe(0)
    expect(second).toEqual(first)
  })

  test('the register: list, add, remove, and the reasons it refuses', async () => {
    const other = await person(daemon, owner.tenantId)
    const proof = way === 'api' ? ['--password-file', passwordFile] : []
    expect(await run('operators', 'add', other.accountId, ...proof)).toMatchObject({ code: 0 })
    const listed = JSON.parse((await run('operators', 'list', '--json')).stdout).data
    expect(listed.at(-1), 'a full one').toMatchObject({ account_id: other.accountId, probation_until: null })
    await daemon.db
      .sql`update operator set probation_until = now() + interval '1 hour' where account_id = ${other.accountId}`
    expect((await run('operators', 'list')).stdout).toMatch(
      new RegExp(`PROBATION[\\s\\S]*\\d{4}-[-\\d:+ ]+${other.accountId}`),
    )
    expect(await run('operators', 'remove', other.accountId, ...proof)).toMatchObject({ code: 0 })
    expect(await run('operators', 'remove', other.accountId, ...proof)).toMatchObject({
      code: 3,
      stderr: 'That account is not in the operator register.\n',
    })
    expect(await run('operators', 'add', 'home', 'nobody@home.example', ...proof)).toMatchObject({ code: 3 })
    if (way === 'api')
      expect(await run('operators', 'add', other.accountId), 'never without a proof').toMatchObject({ code: 4 })
  })
})

describe('only one of the two', () => {
  test('what belongs to an account cannot be done at the database', async () => {
    const answer = await home.svc(['tokens', 'list', '--recovery', '--while-serving'], {
      env: databaseEnv(daemon.config),
    })
    expect(answer).toMatchObject({ code: 4, stdout: '' })
    expect(answer.stderr).toContain('This command cannot work directly on the database')
  })

  test('the database is left alone while a daemon serves it, unless that is meant', async () => {
    const env = databaseEnv(daemon.config)
    const refused = await home.svc(['tenants', 'suspend', 'acme-api', '--recovery'], { env })
    expect(refused).toMatchObject({ code: 5, stdout: '' })
    expect(refused.stderr).toBe(
      'A daemon is serving this installation. Sign in to it with `svc login`, or add --while-serving to work on the database at the same time.\n',
    )
    expect(await daemon.db.sql`select state from tenant where slug = 'acme-api'`).toEqual([{ state: 'ACTIVE' }])
  })

  test('a database without a profile needs --recovery, said aloud', async () => {
    const answer = await home.svc(['tenants', 'list'], { env: databaseEnv(daemon.config) })
    expect(answer).toMatchObject({ code: 2, stdout: '' })
    expect(answer.stderr).toContain('work directly on the database with --recovery.')
  })

  test("suspending one's own workspace asks for its name first", async () => {
    const env = { SVC_API_URL: daemon.address, SVC_TOKEN: token }
    const last = await home.svc(['tenants', 'suspend', 'home', '--confirm', 'home'], { env })
    expect(last, 'nobody could let them in again').toMatchObject({
      code: 5,
      stderr: expect.stringContaining('svc operators add'),
    })
    await person(daemon, await workspace(daemon, 'elsewhere'), { operator: true })
    const refused = await home.svc(['tenants', 'suspend', 'home'], { env })
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('this locks you out')
    expect(await home.svc(['tenants', 'suspend', 'home', '--confirm', 'house'], { env })).toMatchObject({ code: 1 })
    expect(await daemon.db.sql`select state from tenant where slug = 'home'`).toEqual([{ state: 'ACTIVE' }])
    const suspended = await home.svc(['tenants', 'suspend', 'home', '--confirm', 'home'], { env })
    expect(suspended.code).toBe(0)
    expect(suspended.stderr).toContain(
      'To let them in again: svc tenants resume home --recovery, or another operator\n',
    )
    expect(await home.svc(['tenants', 'resume', 'home'], { env })).toMatchObject({ code: 4 })
    expect(
      await home.svc(['tenants', 'resume', 'home', '--recovery', '--while-serving'], {
        env: databaseEnv(daemon.config),
      }),
    ).toMatchObject({ code: 0 })
  })
})
