/** deploy/svc.service: systemd's own checker accepts it, and what it starts runs from `/` as an ordinary user. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { urlOf } from '../kit/daemon.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { fileFor, giveAway, ordinaryUser, temporaryFolder } from '../kit/embedded-processes.ts'
import { shows } from '../kit/needs.ts'
import { seen } from '../kit/svc.ts'

const hasSystemd = shows(
  'the unit as systemd reads it',
  'systemd-analyze (apt-get install systemd)',
  spawnSync('systemd-analyze', ['--version']).status === 0,
)
const root = join(import.meta.dirname, '../..')
const unit = readFileSync(join(root, 'deploy/svc.service'), 'utf8')
const installed = '/opt/svc/bin/svc'
const program = fileFor(ordinaryUser, join(root, 'bin/svc'))

const valuesOf = (name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value ?? '')

describe('the unit', () => {
  // systemd's checker is not on every machine; the other tests of this file do not need it.
  test.runIf(hasSystemd)('passes systemd-analyze verify', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-unit-'))
    const path = join(folder, 'svc.service')
    const verified = (text: string) => {
      writeFileSync(path, text)
      const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' })
      return { status, said: `${stdout}${stderr}`.split('\n').filter((line) => line.includes('svc.service')) }
    }
    const placed = unit.replaceAll(installed, program)
    expect(verified(placed)).toEqual({ status: 0, said: [] })
    expect(verified(placed.replace('UMask=', 'UMusk=')).said.join()).toContain('UMusk')
    rmSync(folder, { recursive: true })
  })
})

describe('what the unit starts', () => {
  let db: TestDatabase
  let state: string
  let env: NodeJS.ProcessEnv
  let daemon: ChildProcess
  beforeAll(async () => {
    db = await testDatabase()
    const folder = await temporaryFolder()
    state = join(folder, 'lib')
    mkdirSync(join(state, 'svc'), { recursive: true })
    await createKeyring(join(folder, 'keyring.json'))
    for (const place of [join(state, 'svc'), join(folder, 'keyring.json')]) await giveAway(place)
    const environment = valuesOf('Environment')
      .join(' ')
      .replaceAll('%S', state)
      .replaceAll('%C', join(folder, 'cache'))
    env = {
      PATH: process.env['PATH'],
      ...Object.fromEntries(environment.split(' ').map((pair) => pair.split('='))),
      // The folder of the server's socket is closed to others.
      SVC_DATABASE_URL: urlOf({ ...db.daemon, host: '127.0.0.1' }),
      SVC_KEYRING_FILE: join(folder, 'keyring.json'),
      SVC_PORT: '0',
    }
  })
  afterAll(async () => {
    daemon.kill('SIGKILL')
    await db.drop()
    rmSync(join(state, '..'), { recursive: true, force: true })
  })

  test('serves from / as an ordinary user, reloads on SIGHUP, and ends on SIGTERM', async () => {
    const [[command = '', ...args] = []] = valuesOf('ExecStart').map((line) => line.split(' '))
    expect(command).toBe(installed)
    expect(valuesOf('ExecReload')).toEqual(['/bin/kill -HUP $MAINPID'])
    daemon = spawn(program, args, { cwd: '/', env, ...ordinaryUser, stdio: ['ignore', 'pipe', 'pipe'] })
    const reloaded = seen(daemon, 'stderr', /the keyring/)
    const [, address] = /^listening on (.+)$/m.exec(await seen(daemon, 'stdout', /^listening on .+$/m)) ?? []
    daemon.kill('SIGHUP')
    await reloaded
    expect((await fetch(`${address}/readyz`)).status).toBe(200)
    const ended = new Promise((done) => daemon.once('close', done))
    daemon.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})
