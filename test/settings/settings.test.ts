/** What the installation decided: read, replaced, in both modes. Spec: Admin: installation settings, rule 1; decisions 4. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readSettings, readSwitches } from '../../src/core/areas/settings/settings.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { aiDefaults, localisationDefaults, signInDefaults } from '../../src/core/contract/settings/defaults.ts'
import { readJson } from '../../src/core/kernel/values/json.ts'
import { type Callers, callers, joinedWorkspace, modes } from '../kit/accounts.ts'
import { request } from '../kit/callers.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const { getSettings, replaceSettings } = operations

let own: TestInstallation
let who: Callers
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
beforeEach(async () => {
  await own.asRecovery(replaceSettings, { body: {} })
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const entries = () => own.oracle<{ params: { switches: string[]; source: string } }[]>`
  select params from journal where action = 'settings.replaced' order by id`
const rows = () => own.oracle<{ name: string; value: unknown; set_by: string | null; set_at: Date }[]>`
  select * from setting order by name`
const inForce = () => own.installation.transaction({ kind: 'SYSTEM', job: 'test' }, { readOnly: true }, readSettings)

const everything = {
  sign_in: {
    password_enabled: { value: true, locked: true, reason: 'nobody may switch passwords off' },
    password_min_length: { value: 14, locked: false, reason: null },
    methods: { value: ['PROVIDER' as const, 'PASSWORD' as const], locked: false, reason: null },
    mfa_required_for: { value: 'NONE' as const, locked: true, reason: null },
  },
  legal: { terms_url: 'https://example.org/terms', terms_version: '2026-11' },
  localisation: { locale: 'de-AT', time_zone: 'Europe/Vienna', week_start: 'SUNDAY' as const },
  quotas: { items: 0, media_bytes: 9223372036854775807n },
  ai: { allowed_jurisdictions: ['EEA' as const], third_country_confirmed: false },
}

describe.each(modes)('by %s', (mode) => {
  const get = () => who[mode].call(getSettings)
  const put = (body: object, ifMatch?: string) =>
    who[mode].call(replaceSettings, { body, ...(ifMatch === undefined ? {} : { ifMatch }) })

  test('nothing decided answers nothing but where that comes from', async () => {
    const { version, ...rest } = await get()
    expect(rest).toEqual({ source: 'database', is_enforced_from_file: false })
    expect(version).toBeGreaterThan(0)
  })

  test('what was decided is answered, to the letter and to the last digit, and PUT takes it back', async () => {
    const answer = await put(everything)
    expect(answer).toMatchObject(everything)
    const again = await get()
    expect(again).toEqual(answer)
    expect(await put(again)).toEqual(again) // source, is_enforced_from_file and version are ignored
  })

  test('a replacement is whole: what is left out is decided no longer', async () => {
    await put(everything)
    const { sign_in, ...rest } = await put({ sign_in: { private_hubs: { value: false } } })
    expect(sign_in).toEqual({ private_hubs: { value: false, locked: false, reason: null } })
    expect(Object.keys(rest).sort()).toEqual(['is_enforced_from_file', 'source', 'version'])
  })

  test('the journal has one entry: the switches that moved, and never a value', async () => {
    const before = (await entries()).length
    await put(everything)
    await put({ ...everything, quotas: { items: 0 }, legal: { ...everything.legal, terms_version: '2027-01' } })
    const [first, second, ...more] = (await entries()).slice(before)
    expect(more).toEqual([])
    expect(first?.params.switches).toContain('sign_in.methods')
    expect(first?.params.switches).toHaveLength(4 + 2 + 3 + 2 + 2)
    expect(second?.params).toMatchObject({
      switches: ['legal.terms_version', 'quotas.media_bytes'],
      source: 'database',
    })
    for (const secret of ['2027-01', 'Vienna', 'nobody may', '9223372036854775807', 'example.org'])
      expect(JSON.stringify(await own.oracle`select params from journal`)).not.toContain(secret)
  })

  test('a replacement that moves nothing writes nothing and keeps the version', async () => {
    const { version } = await put(everything)
    const before = (await entries()).length
    expect((await put(everything)).version).toBe(version)
    expect(await entries()).toHaveLength(before)
  })

  test('a switch that stays keeps its setter and its moment', async () => {
    await put({ quotas: { items: 7 }, localisation: { locale: 'fr' } })
    const [locale, items] = await rows()
    await put({ quotas: { items: 8 }, localisation: { locale: 'fr' } })
    const [sameLocale, otherItems] = await rows()
    expect(sameLocale).toEqual(locale)
    expect(otherItems?.set_at).not.toEqual(items?.set_at)
    expect(items?.set_by).toBe(mode === 'api' ? who.operator.accountId : null)
  })

  test('If-Match holds; a stale one writes nothing', async () => {
    const { version } = await put({ quotas: { items: 1 } })
    await expect(put({ quotas: { items: 2 } }, `"${version + 7}"`)).rejects.toMatchObject({
      code: 'precondition.failed',
      params: { current_etag: `"${version}"` },
    })
    expect((await get()).quotas).toEqual({ items: 1 })
    expect((await put({ quotas: { items: 2 } }, `"${version}"`)).version).toBe(version + 1)
  })

  test.each([
    [{ sign_in: { password_length: { value: 12 } } }, '/sign_in/password_length', 'member.unknown'],
    [{ sign_ins: {} }, '/sign_ins', 'member.unknown'],
    [{ sign_in: { password_enabled: true } }, '/sign_in/password_enabled', 'value.type'],
    [{ sign_in: { password_enabled: { value: 'yes' } } }, '/sign_in/password_enabled/value', 'value.type'],
    [{ sign_in: { password_enabled: { locked: true } } }, '/sign_in/password_enabled/value', 'member.required'],
    [
      { sign_in: { password_enabled: { value: true, set_by: 'me' } } },
      '/sign_in/password_enabled/set_by',
      'member.unknown',
    ],
    [{ sign_in: { password_min_length: { value: 7 } } }, '/sign_in/password_min_length/value', 'value.minimum'],
    [{ sign_in: { password_min_length: { value: 12.5 } } }, '/sign_in/password_min_length/value', 'value.type'],
    [
      { sign_in: { password_min_length: { value: 100 }, password_max_length: { value: 64 } } },
      '/sign_in/password_min_length/value',
      'value.maximum',
    ],
    [{ sign_in: { methods: { value: [] } } }, '/sign_in/methods/value', 'list.minimum'],
    [{ sign_in: { methods: { value: ['PASSWORD', 'PASSWORD'] } } }, '/sign_in/methods/value', 'list.unique'],
    [{ sign_in: { methods: { value: ['SMS'] } } }, '/sign_in/methods/value/0', 'value.one_of'],
    [{ sign_in: { mfa_required_for: { value: 'SOME' } } }, '/sign_in/mfa_required_for/value', 'value.one_of'],
    [{ legal: { terms_url: 'javascript:alert(1)' } }, '/legal/terms_url', 'value.format'],
    [{ legal: { terms_version: '1' } }, '/legal/terms_url', 'member.required'],
    [{ localisation: { locale: 'tlh-QQ-x' } }, '/localisation/locale', 'locale.unknown'],
    [{ localisation: { time_zone: 'Mars/Olympus' } }, '/localisation/time_zone', 'time_zone.unknown'],
    [{ localisation: { week_start: 'FRIDAY' } }, '/localisation/week_start', 'value.one_of'],
    [{ quotas: { items: -1 } }, '/quotas/items', 'value.minimum'],
    [{ quotas: { items: null } }, '/quotas/items', 'value.type'],
    [{ quotas: { stickers: 1 } }, '/quotas/stickers', 'member.unknown'],
    [{ ai: { allowed_jurisdictions: ['MOON'] } }, '/ai/allowed_jurisdictions/0', 'value.one_of'],
    [{ blocklist_file: 'nowhere/at/all.txt' }, '/blocklist_file', 'file.unusable'],
    [{ blocklist_file: '/dev/null/x' }, '/blocklist_file', 'file.unusable'],
    [{ blocklist_file: '/' }, '/blocklist_file', 'file.unusable'],
  ])('%j is refused at %s, and nothing of it is in force', async (broken, pointer, code) => {
    await put(everything)
    const before = await rows()
    const journalled = (await entries()).length
    await expect(put({ ...everything, ...broken })).rejects.toMatchObject({
      code: 'request.invalid',
      status: 422,
      errors: expect.arrayContaining([expect.objectContaining({ pointer, code })]),
    })
    expect(await rows()).toEqual(before)
    expect(await entries()).toHaveLength(journalled)
  })

  test('20 replacements at once follow one another: the last is in force, and the journal tells each', async () => {
    const before = (await entries()).length
    await Promise.all(Array.from({ length: 20 }, (_, n) => put({ quotas: { items: n + 1 } })))
    expect(await entries()).toHaveLength(before + 20)
    expect(await rows()).toHaveLength(1)
  })
})

describe('what is in force', () => {
  test('where nothing is decided, the product’s own', async () => {
    const { switches, ...values } = await inForce()
    for (const { source, locked } of Object.values(switches))
      expect({ source, locked }).toEqual({ source: 'PRODUCT', locked: false })
    expect(values).toEqual({
      signIn: signInDefaults,
      legal: { terms_url: null, privacy_url: null, imprint_url: null, accessibility_url: null, terms_version: null },
      localisation: localisationDefaults,
      quotas: new Map(),
      ai: aiDefaults,
      blocklistFile: null,
    })
  })

  test('a lock shows reason, setter and moment, to a workspace’s own transaction as well', async () => {
    const { tenantId } = await joinedWorkspace(own)
    await who.api.call(replaceSettings, { body: everything })
    const switches = await own.installation.transaction(
      { kind: 'SYSTEM', job: 'test' },
      { tenantId, readOnly: true },
      readSwitches,
    )
    expect(switches.password_enabled).toEqual({
      value: true,
      source: 'INSTANCE',
      locked: true,
      reason: 'nobody may switch passwords off',
      set_by: who.operator.accountId,
      set_at: expect.stringMatching(/Z$/),
    })
    expect(switches.managed_accounts).toMatchObject({ value: true, source: 'PRODUCT', locked: false, set_by: null })
  })

  test('a lock shows to every workspace, with its reason and who set it', async () => {
    await who.api.call(replaceSettings, { body: everything })
    for (const owner of [await joinedWorkspace(own), await joinedWorkspace(own)]) {
      const { workspace } = await who.as(owner.session.access_token).call(operations.getOwnAccount)
      const set = { set_by: who.operator.accountId, set_at: expect.stringMatching(/Z$/) }
      expect(workspace.locked_switches).toEqual([
        { name: 'password_enabled', reason: 'nobody may switch passwords off', ...set },
        { name: 'mfa_required_for', reason: null, ...set },
      ])
    }
  })

  test('a new workspace starts with the installation’s locale and zone, unless it is given its own', async () => {
    await own.asRecovery(replaceSettings, { body: everything })
    expect((await own.provision()).tenant).toMatchObject({
      default_locale: 'de-AT',
      default_time_zone: 'Europe/Vienna',
    })
    expect((await own.provision(undefined, { default_locale: 'fr', default_time_zone: 'UTC' })).tenant).toMatchObject({
      default_locale: 'fr',
      default_time_zone: 'UTC',
    })
  })

  test('a ceiling of the installation lies between the product’s and the workspace’s', async () => {
    const { tenant } = await own.provision()
    const quotas = (body = {}) => own.asRecovery(operations.changeTenantQuotas, { tenantId: tenant.id, body })
    expect((await quotas()).items).toMatchObject({ value: 100_000, source: 'PRODUCT' })
    await own.asRecovery(replaceSettings, {
      body: { quotas: { items: readJson('9007199254740993') as bigint, export_jobs: 0 } },
    })
    expect((await quotas()).items).toMatchObject({ value: 9007199254740993n, source: 'INSTANCE' })
    expect((await quotas()).export_jobs).toMatchObject({ value: 0, source: 'INSTANCE' })
    expect((await quotas({ items: 5 })).items).toMatchObject({ value: 5, source: 'WORKSPACE' })
    expect((await quotas({ items: null })).items).toMatchObject({ source: 'INSTANCE' })
  })

  test('the rate of calls obeys it from the next call on', async () => {
    const owner = await joinedWorkspace(own)
    await own.oracle`delete from tenant_quota where tenant_id = ${owner.tenantId}`
    const call = () => request(who.daemon.url, operations.getOwnAccount, {}, owner.session.access_token)
    expect((await call()).status).toBe(200)
    await own.asRecovery(replaceSettings, { body: { quotas: { api_requests_per_minute: 1 } } })
    const statuses = [(await call()).status, (await call()).status, (await call()).status]
    expect(statuses).toContain(429)
    await own.asRecovery(replaceSettings, { body: { quotas: { api_requests_per_minute: 0 } } })
    expect((await call()).status).toBe(200)
  })

  test('who is calling sees the week’s start, and terms to agree to once', async () => {
    const owner = await joinedWorkspace(own)
    const caller = who.as(owner.session.access_token)
    const me = () => caller.call(operations.getOwnAccount)
    expect(await me()).toMatchObject({ terms: null, workspace: { week_start: 'MONDAY' } })
    await own.asRecovery(replaceSettings, { body: everything })
    expect(await me()).toMatchObject({
      terms: { url: 'https://example.org/terms', version: '2026-11', agreed_version: null, is_due: true },
      workspace: { week_start: 'SUNDAY' },
    })
    await expect(caller.call(operations.agreeToTerms, { body: { terms_version: '2025-01' } })).rejects.toMatchObject({
      code: 'legal.terms_changed',
      status: 409,
      params: { terms_version: '2026-11' },
    })
    await caller.call(operations.agreeToTerms, { body: { terms_version: '2026-11' } })
    await caller.call(operations.agreeToTerms, { body: { terms_version: '2026-11' } })
    expect((await me()).terms).toMatchObject({ agreed_version: '2026-11', is_due: false })
    expect(
      await own.oracle`select 1 from audit_entry where tenant_id = ${owner.tenantId} and action = 'account.terms_agreed'`,
    ).toHaveLength(1)
    await own.asRecovery(replaceSettings, { body: { legal: { ...everything.legal, terms_version: '2027-01' } } })
    expect((await me()).terms).toMatchObject({ agreed_version: '2026-11', is_due: true })
  })
})
