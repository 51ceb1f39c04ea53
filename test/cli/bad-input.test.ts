/** Wrong values, wrong files, wrong places: one clear line with the remedy, an exit code, nothing half done. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { urlOf } from '../kit/daemon.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { type Home, type Ran, temporaryHome } from '../kit/svc.ts'

let db: TestDatabase
let home: Home
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  db = await testDatabase()
})
afterAll(() => db.drop())
beforeEach(() => {
  home = temporaryHome()
  const file = join(home.folder, 'keyring.json')
  env = { SVC_DATABASE_URL: urlOf(db.daemon), SVC_DATABASE_OWNER_URL: urlOf(db.owner), SVC_KEYRING_FILE: file }
})
afterEach(() => home.remove())

/** One ring for the one database: another is refused, as the tests below show. */
const keyring = `${JSON.stringify({ current: 'k1', keys: { k1: Buffer.alloc(32, 7).toString('base64url') } })}\n`

/** One line, or one and a list of members; no stack, nothing on stdout. */
function expectClear(ran: Ran, code: number, says: RegExp | string): void {
  expect(ran.stderr).toMatch(says)
  expect(ran).toMatchObject({ code, stdout: '' })
  expect(ran.stderr).not.toMatch(/^\s+at /m)
  expect(
    ran.stderr
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith('  ')),
  ).toHaveLength(1)
}

test('a flag that is missing is said in one sentence', async () => {
  const ran = await home.svc(['tokens', 'create', '--scope', 'workspace:read'])
  expect(ran).toEqual({ code: 2, stdout: '', stderr: 'Missing required flag name. `--help` shows the usage.\n' })
})

