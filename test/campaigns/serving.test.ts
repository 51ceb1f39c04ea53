/** Commands that stay, for programs that start them: one line of JSON once they are ready; and single mode's way to an operator. */
import type { ChildProcess } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { urlOf } from '../kit/daemon.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { type Home, temporaryHome } from '../kit/svc.ts'

const password = 'correct horse battery staple'
const owner = [
  '--workspace=acme',
  '--workspace-name=Acme',
  '--owner-name=Ada',
  '--owner-email=ada@acme.example',
  '--password-stdin',
]

let db: TestDatabase
let home: Home
let running: Started[]

beforeEach(async () => {
  db = await testDatabase()
  home = temporaryHome({
    SVC_DATABASE_URL: urlOf(db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(db.owner),
    SVC_KEYRING_FILE: 'keyring.json',
    SVC_PORT: '0',
  })
  await createKeyring(join(home.folder, 'keyring.json'))
  running = []
})
afterEach(async () => {
  for (const started of running) await started.end()
  home.remove()
  await db.drop()
})

interface Started {
  /** What was on stdout when it was ready. */
  readonly first: string
  stderr(): string
  /** Ends it as a service manager does; answers the exit code, and all that was on stdout. */
  end(): Promise<{ code: number | null; stdout: string }>
}

/** Starts a command that stays, and waits for its first line. */
async function start(args: readonly string[], env: NodeJS.ProcessEnv = {}, input = ''): Promise<Started> {
  const child: ChildProcess = home.start(args, { env })
  let stdout = ''
  let stderr = ''
  const ended = new Promise<number | null>((done) => child.once('close', done))
  child.stderr?.on('data', (piece: Buffer) => {
    stderr += piece.toString()
  })
  child.stdin?.end(input)
  const ready = new Promise<void>((done) => {
    child.stdout?.on('data', (piece: Buffer) => {
      stdout += piece.toString()
      if (stdout.includes('\n')) done()
    })
  })
  await Promise.race([ready, ended])
  const started = {
    first: stdout,
    stderr: () => stderr,
    async end() {
      child.kill('SIGTERM')
      return { code: await ended, stdout }
    },
  }
  running.push(started)
  return started
}

describe('--json', () => {
  test('of `up` is one object on one line once it serves, and nothing after it', async () => {
    const up = await start(['up', ...owner, '--json'], {}, password)
    const { api_url, ...rest } = JSON.parse(up.first)
    expect(rest).toEqual({ set_up: { workspace: 'acme', owner_email: 'ada@acme.example' }, profile: 'work' })
    expect((await fetch(`${api_url}/readyz`)).status).toBe(200)
    expect((await home.svc(['tenants', 'list'])).stdout).toContain('acme')
    expect(await up.end()).toEqual({ code: 0, stdout: up.first })
    expect(up.first.trimEnd().split('\n')).toHaveLength(1)
    expect(up.first).not.toMatch(/svc[a-z]_/)

    const again = await start(['up', '--json'])
    expect(JSON.parse(again.first)).toEqual({ api_url: expect.any(String), set_up: null, profile: null })
  })

  test('a first set-up beside a serving daemon is said where it is missing, and asks nothing', async () => {
    await start(['daemon'])
    const provision = ['tenants', 'provision', '--slug=globex', '--display-name=G', '--owner-email=g@globex.example']
    expect(await home.svc([...provision, '--recovery'])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('Nobody can sign in yet: `svc installation set-up` makes the first operator.'),
    })
    const made = await home.svc(['installation', 'set-up', ...owner], { input: password })
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('is the first operator') })
    expect(await home.svc([...provision, '--recovery'])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('Sign in to it with `svc login`'),
    })
  })

  test('of `daemon` is the address, and the file of the set-up token as long as there is one', async () => {
    const first = await start(['daemon', '--json'])
    const { api_url, set_up_token_file } = JSON.parse(first.first)
    const args = ['installation', 'set-up', ...owner, '--api-url', api_url, '--set-up-token-file', set_up_token_file]
    expect(await home.svc(args, { input: password })).toMatchObject({ code: 0 })
    expect(await first.end()).toEqual({ code: 0, stdout: first.first })

    const second = await start(['daemon', '--json', '--role', 'api'])
    expect(JSON.parse(second.first)).toEqual({ api_url: expect.any(String), set_up_token_file: null })
  })

  test.each(['up', 'daemon'])('of `%s` that cannot start is a problem document, and its exit code', async (command) => {
    const server = createServer()
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    try {
      const ran = await home.svc([command, '--json'], { env: { SVC_PORT: String(port) } })
      expect(ran).toMatchObject({ code: 1, stdout: '' })
      expect(JSON.parse(ran.stderr)).toMatchObject({ code: 'cli.failed', detail: expect.stringContaining(`${port}`) })
    } finally {
      await new Promise((done) => server.close(done))
    }
  })

  test('of `completion` holds the script that is printed without it', async () => {
    const { stdout: script } = await home.svc(['completion', 'bash'])
    const { code, stdout } = await home.svc(['completion', 'bash', '--json'])
    expect([code, JSON.parse(stdout)]).toEqual([0, { shell: 'bash', script }])
  })
})

describe('single mode, where the workspace was provisioned before the set-up', () => {
  const single = { SVC_MODE: 'single' }

  test('every command says how its owner becomes the operator, and that way leads there', async () => {
    const provision = ['tenants', 'provision', '--slug=only', '--display-name=Only', '--owner-email=ada@only.example']
    const made = await home.svc([...provision, '--token-file=only.token', '--recovery'], { env: single })
    expect(made.code).toBe(0)
    expect(made.stderr).toContain('svc operators add only ada@only.example --recovery --while-serving')

    const setUp = await home.svc(['installation', 'set-up', ...owner], { env: single, input: password })
    expect(setUp).toMatchObject({ code: 5, stdout: '' })
    expect(setUp.stderr).toContain('svc operators add WORKSPACE ADDRESS --recovery')
    const findings = async () => JSON.parse((await home.svc(['doctor', '--json'], { env: single })).stdout).checks
    expect(await findings()).toContainEqual(
      expect.objectContaining({
        check: 'set-up',
        state: 'warn',
        remedy: expect.stringContaining('operators add only'),
      }),
    )

    const daemon = await start(['daemon', '--json'], single)
    expect(JSON.parse(daemon.first).set_up_token_file).toBeNull()
    await daemon.end()
    const up = await start(['up', '--json'], single)
    expect(up.stderr()).toContain('svc operators add only ADDRESS --recovery --while-serving')
    const { api_url } = JSON.parse(up.first)

    const joined = await home.svc(
      ['invitations', 'redeem', '--api-url', api_url, '--token-file=only.token', '--password-stdin'],
      { input: password },
    )
    expect(joined.code).toBe(0)
    const added = await home.svc(['operators', 'add', 'only', 'ada@only.example', '--recovery', '--while-serving'], {
      env: single,
    })
    expect(added).toMatchObject({ code: 0 })
    const signIn = ['login', '--api-url', api_url, '--workspace=only', '--email=ada@only.example', '--password-stdin']
    expect(await home.svc([...signIn, '--admin'], { input: password })).toMatchObject({ code: 0 })
    expect((await home.svc(['tenants', 'list'])).stdout).toContain('only')
    expect(await findings()).toContainEqual(expect.objectContaining({ check: 'set-up', state: 'ok' }))
    await up.end()

    const again = await start(['up', '--json'], single)
    expect(JSON.parse(again.first)).toMatchObject({ set_up: null })
    expect(again.stderr()).not.toContain('operators add')
  })
})
