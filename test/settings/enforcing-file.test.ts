/** The enforcing file: read whole, validated whole, replaced while the daemon runs. Spec: decisions 4 and 6. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parseSettings } from '../../src/core/areas/settings/document.ts'
import { settleSettings } from '../../src/core/areas/settings/enforcing-file.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Config } from '../../src/core/kernel/config/config.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { person, setUp } from '../kit/people.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-settings-'))
const file = join(folder, 'settings.yaml')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let own: TestInstallation
let enforced: Installation
beforeAll(async () => {
  own = await testInstallation()
  enforced = { ...own.installation, config: { ...own.installation.config, settingsFile: file } as Config }
})
afterAll(() => own.close())
beforeEach(() => own.oracle`truncate setting`)

const entries = () => own.oracle<{ params: object; actor_kind: string }[]>`
  select params, actor_kind from journal where action = 'settings.replaced' order by id`
const names = async () =>
  (await own.oracle<{ name: string }[]>`select name from setting order by name`).map(({ name }) => name)

const good = `
# kept by whoever keeps the files
sign_in:
  password_min_length: { value: 16, locked: true, reason: "policy 7" }
  methods: { value: [PASSWORD] }
quotas:
  media_bytes: 9223372036854775807
localisation: { locale: de, time_zone: Europe/Berlin }
`

describe('a document', () => {
  test('is YAML or JSON, and both say the same', async () => {
    const json = {
      sign_in: {
        password_min_length: { value: 16, locked: true, reason: 'policy 7' },
        methods: { value: ['PASSWORD'] },
      },
      quotas: { media_bytes: 9223372036854775807n },
      localisation: { locale: 'de', time_zone: 'Europe/Berlin' },
    }
    expect(await parseSettings(good)).toEqual({ document: json })
    const text = JSON.stringify(json, (_, value) => (typeof value === 'bigint' ? Number.MAX_SAFE_INTEGER : value))
    expect(await parseSettings(text)).toMatchObject({ document: { sign_in: json.sign_in } })
    expect(await parseSettings('{"source":"database","is_enforced_from_file":false,"version":3}')).toEqual({
      document: {},
    })
  })

  test.each([
    ['', 'it is empty; write {} to decide nothing'],
    ['# nothing but a comment\n', 'it is empty; write {} to decide nothing'],
    ['sign_in: [', 'at line 1'],
    ['sign_in: {}\nsign_in: {}\n', 'Map keys must be unique'],
    ['a: &a [x]\nb: *a\n', 'aliases'],
    ['- sign_in\n', 'the document: value.type (expected object)'],
    ['sign_in: { password_minimum: { value: 9 } }', '/sign_in/password_minimum: member.unknown'],
    ['sign_in: { password_min_length: { value: "16" } }', '/sign_in/password_min_length/value: value.type'],
    ['sign_in: { password_enabled: { value: yes } }', '/sign_in/password_enabled/value: value.type'], // YAML 1.2: a text
    ['quotas: { items: 9223372036854775808 }', '/quotas/items: value.'],
    ['quotas: { items: 1.5 }', '/quotas/items: value.type'],
  ])('%j is refused: %s', async (text, fault) => {
    const parsed = await parseSettings(text)
    expect('faults' in parsed && parsed.faults.join('\n')).toContain(fault)
  })

  test('every fault is told, not the first alone', async () => {
    const parsed = await parseSettings(
      'sign_in: { x: {}, password_enabled: { value: 1 } }\nlegal: { terms_version: "1" }\n',
    )
    expect('faults' in parsed && parsed.faults).toHaveLength(3)
  })
})

describe('in force', () => {
  test('what it says is written in one step, under one entry that names what moved, and setters are nobody', async () => {
    writeFileSync(file, good)
    const before = (await entries()).length
    expect([...(await settleSettings(enforced))]).toEqual([
      'localisation.locale',
      'localisation.time_zone',
      'quotas.media_bytes',
      'sign_in.methods',
      'sign_in.password_min_length',
    ])
    expect((await entries()).slice(before)).toEqual([
      { params: { switches: await names(), source: 'file' }, actor_kind: 'SYSTEM' },
    ])
    const answer = await own.asRecovery(operations.getSettings)
    expect(answer).toMatchObject({
      source: file,
      is_enforced_from_file: true,
      quotas: { media_bytes: 9223372036854775807n },
    })
    expect(await own.oracle`select 1 from setting where set_by is not null`).toHaveLength(0)
    expect(await settleSettings(enforced)).toEqual([]) // read again, nothing moves and nothing is written
    expect(await entries()).toHaveLength(before + 1)
  })

  test.each([
    ['an unknown switch', 'sign_in: { password_minimum: { value: 9 } }', '/sign_in/password_minimum: member.unknown'],
    [
      'a wrong type',
      'sign_in: { password_min_length: { value: "9" } }',
      '/sign_in/password_min_length/value: value.type',
    ],
    ['a locale nobody knows', 'localisation: { locale: tlh-QQ-x }', '/localisation/locale: locale.unknown'],
    [
      'a blocklist that is not there',
      'blocklist_file: /nowhere/list.txt',
      '/blocklist_file: file.unusable (reason missing)',
    ],
    ['half a file', good.slice(0, good.indexOf('methods: {') + 10), 'line 5'],
    ['nothing', '', 'it is empty'],
  ])('%s: a clear line with a pointer, and what was in force stays', async (_, text, fault) => {
    writeFileSync(file, good)
    await settleSettings(enforced)
    const before = [await names(), (await entries()).length]
    writeFileSync(file, text)
    await expect(settleSettings(enforced)).rejects.toThrow(fault)
    await expect(settleSettings(enforced)).rejects.toThrow(`The settings file ${file} is refused`)
    expect([await names(), (await entries()).length]).toEqual(before)
  })

  test('one that is not there, is a folder, too large or no UTF-8 is refused', async () => {
    const at = (settingsFile: string) => settleSettings({ ...enforced, config: { ...enforced.config, settingsFile } })
    await expect(at(join(folder, 'nowhere.yaml'))).rejects.toThrow('it cannot be read (ENOENT)')
    await expect(at(folder)).rejects.toThrow('it cannot be read (EISDIR)')
    writeFileSync(file, Buffer.alloc(300_000, 'a'))
    await expect(at(file)).rejects.toThrow('it is larger than 262144 bytes')
    writeFileSync(file, Buffer.from([0x61, 0xff, 0xfe]))
    await expect(at(file)).rejects.toThrow('it is not UTF-8')
  })

  test('taken away, its switches stay, and operators may change them again', async () => {
    writeFileSync(file, good)
    await settleSettings(enforced)
    await expect(own.asRecovery(operations.replaceSettings, { body: {} })).rejects.toMatchObject({
      code: 'admin.settings_enforced',
      params: { source: file },
    })
    expect(await settleSettings(own.installation)).toEqual([])
    expect(await own.asRecovery(operations.getSettings)).toMatchObject({
      source: 'database',
      is_enforced_from_file: false,
      sign_in: { password_min_length: { value: 16, locked: true } },
    })
    await own.asRecovery(operations.replaceSettings, { body: {} })
    expect(await names()).toEqual([])
  })
})

describe('a daemon', () => {
  let daemon: TestDaemon
  let token: string
  beforeAll(async () => {
    writeFileSync(file, good)
    daemon = await testDaemon({ config: { settingsFile: file } })
    const home = await setUp(daemon)
    token = (await person(daemon, home.tenantId, { operator: true })).token
  })
  afterAll(() => daemon.close())

  const get = async () => (await daemon.call('GET', '/api/v1/admin/settings', { token })).json
  const put = (body: object) => daemon.call('PUT', '/api/v1/admin/settings', { token, body })

  test('obeys the file from its start, and refuses to change what it enforces', async () => {
    expect(await get()).toMatchObject({ source: file, is_enforced_from_file: true })
    expect(await put({})).toMatchObject({
      status: 409,
      json: { code: 'admin.settings_enforced', params: { source: file } },
    })
  })

  test('told to read it again, obeys the new one; a broken one changes nothing, and the daemon serves on', async () => {
    writeFileSync(file, 'sign_in: { password_enabled: { value: false } }')
    await daemon.reload()
    expect((await get()).sign_in).toEqual({ password_enabled: { value: false, locked: false, reason: null } })
    writeFileSync(file, 'sign_in: { password_enabled: { value: maybe } }')
    await daemon.reload()
    expect((await get()).sign_in).toEqual({ password_enabled: { value: false, locked: false, reason: null } })
    writeFileSync(file, '{}')
    await daemon.reload()
    expect((await get()).sign_in).toBeUndefined()
  })

  test('does not start with a broken one', async () => {
    writeFileSync(file, 'sign_in: { nonsense: { value: 1 } }')
    await expect(testDaemon({ config: { settingsFile: file } })).rejects.toThrow('/sign_in/nonsense: member.unknown')
  })

  test('replaced and read again 50 times under load, every answer is one of the documents, whole', async () => {
    const documents = Array.from(
      { length: 5 },
      (_, n) => `quotas: { items: ${n}, media_bytes: ${n}, webhook_targets: ${n} }`,
    )
    let isOver = false
    const readers = Array.from({ length: 4 }, async () => {
      const seen = []
      while (!isOver) seen.push((await get()).quotas)
      return seen
    })
    for (let round = 0; round < 50; round += 1) {
      writeFileSync(file, round % 7 === 6 ? 'quotas: [' : (documents[round % 5] as string))
      await daemon.reload()
    }
    isOver = true
    const seen = (await Promise.all(readers)).flat().filter((quotas) => quotas !== undefined)
    expect(seen.length).toBeGreaterThan(10)
    for (const { items, media_bytes, webhook_targets } of seen)
      expect([media_bytes, webhook_targets]).toEqual([items, items])
  })
})