describe('values', () => {
  beforeEach(() => home.secretFile('keyring.json', keyring))

  const provision = async (changed: Readonly<Record<string, string>>) => {
    const given = { slug: 'fine', 'display-name': 'Fine', 'owner-email': 'a@fine.example', ...changed }
    return home.svc(
      [
        'tenants',
        'provision',
        '--recovery',
        '--json',
        ...Object.entries(given).map(([name, value]) => `--${name}=${value}`),
      ],
      { env },
    )
  }
  const code = ({ stderr }: Ran) =>
    JSON.parse(stderr.trim()).errors?.map(
      ({ pointer, code: rule }: { pointer: string; code: string }) => `${pointer} ${rule}`,
    )

  test.each([
    ['slug', 'ab', '/slug value.pattern'],
    ['slug', 'a'.repeat(41), '/slug value.pattern'],
    ['slug', '-ab', '/slug value.pattern'],
    ['slug', 'Abc', '/slug value.pattern'],
    ['slug', 'a_c', '/slug value.pattern'],
    ['slug', 'www', '/slug slug.reserved'],
    ['slug', 'admin', '/slug slug.reserved'],
    ['display-name', '', '/display_name text.too_short'],
    ['display-name', 'x'.repeat(201), '/display_name text.too_long'],
    ['owner-display-name', '🦊'.repeat(201), '/owner_display_name text.too_long'],
    ['owner-email', 'nobody', '/owner_email value.format'],
    [
      'owner-email',
      `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(10)}`,
      '/owner_email text.too_long',
    ],
    ['locale', 'no-such-locale-x', '/default_locale locale.unknown'],
    ['time-zone', 'Mars/Olympus', '/default_time_zone time_zone.unknown'],
    ['time-zone', '+02:00', '/default_time_zone time_zone.unknown'],
  ])('--%s=%s breaks %s', async (name, value, rule) => {
    const ran = await provision({ [name]: value })
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(code(ran)).toContain(rule)
    expect(await db.sql`select 1 from tenant where slug = 'fine'`).toHaveLength(0)
  })

  test.each([
    ['slug', 'abc'],
    ['slug', 'a'.repeat(40)],
    ['display-name', '🦊'.repeat(200)],
    ['owner-display-name', '株'.repeat(200)],
    ['locale', 'de-CH'],
    ['time-zone', 'Europe/Zurich'],
  ])('--%s=%s is taken', async (name, value) => {
    const slug = `ok-${name}-${[...value].length}`
    const ran = await provision({ slug, [name]: value })
    expect(ran).toMatchObject({ code: 0, stderr: '' })
  })

  test('a slug that is taken, or was until recently', async () => {
    await provision({ slug: 'taken' })
    const again = await provision({ slug: 'taken' })
    expect(again).toMatchObject({ code: 5, stdout: '' })
    expect(JSON.parse(again.stderr)).toMatchObject({ code: 'admin.slug_taken' })
  })

  test.each([
    ['items', 'does not have the form QUOTA=VALUE'],
    ['items=', 'does not have the form QUOTA=VALUE'],
    ['items=-1', 'must be a whole number'],
    ['items=1.5', 'must be a whole number'],
    ['items=many', 'must be a whole number'],
    ['nothing=1', 'There is no quota "nothing".'],
    ['__proto__=1', 'There is no quota "__proto__".'],
  ])('the quota %s', async (change, says) =>
    expectClear(await home.svc(['tenants', 'quotas', 'set', 'fine', change, '--recovery'], { env }), 2, says),
  )

  test('an unknown command, flag, argument or choice', async () => {
    expectClear(await home.svc(['tenant', 'list']), 2, /There is no command "tenant list"/)
    expectClear(await home.svc(['tenants', 'list', '--all']), 2, /--all/)
    expectClear(await home.svc(['tenants', 'show']), 2, /^Missing: WORKSPACE, /)
    expectClear(await home.svc(['tenants', 'show', 'a', 'b']), 2, /Unexpected argument: b/)
    expectClear(await home.svc(['tenants', 'list', '--state', 'GONE']), 2, /ACTIVE, SUSPENDED/)
    expectClear(await home.svc(['journal', '--size', '201']), 2, /200/)
    expectClear(await home.svc(['journal', '--size', '5', '--all']), 2, /--size/)
  })

  test.each([
    [['tenants', 'lsit'], 'Did you mean `svc tenants list`?'],
    [['tenant', 'list'], 'Did you mean `svc tenants list`?'],
    [['tenants', 'quota', 'set'], 'Did you mean `svc tenants quotas set`?'],
    [['jurnal'], 'Did you mean `svc journal`?'],
    [['tenants', 'list', '--stat', 'ACTIVE'], 'Did you mean --state?'],
    [['tenants', 'list', '--jsn'], 'Did you mean --json?'],
  ])('%j is answered by what was meant', async (args, says) => expectClear(await home.svc(args), 2, says))

  test('what is near to nothing is answered without a guess', async () => {
    for (const args of [['frobnicate'], ['tenants', 'list', '--frobnicate']])
      expect((await home.svc(args)).stderr).not.toContain('Did you mean')
  })

  test('a variable that is mistyped is named by doctor', async () => {
    const ran = await home.svc(['doctor'], { env: { ...env, SVC_DATABSE_POOL: '5' } })
    expect(ran.stdout).toContain('SVC_DATABSE_POOL is not read. Did you mean SVC_DATABASE_POOL?')
  })

  test('a missing value off a terminal names the flags', async () => {
    expectClear(
      await home.svc(['tenants', 'provision', '--slug', 'x'], { env }),
      2,
      'Missing: --display-name, --owner-email.',
    )
    expectClear(
      await home.svc(['up'], { env: { SVC_PORT: '0' } }),
      2,
      'The first run needs --workspace, --workspace-name, --owner-name, --owner-email, --password-stdin',
    )
    expect(readdirSync(home.folder)).toEqual(['keyring.json'])
  })

  test('a provisioning that breaks a rule makes no database', async () => {
    const args = ['tenants', 'provision', '--slug', 'No Slug', '--display-name', 'A', '--owner-email', 'a@a.example']
    expectClear(await home.svc(args), 2, /^ {2}\/slug {2}must have 3 to 40/m)
    expect(readdirSync(home.folder)).toEqual(['keyring.json'])
  })

  test('a first run that breaks a rule makes no database', async () => {
    const args = [
      'up',
      '--workspace',
      'x',
      '--workspace-name',
      'X',
      '--owner-name',
      'O',
      '--owner-email',
      'nobody',
      '--password-stdin',
    ]
    const ran = await home.svc(args, { env: { SVC_PORT: '0' }, input: 'short' })
    expectClear(ran, 2, /\/workspace\/slug {2}must have 3 to 40/)
    expect(ran.stderr).toMatch(
      /\/owner\/email {2}must be an e-mail address\n {2}\/owner\/password {2}must have at least 12 characters/,
    )
    expect(readdirSync(home.folder)).toEqual(['keyring.json'])
  })
})

