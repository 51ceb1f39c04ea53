/** `svc encryption` and `svc keyring` as they are typed: both modes, bars, exit codes, and what must not be possible. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { resealUntil } from '../../src/core/areas/keyring/reseal.ts'
import { purgeOperations } from '../../src/core/contract/retention/operations.ts'
import { readKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { changeKeyring, keyringIn, newKey } from '../kit/keyrings.ts'
import { furnished, overdue } from '../kit/leaving-workspace.ts'
import { countsIn, type Stored, storeMany, wrongAmong } from '../kit/sealed.ts'
import { databaseEnv, type Home, temporaryHome } from '../kit/svc.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'

let ways: TwoWays
let home: Home
let stored: Stored
beforeAll(async () => {
  ways = await twoWays()
})
afterAll(() => ways.close())
beforeEach(async () => {
  stored = new Map()
  await ways.sql`truncate sealed_value, reseal`
  home = temporaryHome()
})
afterEach(() => home.remove())

const keyringFile = () => ways.daemon.config.keyringFile
const modes = {
  api: () => ({ SVC_API_URL: ways.daemon.address, SVC_TOKEN: ways.operator.token }),
  recovery: () => databaseEnv(ways.daemon.config),
}
const flags = { api: [], recovery: ['--recovery', '--while-serving'] }
const inMode = (mode: keyof typeof modes, ...args: string[]) =>
  home.svc([...args, ...flags[mode]], { env: modes[mode]() })
const here = (...args: string[]) => home.svc(args, { env: modes.recovery() })
const seal = (count: number) => storeMany(ways.installation, stored, ways.home.tenantId, count)

/** Adds a key and makes it current, as an operator does. */
async function switchKey(): Promise<string> {
  const key = (await here('keyring', 'add')).stdout.trim()
  await ways.rereadKeyrings()
  expect((await here('keyring', 'promote', key)).code).toBe(0)
  await ways.rereadKeyrings()
  return key
}

describe.each(['api', 'recovery'] as const)('by %s', (mode) => {
  test('status counts, and says what to do about values under an older key', async () => {
    await seal(4)
    const before = keyringIn(keyringFile()).current
    expect((await inMode(mode, 'encryption', 'status')).code).toBe(0)
    const key = await switchKey()
    const seen = await inMode(mode, 'encryption', 'status')
    expect(seen.stdout).toMatch(new RegExp(`${before} +yes +no +4 +idempotency_answer 4`))
    expect(seen.stdout).toMatch(new RegExp(`${key} +yes +yes +0`))
    expect([seen.code, seen.stderr]).toEqual([8, expect.stringContaining('svc encryption reseal --watch')])
    const json = await inMode(mode, 'encryption', 'status', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ active_key_id: key, reseal: { queued: 0, running: 0, failed: 0 } })
  })

  test('reseal queues, and a second time nothing new', async () => {
    await seal(4)
    await switchKey()
    const asked = await inMode(mode, 'encryption', 'reseal', '--json')
    expect([asked.code, JSON.parse(asked.stdout)]).toEqual([0, { queued: 2 }])
    expect((await inMode(mode, 'encryption', 'reseal')).stderr).toContain('Nothing new was queued')
  })
})

test('reseal --watch in recovery mode does the work itself, until zero', async () => {
  await seal(700)
  const key = await switchKey()
  const done = await inMode('recovery', 'encryption', 'reseal', '--watch')
  expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(new RegExp(`${key} +yes +yes +700`))])
  expect(await countsIn(ways.sql)).toEqual({ [key]: 700 })
  expect(await wrongAmong(ways.installation, stored)).toEqual([])
})

test('status --watch does none of it, and ends when somebody has', async () => {
  await seal(10)
  const key = await switchKey()
  await inMode('recovery', 'encryption', 'reseal')
  const watching = inMode('recovery', 'encryption', 'status', '--watch')
  await expect.poll(async () => isWatched(), { timeout: 20_000 }).toBe(true)
  expect(Object.keys(await countsIn(ways.sql))).not.toContain(key)
  await resealUntil(ways.installation, Number.POSITIVE_INFINITY)
  const { code, stdout } = await watching
  expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`${key} +yes +yes +10`))])
})

