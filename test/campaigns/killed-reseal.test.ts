/**
 * F-17: a reseal that is killed again and again, while the key is switched twice and values
 * are rotated, ends with every count zero but the active key's, nothing unreadable, nothing
 * changed. SVC_FAULTS=full: 10,000 values, 50 kills.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { encryptionOperations as ops } from '../../src/core/contract/keyring/operations.ts'
import { installationScope } from '../../src/core/contract/vocabulary.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { changeKeyring, newKey } from '../kit/keyrings.ts'
import { bareEnvironment } from '../kit/processes.ts'
import { countsIn, type Stored, store, storeMany, wrongAmong } from '../kit/sealed.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const values = isFull ? 10_000 : 2_400
const kills = isFull ? 50 : 6
const switches = 2

let own: TestInstallation
const stored: Stored = new Map()
beforeAll(async () => {
  own = await testInstallation()
  const scopes = [installationScope]
  while (scopes.length < 4) scopes.push((await own.provision()).tenant.id)
  for (const scope of scopes) await storeMany(own.installation, stored, scope, values / scopes.length)
}, 300_000)
afterAll(() => own.close())

const runner = join(import.meta.dirname, '../kit/reseal-runner.ts')

/** Reseals in a process of its own; answers what it printed and the signal that ended it. */
function runReseal(failpoint: string): Promise<{ said: string; signal: NodeJS.Signals | null }> {
  const env = { ...bareEnvironment(), ...own.env, SVC_TEST: '1', SVC_FAILPOINTS: failpoint }
  const child = spawn(process.execPath, [runner], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  return new Promise((resolve) => child.once('close', (_, signal) => resolve({ said, signal })))
}

async function switchKey(id: string): Promise<void> {
  changeKeyring(own.env['SVC_KEYRING_FILE']!, (keyring) => {
    keyring.keys[id] = newKey()
    keyring.current = id
  })
  await own.rereadKeyring()
}

/** Every place where it may die, at once and after a slice that is done. */
const deaths = ['read', 'rewrapped', 'recorded'].flatMap((name) => [1, 2].map((hit) => `reseal.${name}=exit@${hit}`))

/** Stores values anew, one after the other, until told to stop. */
function rotating() {
  let going = true
  let rotated = 0
  const places = [...stored.values()].map(({ place }) => place)
  const work = async () => {
    while (going) {
      await store(own.installation, stored, places[Math.floor(Math.random() * places.length)]!)
      rotated += 1
      await pause(20)
    }
    return rotated
  }
  const working = work()
  return {
    end() {
      going = false
      return working
    },
  }
}

test(`${values} values, ${kills} kills, ${switches} switches`, async () => {
  const before = await ciphertexts()
  const rotation = rotating()
  onTestFinished(async () => void (await rotation.end()))
  for (let at = 0; at < switches; at += 1) {
    await switchKey(`switched-${at + 1}`)
    await own.asRecovery(ops.resealEncryption)
    for (let kill = 0; kill < kills / switches; kill += 1) {
      const death = deaths[(at * (kills / switches) + kill) % deaths.length]!
      expect(await runReseal(death), death).toEqual({ said: 'at work ', signal: 'SIGKILL' })
    }
    expect(await unfinished(), 'the next switch comes before this one is through').toBeGreaterThan(0)
  }
  expect((await own.asRecovery(ops.resealEncryption)).queued, 'what is under way is not queued again').toBeLessThan(5)
  expect(await runReseal('')).toEqual({ said: 'at work done', signal: null })
  const rotated = await rotation.end()

  expect(await countsIn(own.oracle)).toEqual({ [`switched-${switches}`]: stored.size })
  expect(await wrongAmong(own.installation, stored)).toEqual([])
  const after = await ciphertexts()
  const changed = [...before].filter(([owner, text]) => after.get(owner) !== text)
  expect(rotated).toBeGreaterThan(0)
  expect(changed.length, 'only what was rotated is another').toBeLessThanOrEqual(rotated)
  const { reseal } = await own.asRecovery(ops.getEncryption)
  expect(reseal).toEqual({ queued: 0, running: 0, failed: 0 })
}, 1_800_000)

async function unfinished(): Promise<number> {
  return (await own.oracle`select 1 from reseal where finished_at is null`).length
}

async function ciphertexts(): Promise<Map<string, string>> {
  const rows = await own.oracle<{ owner_id: string; text: string }[]>`
    select owner_id, md5(ciphertext) as text from sealed_value`
  return new Map(rows.map(({ owner_id, text }) => [owner_id, text]))
}