describe('the keyring', () => {
  const list = (more: NodeJS.ProcessEnv = {}) =>
    home.svc(['tenants', 'list', '--recovery'], { env: { ...env, ...more } })

  test('that is not named', async () =>
    expectClear(await list({ SVC_KEYRING_FILE: '' }), 2, 'SVC_KEYRING_FILE is not set'))
  test('that does not exist is not made beside a database of the operator’s own', async () => {
    expectClear(await list(), 2, /does not exist\. Restore it from its backup/)
    expect(readdirSync(home.folder)).toEqual([])
  })
  test('that others can read', async () => {
    home.secretFile('keyring.json', '{}')
    spawnSync('chmod', ['640', join(home.folder, 'keyring.json')])
    expectClear(await list(), 2, /can be read by others \(mode 640\)\. Run: chmod 600 /)
  })
  test.each([
    ['truncated', '{"current":"k1","ke', 'is not whole JSON'],
    ['without its current key', '{"current":"k1","keys":{}}', 'names "k1" as current but holds no such key'],
    ['with a short key', '{"current":"k1","keys":{"k1":"AAAA"}}', 'that is not 32 bytes in base64url'],
    ['that is a list', '[]', 'lacks "current" or "keys"'],
  ])('%s', async (_, text, says) => {
    home.secretFile('keyring.json', text)
    expectClear(await list(), 2, says)
  })

  test('of another installation', async () => {
    const own = await testDatabase()
    try {
      const at = { ...env, SVC_DATABASE_URL: urlOf(own.daemon), SVC_DATABASE_OWNER_URL: urlOf(own.owner) }
      await createKeyring(join(home.folder, 'keyring.json'))
      const { current, keys } = JSON.parse(readFileSync(join(home.folder, 'keyring.json'), 'utf8'))
      expect(await list(at)).toMatchObject({ code: 0 })
      home.secretFile(
        'keyring.json',
        JSON.stringify({ current, keys: { [current]: Buffer.alloc(32, 9).toString('base64url') } }),
      )
      expectClear(await list(at), 2, /is not the key of that name that this database was used with/)
      expect(Object.keys(keys)).toEqual([current])
    } finally {
      await own.drop()
    }
  })

  test('is never replaced by init, and shown without its keys', async () => {
    const made = await home.svc(['keyring', 'init', '--file', 'keyring.json', '--json'])
    expect(made).toMatchObject({ code: 0 })
    const text = readFileSync(join(home.folder, 'keyring.json'), 'utf8')
    const [secret] = Object.values(JSON.parse(text).keys as Record<string, string>)
    expectClear(await home.svc(['keyring', 'init', '--file', 'keyring.json']), 5, 'exists already')
    expect(readFileSync(join(home.folder, 'keyring.json'), 'utf8')).toBe(text)
    const shown = await home.svc(['keyring', 'show', '--json'], { env })
    const { mode, current, keys } = JSON.parse(shown.stdout)
    expect({ mode, current }).toEqual({ mode: '600', current: JSON.parse(made.stdout).current })
    expect(keys).toContainEqual({ key_id: current, in_ring: true, is_current: true, values: 0 })
    expect(made.stdout + made.stderr + shown.stdout + shown.stderr).not.toContain(secret)
  })
})