/** Whether the command has read the counts once. */
async function isWatched(): Promise<boolean> {
  const rows = await ways.sql`
    select 1 from pg_stat_activity where application_name = 'svc recovery' and datname = current_database() and state = 'idle'
      and query ~ 'commit'`
  return rows.length > 0
}

test('reseal --watch shows a bar on a terminal', async () => {
  await seal(5000)
  await switchKey()
  const { code, screen } = await home.onTerminal(
    ['encryption', 'reseal', '--watch', ...flags.recovery],
    [],
    modes.recovery(),
  )
  expect([code, screen]).toEqual([0, expect.stringMatching(/\[[#-]{20}\] +\d+ % +\d+ of 5000 values/)])
})

test('values that do not open are a finding, and keep the watch from nothing', async () => {
  await seal(3)
  await switchKey()
  await ways.sql`update sealed_value set wrap = set_byte(wrap, 20, 255 - get_byte(wrap, 20)) where owner_id = (select owner_id from sealed_value limit 1)`
  const done = await inMode('recovery', 'encryption', 'reseal', '--watch')
  expect([done.code, done.stderr]).toEqual([8, expect.stringContaining('1 value(s) cannot be decrypted')])
})

describe('retire', () => {
  const retire = (key: string) => here('encryption', 'retire', key, '--confirm', key)

  test('refuses the current key, one that values name, and one that nobody knows', async () => {
    await seal(2)
    const { current } = keyringIn(keyringFile())
    expect((await retire(current)).stderr).toContain(`"${current}" is the current key`)
    const key = await switchKey()
    const early = await retire(current)
    expect([early.code, early.stderr]).toEqual([5, expect.stringContaining('2 stored value(s) are still under it')])
    expect((await retire('nobody')).code).toBe(3)
    expect(Object.keys(keyringIn(keyringFile()).keys)).toEqual(expect.arrayContaining([current, key]))
  })

  test('refuses while a running daemon seals under it', async () => {
    const { current } = keyringIn(keyringFile())
    const key = (await here('keyring', 'add')).stdout.trim()
    await ways.rereadKeyrings()
    await here('keyring', 'promote', key) // and nobody tells the daemon
    const early = await retire(current)
    expect([early.code, early.stderr]).toEqual([5, expect.stringContaining('1 running daemon(s) still seal under it')])
    await ways.rereadKeyrings()
  })

  test('refuses while the manifest of an archive names it, and while manifests cannot be read', async () => {
    const { current } = keyringIn(keyringFile())
    await switchKey()
    const made = await inMode('recovery', 'backup-targets', 'add', 'disk', '--kind', 'local', '--path', 'archives')
    expect([made.code, made.stderr]).toEqual([0, expect.any(String)])
    const job = crypto.randomUUID()
    const folder = join(
      ways.daemon.config.backupDir,
      'archives',
      'tenants',
      ways.home.tenantId,
      `20261120T120000Z-${job}-1`,
    )
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifestUnder(current, job)))
    const early = await retire(current)
    expect([early.code, early.stderr]).toEqual([5, expect.stringContaining('1 archive(s) at the target disk need it')])
    writeFileSync(join(folder, 'manifest.json'), 'no manifest')
    const unread = await retire(current)
    expect([unread.code, unread.stderr]).toEqual([5, expect.stringContaining('the manifests at the target disk')])
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifestUnder('another', job)))
    expect((await retire(current)).code).toBe(0)
  })

  test('asks for the name, and takes no other', async () => {
    const { current } = keyringIn(keyringFile())
    await switchKey()
    expect((await here('encryption', 'retire', current)).code).toBe(2)
    expect((await here('encryption', 'retire', current, '--confirm', 'other')).code).toBe(1)
    expect(keyringIn(keyringFile()).keys).toHaveProperty(current)
  })

  test('what was signed under a retired key is still verified, and nothing sealed opens with what stays', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    await purge(leaving.id)
    await ways.sql`truncate sealed_value, reseal`
    const { current, keys } = keyringIn(keyringFile())
    await switchKey()
    const done = await retire(current)
    expect([done.code, done.stderr]).toEqual([0, expect.stringContaining('is removed')])
    await ways.rereadKeyrings()

    const verified = await ways.call('api', purgeOperations.verifyPurgeCertificate, { tenantId: leaving.id })
    expect(verified.findings).toEqual([])
    const keyring = readKeyring(keyringFile())
    expect(keyring.has(current)).toBe(false)
    expect(() => keyring.derive(current, 'svc/wrap/v1')).toThrow(current)
    expect(readFileSync(keyringFile(), 'utf8')).not.toContain(keys[current]!)
    expect((await here('recovery', 'check')).stdout).not.toMatch(/ledger.*names the key/)
    expect(
      await ways.sql`select params->>'key_id' as key_id from journal where action = 'encryption.key_retired' order by id desc limit 1`,
    ).toEqual([{ key_id: current }])
  })

  async function purge(id: string): Promise<void> {
    const { pursuePurge } = await import('../../src/core/areas/tenants/purge/purge.ts')
    while (!['purged', 'not_due'].includes(await pursuePurge(ways.installation, id))) ways.clock.pass(3600)
  }

  const manifestUnder = (key: string, job: string) => ({
    format: 'svc-archive',
    format_version: 1,
    kind: 'TENANT_EXPORT',
    product_version: '0.1.0',
    schema_version: '0013',
    tenant: { id: ways.home.tenantId, slug: 'home' },
    job_id: job,
    snapshot_at: '2026-11-20T12:00:00.000Z',
    files: [],
    media: { count: 0, bytes: 0 },
    omitted: {},
    sealed_under: [key],
  })
})

