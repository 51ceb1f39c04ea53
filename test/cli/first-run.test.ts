/** `svc up` from nothing: an embedded installation, a profile, commands beside it and after it, and no secret in sight. */
import { type ChildProcess, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Home, seen, temporaryHome } from '../kit/svc.ts'

const password = 'correct horse battery staple'
let home: Home
let up: ChildProcess
let address: string
const commandLines = new Set<string>()

const ended = (child: ChildProcess) =>
  new Promise<number | null>((done) => (child.exitCode === null ? child.once('close', done) : done(child.exitCode)))

/** Every process of this machine, as every user of it can see them. */
function noteCommandLines(): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      commandLines.add(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    } catch {
      // it has ended meanwhile
    }
  }
}

beforeAll(async () => {
  home = temporaryHome({ SVC_PORT: '0' })
  // Under root the database's server runs as another user, who has to get into the folder.
  spawnSync('chmod', ['711', join(home.folder, '..'), home.folder])
  const watching = setInterval(noteCommandLines, 25)
  const file = home.secretFile('owner.password', `${password}\n`)
  up = home.start([
    'up',
    '--workspace',
    'acme',
    '--workspace-name',
    'Acme Ltd',
    '--owner-name',
    'Ada',
    '--owner-email',
    'ada@acme.example',
    '--password-file',
    file,
  ])
  const [listening, told] = await Promise.all([
    seen(up, 'stdout', /^listening on .+$/m),
    seen(up, 'stderr', 'Ctrl-C stops it'),
  ])
  clearInterval(watching)
  address = /^listening on (.+)$/m.exec(listening)![1]!
  expect(told).toContain('Set up: workspace acme. Its owner ada@acme.example is the first operator.')
  expect(told).toContain('Next, in another terminal: svc tenants list')
}, 60_000)
afterAll(async () => {
  up.kill('SIGTERM')
  await ended(up)
  home.remove()
})

describe('beside svc up', () => {
  test('the profile of the folder administers at once', async () => {
    expect(await home.svc(['tenants', 'list'])).toMatchObject({ code: 0, stdout: expect.stringContaining('acme') })
    expect(JSON.parse((await home.svc(['profiles', 'list', '--json'])).stdout).data).toMatchObject([
      { api_url: address, has_token: true, is_here: true },
    ])
  })

  test('reading directly on the database asks nothing; a change there is refused, with the remedy', async () => {
    expect(await home.svc(['tenants', 'list', '--recovery'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('acme'),
    })
    const env = { XDG_CONFIG_HOME: join(home.folder, 'none') }
    expect(await home.svc(['tenants', 'list'], { env })).toMatchObject({ code: 0 })
    const elsewhere = await home.svc(['tenants', 'suspend', 'acme'], { env })
    expect(elsewhere).toMatchObject({ code: 5, stderr: expect.stringContaining('--while-serving') })
    expect(elsewhere.stderr).toContain(
      'No profile and no SVC_API_URL: working directly on the embedded installation in ',
    )
  })

  test('doctor finds everything in order', async () => {
    const { code, stdout } = await home.svc(['doctor', '--json'], { env: { SVC_PORT: new URL(address).port } })
    const { checks } = JSON.parse(stdout)
    expect(checks.filter(({ state }: { state: string }) => state !== 'ok')).toEqual([])
    expect(code).toBe(0)
    expect(checks.map(({ check }: { check: string }) => check)).toEqual([
      'node',
      'configuration',
      'data folder',
      'disk space',
      'keyring file',
      'database',
      'clock',
      'daemon clocks',
      'login',
      'rights',
      'migrations',
      'queue',
      'set-up',
      'clean-up',
      'backups',
      'privacy',
      'keys',
      'ledger',
      'ledger copies',
      'media',
      'mail',
      'daemon',
      'access',
    ])
  })

  test('setting up a second time is a conflict', async () => {
    const args = [
      'installation',
      'set-up',
      '--workspace',
      'beta',
      '--workspace-name',
      'B',
      '--owner-name',
      'B',
      '--owner-email',
      'b@beta.example',
      '--password-stdin',
      '--while-serving',
    ]
    expect(await home.svc(args, { input: password })).toMatchObject({
      code: 5,
      stdout: '',
      stderr: 'This installation is already set up. `svc login` signs in.\n',
    })
  })

  test('no secret was ever in a command line, nor is it in a file that others can read', () => {
    expect(commandLines.size).toBeGreaterThan(5)
    expect([...commandLines].some((line) => line.includes('owner.password'))).toBe(true)
    const { token, session } = JSON.parse(readFileSync(join(home.config, 'svc', 'profiles', 'work.json'), 'utf8'))
    const record = readFileSync(join(home.folder, '.svc', 'postgres.json'), 'utf8')
    const secrets = [
      password,
      token,
      session.access_token,
      session.refresh_token,
      ...Object.values(JSON.parse(record).passwords as Record<string, string>),
    ]
    for (const secret of secrets) expect([...commandLines].filter((line) => line.includes(secret))).toEqual([])
    for (const file of ['postgres.json', 'keyring.json'])
      expect(statSync(join(home.folder, '.svc', file)).mode & 0o777).toBe(0o600)
  })
})

describe('after Ctrl-C', () => {
  beforeAll(async () => {
    const told = seen(up, 'stderr', 'Stopping')
    up.kill('SIGINT')
    expect(await told).toContain('Stopping, within 10 s. `svc up` in this folder starts it again.')
    expect(await ended(up)).toBe(130)
  })

  test('a command through the API says that the server is away', async () => {
    expect(await home.svc(['tenants', 'list'])).toMatchObject({ code: 7, stdout: '' })
  })

  test('recovery works on the database, and is journalled as such', async () => {
    expect(await home.svc(['tenants', 'suspend', 'acme', '--recovery'])).toMatchObject({ code: 0 })
    const { data } = JSON.parse((await home.svc(['journal', '--recovery', '--json'])).stdout)
    expect(data[0]).toMatchObject({
      action: 'tenant.suspended',
      actor: { kind: 'RECOVERY', via: 'RECOVERY', account_id: null },
      params: { os_user: expect.any(String), host: expect.any(String) },
    })
  })

  test('doctor finds that nothing serves, and exits 8', async () => {
    const { code, stdout } = await home.svc(['doctor', '--json'])
    expect(code).toBe(8)
    const { checks } = JSON.parse(stdout)
    expect(checks.find(({ check }: { check: string }) => check === 'daemon')).toMatchObject({
      state: 'warn',
      remedy: 'Run: svc up or svc daemon',
    })
  })

  test('svc up serves it again and asks nothing', async () => {
    const again = home.start(['up'])
    await seen(again, 'stdout', /^listening on .+$/m)
    again.kill('SIGTERM')
    expect(await ended(again)).toBe(0)
  })
})