describe('the database', () => {
  beforeEach(async () => void (await createKeyring(join(home.folder, 'keyring.json'))))

  test.each([
    ['that is away', 'postgres://u:a-secret@127.0.0.1:1/x', 7, /cannot be reached/],
    ['whose URL is none', 'mysql://u:a-secret@h/x', 2, /SVC_DATABASE_URL/],
  ])('%s is told without its password', async (_, url, code, says) => {
    for (const command of [
      ['tenants', 'list', '--recovery'],
      ['db', 'status'],
      ['db', 'migrate'],
    ]) {
      const ran = await home.svc(command, { env: { ...env, SVC_DATABASE_URL: url, SVC_DATABASE_OWNER_URL: url } })
      expectClear(ran, code, says)
      expect(ran.stderr).not.toContain('a-secret')
    }
  })

  test('of a newer version is refused, unchanged, with exit 5', async () => {
    const newer = await testDatabase()
    try {
      await newer.sql`insert into pgmigrations (name, run_on) values ('9999_later', now())`
      const at = { ...env, SVC_DATABASE_URL: urlOf(newer.daemon), SVC_DATABASE_OWNER_URL: urlOf(newer.owner) }
      expectClear(
        await home.svc(['tenants', 'list', '--recovery'], { env: at }),
        5,
        /migrated by a newer svc: it has 9999_later/,
      )
      expectClear(await home.svc(['db', 'migrate'], { env: at }), 5, /Run the newer release/)
      const status = await home.svc(['db', 'status', '--json'], { env: at })
      expect(status.code).toBe(8)
      expect(JSON.parse(status.stdout)).toMatchObject({ pending: [], unknown: ['9999_later'] })
    } finally {
      await newer.drop()
    }
  })

  test('that lacks a migration says which, and db migrate runs it', async () => {
    const older = await testDatabase()
    try {
      const at = { ...env, SVC_DATABASE_URL: urlOf(older.daemon), SVC_DATABASE_OWNER_URL: urlOf(older.owner) }
      expect(await home.svc(['db', 'migrate'], { env: at })).toMatchObject({
        code: 0,
        stdout: 'The database is up to date; no migration ran.\n',
      })
      const [last] = await older.sql<
        { name: string }[]
      >`delete from pgmigrations where id = (select max(id) from pgmigrations) returning name`
      expectClear(
        await home.svc(['tenants', 'list', '--recovery'], { env: at }),
        5,
        `the first is ${last!.name}. Run: svc db migrate`,
      )
      expect((await home.svc(['db', 'status'], { env: at })).code).toBe(8)
    } finally {
      await older.drop()
    }
  })
})

