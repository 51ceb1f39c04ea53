/** From nothing to a second person at work: set-up, daemon, invitation, joining; and the remaining commands on the way. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { person } from '../kit/people.ts'
import { databaseEnv, type Home, seen, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let home: Home
let asOperator: NodeJS.ProcessEnv
const password = 'correct horse battery'

beforeAll(async () => {
  daemon = await testDaemon()
  home = temporaryHome()
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})

const owner = [
  '--workspace',
  'acme',
  '--workspace-name',
  'Acme',
  '--owner-name',
  'Ada',
  '--owner-email',
  'ada@acme.example',
  '--password-stdin',
]

describe('installation set-up through a daemon', () => {
  const setUp = (file: string) =>
    home.svc(['installation', 'set-up', '--api-url', daemon.address, '--set-up-token-file', file, ...owner], {
      input: password,
    })

  test('with another token is refused', async () => {
    expect(await setUp(home.secretFile('wrong', 'another-token'))).toMatchObject({ code: 4, stdout: '' })
    expect(await daemon.db.sql`select 1 from tenant`).toHaveLength(0)
  })

  test('off a terminal names only the flags that there are', async () => {
    const { code, stderr } = await home.svc(['installation', 'set-up', '--api-url', daemon.address, ...owner], {
      input: password,
    })
    expect(code).toBe(2)
    expect(stderr).toContain('Give it with --set-up-token-file FILE.')
  })

  test('makes the first workspace and its operator, and says how to go on with this daemon', async () => {
    const { code, stderr } = await setUp(home.secretFile('right', daemon.setUpToken))
    expect(code).toBe(0)
    expect(stderr).toBe(
      `Set up ${daemon.address}: workspace acme. Its owner ada@acme.example is the first operator.\n` +
        `Next: svc login --workspace acme --email ada@acme.example --api-url ${daemon.address}\n`,
    )
    const [tenant] = await daemon.db.sql<{ id: string; slug: string; display_name: string }[]>`select * from tenant`
    expect(tenant).toMatchObject({ slug: 'acme', display_name: 'Acme' })
    asOperator = {
      SVC_API_URL: daemon.address,
      SVC_TOKEN: (await person(daemon, tenant!.id, { operator: true })).token,
    }
    expect(await setUp(join(home.folder, 'right'))).toMatchObject({ code: 5 })
  })

  test('directly on the database asks for no token, and is done once as well', async () => {
    const answer = await home.svc(['installation', 'set-up', ...owner, '--while-serving'], {
      env: databaseEnv(daemon.config),
      input: password,
    })
    expect(answer).toMatchObject({
      code: 5,
      stdout: '',
      stderr: 'This installation is already set up. `svc login` signs in.\n',
    })
  })
})

test('doctor does not promise what commands refuse: with a database of your own and no profile they need --recovery', async () => {
  const env = { ...databaseEnv(daemon.config), SVC_PORT: String(daemon.port) }
  const { stdout } = await home.svc(['doctor', '--json'], { env })
  const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string; says: string }[] }
  expect(checks.find(({ check }) => check === 'access')).toMatchObject({
    state: 'warn',
    says: 'no profile, and SVC_API_URL is not set: commands need --recovery',
  })
  expect(await home.svc(['tenants', 'list'], { env })).toMatchObject({ code: 2 })
})

describe('an invited owner', () => {
  test('joins with the token from a file, once', async () => {
    const provision = [
      'tenants',
      'provision',
      '--slug',
      'beta',
      '--display-name',
      'Beta',
      '--owner-email',
      'bo@beta.example',
      '--token-file',
      'beta.token',
    ]
    expect(await home.svc(provision, { env: asOperator })).toMatchObject({ code: 0 })
    const redeem = (profile: string, input: string) =>
      home.svc(
        [
          'invitations',
          'redeem',
          '--api-url',
          daemon.address,
          '--token-file',
          'beta.token',
          '--password-stdin',
          '--profile',
          profile,
        ],
        { input },
      )

    const short = await redeem('bo', 'short')
    expect(short).toMatchObject({ code: 2, stdout: '' })
    expect(short.stderr).toContain('/password  must have at least 12 characters')
    expect(short.stderr).toContain('/password  is a common password')

    expect(await redeem('bo', password)).toMatchObject({ code: 0 })
    const file = join(home.config, 'svc', 'profiles', 'bo.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ workspace: 'beta', email: 'bo@beta.example' })
    expect(JSON.parse((await home.svc(['api', 'GET', '/accounts/me'])).stdout)).toMatchObject({
      email: 'bo@beta.example',
      role: 'OWNER',
    })

    expect(await redeem('bo-again', password)).toMatchObject({ code: 3, stdout: '' })
  })
})

describe('journal --follow', () => {
  test('prints the newest last, then what happens, one JSON line each', async () => {
    const following = home.start(['journal', '--follow', '--size', '2', '--json'], { env: asOperator })
    const suspended = seen(following, 'stdout', /"tenant\.suspended"/)
    await seen(following, 'stdout', /\n.*\n/)
    await home.svc(['tenants', 'suspend', 'beta'], { env: asOperator })
    const lines = (await suspended)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toHaveLength(3)
    expect(lines.map(({ at }) => at)).toEqual(lines.map(({ at }) => at).toSorted())
    expect(new Set(lines.map(({ id }) => id)).size).toBe(3)
    following.kill('SIGINT')
    await new Promise((done) => following.once('close', done))
  })
})

describe('completion', () => {
  /** Not blocking: the daemon that a script asks runs in this process. */
  const complete = async (script: string, ...words: string[]) => completeFrom(asOperator, script, ...words)
  const completeFrom = async (installation: NodeJS.ProcessEnv, script: string, ...words: string[]) => {
    const program = `source ${script}; COMP_WORDS=(svc ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _svc_complete; echo "\${COMPREPLY[@]}"`
    const env = { ...process.env, ...installation, PATH: `${resolve('bin')}:${process.env['PATH']}` }
    const { stdout } = await promisify(execFile)('bash', ['-c', program], { env })
    return stdout.trim().split(' ')
  }

  test('in bash knows commands and flags, also behind an argument', async () => {
    const { code, stdout } = await home.svc(['completion', 'bash'])
    expect(code).toBe(0)
    const script = home.secretFile('completion.bash', stdout)
    expect(await complete(script, 'ten')).toEqual(['tenants'])
    expect((await complete(script, 'tenants', 's')).toSorted()).toEqual(['show', 'stats', 'suspend'])
    expect((await complete(script, 'tenants', 'quotas', '')).toSorted()).toEqual(['set', 'show'])
    expect(await complete(script, 'tenants', 'suspend', 'acme', '--c')).toEqual(['--confirm'])
  })

  test('in bash offers the values of a flag, and the workspaces that the installation has', async () => {
    const script = home.secretFile('values.bash', (await home.svc(['completion', 'bash'])).stdout)
    expect((await complete(script, 'tenants', 'list', '--state', '')).toSorted()).toEqual([
      'ACTIVE',
      'PENDING_DELETION',
      'SUSPENDED',
    ])
    expect(await complete(script, 'completion', 'z')).toEqual(['zsh'])
    const [{ slug }] = JSON.parse((await home.svc(['tenants', 'list', '--json'], { env: asOperator })).stdout).data
    expect(await complete(script, 'tenants', 'show', slug.slice(0, -1))).toContain(slug)
    expect(await complete(script, 'journal', '--workspace', slug.slice(0, -1))).toContain(slug)
  })

  test('in bash runs nothing that an installation names', async () => {
    const script = home.secretFile('hostile.bash', (await home.svc(['completion', 'bash'])).stdout)
    const planted = join(home.folder, 'planted')
    const slugs = [`$(touch\t${planted})`, `\`touch\t${planted}\``, '"$HOME"', '~root', '/*', 'globex']
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ data: slugs.map((slug) => ({ slug })), next_cursor: null }))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const SVC_API_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const offered = await completeFrom({ ...asOperator, SVC_API_URL }, script, 'journal', '--workspace', '')
    server.close()
    expect(existsSync(planted)).toBe(false)
    expect(offered).toEqual(['globex'])
  })

  test.each(['zsh', 'fish'])('is there for %s', async (shell) => {
    const { code, stdout } = await home.svc(['completion', shell])
    expect(code).toBe(0)
    expect(stdout).toContain('quotas')
  })
})

describe('the entry', () => {
  test('answers --version before oclif is loaded: it imports nothing but Node until then', async () => {
    const source = readFileSync('src/cli/main.ts', 'utf8')
    const imported = [...source.matchAll(/^import (?!type ).* from '([^']+)'/gm)].map(([, name]) => name)
    expect(imported.filter((name) => !name?.startsWith('node:'))).toEqual([])
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(await home.svc(['--version'])).toEqual({
      code: 0,
      stdout: `svc/${version} linux-${process.arch} node-${process.version}\n`,
      stderr: '',
    })
  })

  test('help is on stdout and no failure', async () => {
    expect(await home.svc(['help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('tenants') })
    expect(await home.svc(['tenants', 'suspend', '--help'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Suspend a workspace'),
    })
  })

  test('a traceback is shown only to whoever asks', async () => {
    const env = { SVC_API_URL: 'http://127.0.0.1:1', SVC_TOKEN: 'svcp_x' }
    expect((await home.svc(['tenants', 'list'], { env })).stderr).not.toMatch(/^\s+at /m)
    expect((await home.svc(['tenants', 'list'], { env: { ...env, SVC_LOG_LEVEL: 'trace' } })).stderr).toMatch(
      /^\s+at /m,
    )
  })
})
