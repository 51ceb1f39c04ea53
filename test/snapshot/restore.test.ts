/** An archive may hold whatever names it likes: nothing of it lands anywhere but in the places of a restore, and over nothing. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { createGzip } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Config, readConfig } from '../../src/core/kernel/config/config.ts'
import { majorVersion } from '../../src/core/kernel/database/embedded/binaries.ts'
import { headName, machine } from '../../src/core/snapshot/archive.ts'
import { openPack } from '../../src/core/snapshot/pack.ts'
import { restoreSnapshot } from '../../src/core/snapshot/restore.ts'

const before = process.cwd()
let folder: string
let here: string
let config: Config

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-restore-')))
  here = join(folder, 'here')
  mkdirSync(here)
  process.chdir(here)
  config = { ...readConfig(), dataDir: join(folder, 'data') }
  const { dataDir } = config
  Object.assign(config, {
    backupDir: join(dataDir, 'backups'),
    keyringFile: join(dataDir, 'keyring.json'),
    ledgerFile: join(dataDir, 'ledger.jsonl'),
    media: { ...config.media, dir: join(dataDir, 'media') },
    mail: { ...config.mail, folder: join(dataDir, 'mail') },
  })
})
afterEach(() => {
  process.chdir(before)
  rmSync(folder, { recursive: true, force: true })
})

/** An archive with a right head, this entry, and a right end. */
function archiveWith(name: string): PassThrough {
  const packed = createGzip()
  const out = packed.pipe(new PassThrough())
  const pack = openPack(packed, 0)
  const head = { format: 1, release: '0.0.0', postgresql: majorVersion, machine }
  const logins = { passwords: { superuser: 'a', owner: 'b', daemon: 'c' } }
  void (async () => {
    await pack.text(headName, JSON.stringify(head))
    await pack.text('database.json', JSON.stringify(logins))
    await pack.text(name, 'planted')
    await pack.close('2026-01-01T00:00:00.000Z')
  })()
  return out
}

test.each([
  ...['../planted', 'media/../../planted', '/planted', 'elsewhere/planted', 'media//planted', 'planted'],
  // What every object of the language has, and no archive of ours.
  ...['constructor/planted', 'toString/planted', '__proto__/planted', 'constructor', '__proto__'],
])('an entry named %s is refused, and nothing is left of it', async (name) => {
  await expect(restoreSnapshot(config, archiveWith(name), () => {})).rejects.toThrow(
    /^The archive is damaged: it has an/,
  )
  expect(readdirSync(here)).toEqual([])
  expect(existsSync(config.dataDir)).toBe(false)
  expect(readdirSync(folder)).toEqual(['here'])
})

test('what came into the folder while the archive was waited for stays', async () => {
  const waited = new PassThrough()
  const restored = restoreSnapshot(config, waited, () => {})
  const refused = expect(restored).rejects.toThrow('is not empty')
  await new Promise((done) => setTimeout(done, 50))
  mkdirSync(config.dataDir)
  writeFileSync(join(config.dataDir, 'keyring.json'), 'of another installation')
  archiveWith('constructor/planted').pipe(waited)
  await refused
  expect(readdirSync(config.dataDir)).toEqual(['keyring.json'])
})