describe('places', () => {
  test('a command in the wrong folder makes nothing there', async () => {
    expectClear(await home.svc(['tenants', 'list']), 2, /No installation is configured for this folder/)
    expectClear(await home.svc(['tenants', 'list', '--recovery']), 2, /No installation is configured for this folder/)
    expectClear(await home.svc(['db', 'migrate']), 2, /There is no database in /)
    expect(readdirSync(home.folder)).toEqual([])
    expect(existsSync(home.config)).toBe(false)
  })

  test('a port in use is told before anything is made', async () => {
    const server = createServer()
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    const args = [
      'up',
      '--workspace',
      'acme',
      '--workspace-name',
      'X',
      '--owner-name',
      'O',
      '--owner-email',
      'o@acme.example',
      '--password-stdin',
    ]
    const ran = await home.svc(args, { env: { SVC_PORT: String(port) }, input: 'correct horse battery' })
    expectClear(ran, 1, `The port ${port} on 127.0.0.1 is in use. Stop the program that uses it, or set SVC_PORT.`)
    expect(readdirSync(home.folder)).toEqual([])
    await new Promise((done) => server.close(done))
  })

  test.each([
    [{ SVC_PORT: 'x' }, /SVC_PORT: must be a whole number/],
    [{ SVC_MODE: 'both' }, /SVC_MODE/],
    [{ SVC_DATA_DIR: '/dev/null/svc' }, /\/dev\/null\/svc/],
    // Node's recursive mkdir never comes back from there.
    [{ SVC_DATA_DIR: '/proc/svc' }, /The data folder \/proc\/svc cannot be written \(ENOENT\)/],
    [{ SVC_DATA_DIR: '/proc/svc/below/it' }, /The data folder \/proc\/svc\/below\/it cannot be written \(ENOENT\)/],
  ])('the setting %j', async (more, says) => {
    const args = [
      'up',
      '--workspace',
      'acme',
      '--workspace-name',
      'X',
      '--owner-name',
      'O',
      '--owner-email',
      'o@acme.example',
      '--password-stdin',
    ]
    const ran = await home.svc(args, { env: { SVC_PORT: '0', ...more }, input: 'correct horse battery' })
    expect(ran.code).not.toBe(0)
    expect(ran.stderr).toMatch(says)
    expect(ran.stderr).not.toMatch(/^\s+at /m)
  })

  test('a place that takes no folders, for a keyring and for profiles', async () => {
    expectClear(await home.svc(['keyring', 'init', '--file', '/proc/svc/ring.json']), 1, /\/proc\/svc/)
    const provision = ['tenants', 'provision', '--slug=acme', '--display-name=A', '--owner-email=a@acme.example']
    const ran = await home.svc(provision, { env: { SVC_DATA_DIR: '/proc/svc' } })
    expect(ran).toMatchObject({ code: 7, stdout: '' })
    expect(ran.stderr).toContain('The data folder /proc/svc cannot be written (ENOENT)')
  })

  test.each(['ftp://x', 'nonsense', 'http://user:pw@h', 'http://h/?q=1'])('the API URL %s', async (url) => {
    expectClear(await home.svc(['tenants', 'list', '--api-url', url], { env: { SVC_TOKEN: 'svcp_x' } }), 2, /API URL/)
  })

  test('a token that could not be a header', async () => {
    expectClear(
      await home.svc(['tenants', 'list'], { env: { SVC_API_URL: 'http://127.0.0.1:1', SVC_TOKEN: 'a\nb' } }),
      2,
      /characters that a token cannot have/,
    )
  })

  test('a daemon that is down', async () => {
    expectClear(
      await home.svc(['tenants', 'list'], { env: { SVC_API_URL: 'http://127.0.0.1:1', SVC_TOKEN: 'svcp_x' } }),
      7,
      /cannot be reached \(connection refused\)\. Is `svc daemon`/,
    )
  })

  test('no space on the disk leaves nothing half written behind', async () => {
    // A limit on the size of files stands for a full disk: writing fails in the same place.
    const full = (...args: string[]) => home.svc(args, { env, filesOfNoSize: true })
    expectClear(await full('keyring', 'init', '--file', 'ring.json'), 1, 'There is no space left on the disk.')
    home.secretFile('keyring.json', keyring)
    const before = readdirSync(home.folder)
    const wanted = [
      '--slug',
      'full',
      '--display-name',
      'F',
      '--owner-email',
      'f@full.example',
      '--token-file',
      'full.token',
    ]
    const ran = await full('tenants', 'provision', ...wanted, '--recovery', '--json')
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(JSON.parse(ran.stderr).detail).toBe('full.token cannot be written (EFBIG).')
    expect(readdirSync(home.folder)).toEqual(before)
    expect(await db.sql`select 1 from tenant where slug = 'full'`).toHaveLength(0)
  })

  test('an unwritable place for profiles is told, and the folder stays as it was', async () => {
    mkdirSync(home.config)
    writeFileSync(join(home.config, 'svc'), 'a file where a folder should be')
    const ran = await home.svc(['profiles', 'list'])
    expect(ran.code).not.toBe(0)
    expect(ran.stderr).not.toMatch(/^\s+at /m)
    expect(readFileSync(join(home.config, 'svc'), 'utf8')).toContain('a file')
  })
})
