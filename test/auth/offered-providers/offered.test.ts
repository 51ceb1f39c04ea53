/** The six admin operations against a real provider, by both ways. Spec: Admin: identity providers; Offered identity provider. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { identityProviderOperations as ops } from '../../../src/core/contract/providers/offered.ts'
import type { Release } from '../../../src/core/kernel/egress/guard.ts'
import { readRelease } from '../../../src/core/kernel/egress/guard.ts'
import { type OidcProvider, oidcProvider } from '../../kit/oidc-provider.ts'
import { workspace } from '../../kit/people.ts'
import { ways as everyWay, type TwoWays, twoWays, type Way } from '../../kit/two-ways.ts'

let ways: TwoWays
let real: OidcProvider
beforeAll(async () => {
  real = await oidcProvider()
  ways = await twoWays({ egress: readRelease('127.0.0.0/8') as Release })
})
afterAll(async () => {
  await ways.close()
  await real.close()
})

const day = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * day).toISOString()
let counter = 0

describe.each(everyWay)('offered identity providers, by %s', (way: Way) => {
  const configuration = (more: object = {}) => ({
    issuer: real.issuer,
    client_id: real.clientId,
    client_secret: real.clientSecret,
    display_name: 'Acme SSO',
    ...more,
  })
  const create = (more: object = {}) => ways.call(way, ops.createIdentityProvider, { body: configuration(more) })
  const change = (providerId: string, more: object = {}, ifMatch?: string) =>
    ways.call(way, ops.changeIdentityProvider, {
      providerId,
      body: configuration(more),
      ...(ifMatch ? { ifMatch } : {}),
    })
  const remove = (providerId: string) => ways.call(way, ops.removeIdentityProvider, { providerId })
  const withdraw = (providerId: string, body: object = {}) =>
    ways.call(way, ops.withdrawIdentityProvider, { providerId, body })
  const cancel = (providerId: string) => ways.call(way, ops.cancelIdentityProviderWithdrawal, { providerId })
  const shown = async (providerId: string) =>
    (await ways.call(way, ops.listIdentityProviders, {})).data.find(({ id }) => id === providerId)
  const switchOn = async (providerId: string) => {
    counter += 1
    const tenantId = await workspace(ways.daemon, `on-${counter}`)
    await ways.sql`
      insert into provider_switch (tenant_id, provider_scope, provider_id)
      values (${tenantId}, '00000000-0000-0000-0000-000000000000', ${providerId})`
    return tenantId
  }
  const journalOf = async (providerId: string) =>
    await ways.sql<{ action: string; params: object }[]>`
      select action, params from journal where subject_id = ${providerId} order by id`

  test('is offered once it was discovered; its secret is sealed and never answered', async () => {
    const provider = await create()
    expect(provider).toMatchObject({
      issuer: real.issuer,
      client_id: 'svc',
      has_secret: true,
      display_name: 'Acme SSO',
      kind: 'GENERIC',
      provisioning: 'DOMAINS',
      position: 0,
      enabled: true,
      allowed_email_domains: [],
      state: 'OFFERED',
      withdraw_at: null,
      workspaces_on: 0,
      version: 1,
    })
    expect(JSON.stringify(provider)).not.toContain('secret that both')
    expect(await shown(provider.id)).toEqual(provider)
    const dumped =
      await ways.sql`select * from identity_provider p left join sealed_value s on s.owner_id = p.id where p.id = ${provider.id}`
    expect(JSON.stringify(dumped)).not.toContain('secret that both')
    expect(await journalOf(provider.id)).toMatchObject([
      { action: 'identity_provider.created', params: { issuer: real.issuer, kind: 'GENERIC' } },
    ])
  })

  test('PUT sets it whole: an absent secret stays, null removes it, what is absent falls back', async () => {
    const { id } = await create({ position: 7, allowed_email_domains: ['acme.example'] })
    const kept = await change(id, { client_secret: undefined })
    expect(kept).toMatchObject({ has_secret: true, position: 0, allowed_email_domains: [], version: 2 })
    expect((await change(id, { client_secret: null })).has_secret).toBe(false)
  })

  test('another issuer does not get the sealed secret', async () => {
    const other = await oidcProvider()
    try {
      const { id } = await create()
      await expect(change(id, { issuer: other.issuer, client_secret: undefined })).rejects.toMatchObject({
        code: 'request.invalid',
        errors: [{ pointer: '/client_secret' }],
      })
      expect((await change(id, { issuer: other.issuer, client_secret: 'new' })).issuer).toBe(other.issuer)
    } finally {
      await other.close()
    }
  })

  test('`enabled` changes nothing, or is refused where it differs', async () => {
    const { id } = await create()
    expect((await change(id, { enabled: true })).state).toBe('OFFERED')
    await expect(change(id, { enabled: false })).rejects.toMatchObject({ code: 'identity_provider.withdraw_instead' })
    await withdraw(id, { withdraw_at: inDays(0), confirm_count: 0 })
    expect((await change(id, { enabled: false })).state).toBe('ENDED')
    await expect(change(id, { enabled: true })).rejects.toMatchObject({ code: 'identity_provider.withdraw_instead' })
  })

  test('is removed where nobody has it on, also while a withdrawal is announced', async () => {
    const { id } = await create()
    await remove(id)
    expect(await shown(id)).toBeUndefined()
    expect(await ways.sql`select 1 from sealed_value where owner_id = ${id}`).toHaveLength(0)
    const announced = await create()
    await withdraw(announced.id)
    await remove(announced.id)
    await expect(remove(announced.id)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('is not removed while a workspace relies on it, and says why', async () => {
    const { id } = await create()
    const tenantId = await switchOn(id)
    await switchOn(id)
    await expect(remove(id)).rejects.toMatchObject({
      code: 'identity_provider.withdraw_first',
      params: { workspace_count: 2 },
    })
    const { withdraw_at } = await withdraw(id)
    await expect(remove(id)).rejects.toMatchObject({
      code: 'identity_provider.remove_after_withdrawal',
      params: { withdraw_at },
    })
    await withdraw(id, { withdraw_at: inDays(-1), confirm_count: 2 })
    const accountId = randomUUIDv7()
    await ways.sql`insert into account (tenant_id, id, kind, state, email, email_fold) values (${tenantId}, ${accountId}, 'PERSON', 'ACTIVE', 'a@b.example', 'a@b.example')`
    await ways.sql`insert into connected_identity (tenant_id, id, provider_id, account_id, issuer, subject) values (${tenantId}, ${randomUUIDv7()}, ${id}, ${accountId}, 'i', 's')`
    await remove(id)
    expect(await ways.sql`select 1 from connected_identity where provider_id = ${id}`).toHaveLength(0)
    expect(await ways.sql`select 1 from provider_switch where provider_id = ${id}`).toHaveLength(0)
    expect(await ways.sql`select state from account where id = ${accountId}`).toEqual([{ state: 'ACTIVE' }])
  })

  test('is withdrawn in 14 days where nothing is said, and on the day that is said', async () => {
    const { id } = await create()
    const announced = await withdraw(id)
    expect(announced).toMatchObject({ state: 'WITHDRAWAL_ANNOUNCED', enabled: true, version: 2 })
    const days = (at: string | null) => (Date.parse(at ?? '') - Date.now()) / day
    expect(days(announced.withdraw_at)).toBeGreaterThan(13.9)
    expect(days(announced.withdraw_at)).toBeLessThanOrEqual(14)
    const at = inDays(3)
    expect(await withdraw(id, { withdraw_at: at })).toMatchObject({ state: 'WITHDRAWAL_ANNOUNCED', withdraw_at: at })
    expect((await journalOf(id)).map(({ action }) => action)).toEqual([
      'identity_provider.created',
      'identity_provider.withdrawn',
      'identity_provider.withdrawn',
    ])
  })

  test.each([
    ['now', () => inDays(0)],
    ['in the past', () => inDays(-30)],
    ['in less than a day', () => inDays(0.9)],
  ])('%s: ends at once, with the count and not without', async (_, at) => {
    const { id } = await create()
    await switchOn(id)
    for (const confirm_count of [undefined, null, 0, 2])
      await expect(withdraw(id, { withdraw_at: at(), confirm_count })).rejects.toMatchObject({
        code: 'identity_provider.withdraw_count_mismatch',
        status: 409,
        params: { expected: 1 },
      })
    expect((await shown(id))?.state).toBe('OFFERED')
    expect(await withdraw(id, { withdraw_at: at(), confirm_count: 1 })).toMatchObject({
      state: 'ENDED',
      enabled: false,
      workspaces_on: 1,
    })
    await expect(withdraw(id, { withdraw_at: at(), confirm_count: 1 })).rejects.toMatchObject({
      code: 'identity_provider.already_withdrawn',
    })
  })

  test('a withdrawal is taken back before its date and after it; on an offer that stands nothing happens', async () => {
    const { id, version } = await create()
    expect(await cancel(id)).toMatchObject({ state: 'OFFERED', version })
    await withdraw(id)
    expect(await cancel(id)).toMatchObject({ state: 'OFFERED', withdraw_at: null })
    await switchOn(id)
    await withdraw(id, { withdraw_at: inDays(0), confirm_count: 1 })
    expect(await cancel(id)).toMatchObject({ state: 'OFFERED', workspaces_on: 1 })
    expect((await journalOf(id)).map(({ action }) => action.replace('identity_provider.', ''))).toEqual([
      'created',
      'withdrawn',
      'withdrawal_cancelled',
      'withdrawn',
      'withdrawal_cancelled',
    ])
  })

  test('a stale If-Match writes nothing', async () => {
    const { id } = await create()
    await change(id)
    if (way === 'api') {
      const answer = await ways.daemon.call('DELETE', `/api/v1/admin/identity-providers/${id}`, {
        token: ways.operator.token,
      })
      expect(answer.json.code).toBe('auth.step_up_required')
    }
    await expect(
      ways.call('recovery', ops.changeIdentityProvider, { providerId: id, body: configuration(), ifMatch: '"1"' }),
    ).rejects.toMatchObject({ code: 'precondition.failed', params: { current_etag: '"2"' } })
  })
})