describe('bad input', () => {
  const inFile = (text: string) => {
    const path = home.secretFile('keyring.json', text)
    return home.svc(['keyring', 'add'], { env: { ...modes.recovery(), SVC_KEYRING_FILE: path } }).then((ran) => ({
      ...ran,
      after: readFileSync(path, 'utf8'),
    }))
  }
  const key = newKey()

  test.each([
    ['a key twice under two names', `{"current":"a","keys":{"a":"${key}","b":"${key}"}}`, 'the same key twice'],
    ['a name twice', `{"current":"a","keys":{"a":"${key}","a":"${newKey()}"}}`, 'names a member twice'],
    ['a short key', `{"current":"a","keys":{"a":"${key.slice(1)}"}}`, 'not 32 bytes'],
    ['the current one missing', `{"current":"b","keys":{"a":"${key}"}}`, 'names "b" as current but holds no such key'],
    [
      'a retired key that is also in use',
      `{"current":"a","keys":{"a":"${key}"},"retired":{"a":{}}}`,
      'twice, once as retired',
    ],
  ])('a ring with %s is one clear line, and the file stays as it is', async (_, text, says) => {
    const ran = await inFile(text)
    expect([ran.code, ran.stderr, ran.stdout]).toEqual([2, expect.stringContaining(says), ''])
    expect(ran.after).toBe(text)
    expect(ran.stderr).not.toContain(key)
  })

  test('a key of a name that is taken, or no name', async () => {
    const { current } = keyringIn(keyringFile())
    expect((await here('keyring', 'add', '--id', current)).stderr).toContain('already')
    expect((await here('keyring', 'add', '--id', 'Not A Key')).code).toBe(2)
    expect((await here('keyring', 'promote', 'nobody')).code).toBe(3)
  })

  test('a change that was killed half-way is not written over', async () => {
    const before = readFileSync(keyringFile(), 'utf8')
    writeFileSync(`${keyringFile()}.changed`, 'half', { mode: 0o600 })
    const ran = await here('keyring', 'add')
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('Another command is changing the keyring')])
    expect(readFileSync(keyringFile(), 'utf8')).toBe(before)
    const { rmSync } = await import('node:fs')
    rmSync(`${keyringFile()}.changed`)
    changeKeyring(keyringFile(), () => undefined)
  })
})
