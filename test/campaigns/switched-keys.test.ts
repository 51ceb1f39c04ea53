/**
 * A key is switched over several daemons in two steps, as operators do it: real processes,
 * a keyring file for each, SIGHUP. No step leaves a value that one of them cannot open.
 * Spec: decisions 4, Keyring.
 */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { encryptionOperations as ops } from '../../src/core/contract/keyring/operations.ts'
import { httpCaller } from '../kit/callers.ts'
import { type SpawnedDaemon, spawnDaemon } from '../kit/daemon.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { changeKeyring, newKey } from '../kit/keyrings.ts'
import { type Home, temporaryHome } from '../kit/svc.ts'

interface Host {
  readonly env: NodeJS.ProcessEnv
  readonly keyring: string
  readonly home: Home
}

let own: TestInstallation
let hosts: readonly [Host, Host]
const running: SpawnedDaemon[] = []
beforeAll(async () => {
  own = await testInstallation()
})
afterAll(() => own.close())
afterEach(async () => {
  for (const daemon of running.splice(0)) {
    daemon.process.kill('SIGTERM')
    await daemon.ended
  }
  for (const { home } of hosts) home.remove()
})

/** Two hosts with a copy of the ring each. */
function twoHosts(): readonly [Host, Host] {
  const host = (name: string) => {
    const folder = join(own.env['SVC_DATA_DIR']!, name)
    mkdirSync(folder, { recursive: true })
    const keyring = join(folder, 'keyring.json')
    copyFileSync(own.env['SVC_KEYRING_FILE']!, keyring)
    const env = { ...own.env, SVC_DATA_DIR: folder, SVC_KEYRING_FILE: keyring, SVC_PORT: '0' }
    return { env, keyring, home: temporaryHome(env) }
  }
  return [host('one'), host('two')]
}

async function start({ env }: Host): Promise<SpawnedDaemon> {
  const daemon = await spawnDaemon(env)
  if (daemon.address) running.push(daemon)
  return daemon
}

/** Signals, and waits until the log says what came of it. */
async function hangUp(daemon: SpawnedDaemon): Promise<string> {
  const before = daemon.stderr().length
  daemon.process.kill('SIGHUP')
  const said = () => daemon.stderr().slice(before)
  await expect.poll(said, { timeout: 10_000 }).toMatch(/the keyring was (read again|not read again)/)
  return said()
}

test('added, told to all, promoted, told to all, resealed', async () => {
  hosts = twoHosts()
  const [one, two] = hosts
  const first = await start(one)
  const second = await start(two)

  const added = await one.home.svc(['keyring', 'add'])
  expect([added.code, added.stdout]).toEqual([0, expect.stringMatching(/^k\d{8}-[0-9a-f]{4}\n$/)])
  const key = added.stdout.trim()
  const early = await one.home.svc(['keyring', 'promote', key])
  expect([early.code, early.stderr]).toEqual([5, expect.stringContaining('2 running daemon(s) do not have it')])
  expect(await hangUp(first)).toContain('read again')
  const half = await one.home.svc(['keyring', 'promote', key])
  expect([half.code, half.stderr]).toEqual([5, expect.stringContaining('1 running daemon(s) do not have it')])
  expect(half.stderr).toContain(String(second.process.pid))
  copyFileSync(one.keyring, two.keyring)
  await hangUp(second)

  const promoted = await one.home.svc(['keyring', 'promote', key])
  expect([promoted.code, promoted.stderr]).toEqual([0, expect.stringContaining(`${key} is the current key`)])
  expect(JSON.parse(readFileSync(one.keyring, 'utf8')).current).toBe(key)
  expect((await two.home.svc(['keyring', 'promote', key])).code).toBe(0)
  for (const daemon of running) expect(await hangUp(daemon)).toContain(`"current":"${key}"`)
  expect((await own.oracle`select params from journal where action = 'encryption.key_promoted'`).length).toBe(1)
})

test('a file whose new key was made current by hand is not taken over while another daemon lacks it', async () => {
  hosts = twoHosts()
  const [one, two] = hosts
  const first = await start(one)
  await start(two)
  changeKeyring(one.keyring, (keyring) => {
    keyring.keys['by-hand'] = newKey()
    keyring.current = 'by-hand'
  })
  expect(await hangUp(first)).toMatch(/1 running daemon\(s\) do not have it.*not read again/)
  const booted = await spawnDaemon({ ...one.env })
  expect(await booted.ended).toBe(2)
  expect(booted.stderr()).toContain('cannot be made current: 2 running daemon(s)')
})

test('a daemon that would lack the key that others seal under does not start; one that was killed hinders nobody', async () => {
  hosts = twoHosts()
  const [one, two] = hosts
  const killed = await start(two)
  killed.process.kill('SIGKILL')
  await killed.ended
  running.pop()
  changeKeyring(one.keyring, (keyring) => {
    keyring.keys['newest'] = newKey()
    keyring.current = 'newest'
  })
  const first = await start(one)
  expect(first.address).not.toBe('')

  const late = await spawnDaemon(two.env)
  expect(await late.ended).toBe(2)
  expect(late.stderr()).toMatch(/A running daemon .* seals under a key that .* lacks/)
})

test('while a daemon is hung up on, again and again, it answers', async () => {
  hosts = twoHosts()
  const daemon = await start(hosts[0])
  const answers: number[] = []
  for (let at = 0; at < 5; at += 1) {
    daemon.process.kill('SIGHUP')
    answers.push((await fetch(`${daemon.address}/healthz`)).status)
  }
  expect(answers).toEqual([200, 200, 200, 200, 200])
  await expect(httpCaller(`${daemon.address}/api/v1`).call(ops.getEncryption)).rejects.toThrow('auth.unauthenticated')
})
