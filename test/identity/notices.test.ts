/** What an account has to know whatever it does, worst first, and what the operators say to everybody. People 3, N15, A1, A2. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import type { Role } from '../../src/core/contract/vocabulary.ts'
import {
  type Callers,
  callers,
  joinedWorkspace,
  modes,
  type Person,
  plantAccount,
  plantToken,
} from '../kit/accounts.ts'
import { decide, decideNothing } from '../kit/deciding.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const { listEmergencyNotices, getNotice, putNotice, openPassword } = operations

let house: TestInstallation
let who: Callers
let owner: Person
beforeAll(async () => {
  house = await testInstallation({})
  who = await callers(house)
})
afterAll(async () => {
  await who.close()
  await house.close()
})
beforeEach(async () => {
  owner = await joinedWorkspace(house)
  await house.oracle`update account_address set confirmed_at = now() where account_id = ${owner.accountId}`
})

async function asRole(role: Role) {
  const planted = await plantAccount(house, owner.tenantId, role)
  const { token } = await plantToken(house, planted, { scopes: ['workspace:read'] })
  return { ...planted, notices: async () => (await who.as(token).call(listEmergencyNotices)).data }
}
const ofOwner = async () => (await who.as(owner.session.access_token).call(listEmergencyNotices)).data
const kinds = async () => (await ofOwner()).map(({ kind }) => kind)

test('an account with nothing to know is answered nothing', async () => {
  expect(await ofOwner()).toEqual([])
})

test.each(modes)(
  'what the operators say is told to everybody for its time, and journalled without its text (%s)',
  async (way) => {
    const operator = who[way]
    const before = await operator.call(getNotice)
    const until = new Date(Date.now() + 3_600_000).toISOString()
    const set = await operator.call(putNotice, {
      body: { message: 'Maintenance on Sunday', severity: 'WARNING', until },
      ifMatch: `"${before.version}"`,
    })
    expect(set).toMatchObject({
      message: 'Maintenance on Sunday',
      severity: 'WARNING',
      from: null,
      version: before.version + 1,
    })
    expect(
      await operator.call(putNotice, { body: { message: 'Maintenance on Sunday', severity: 'WARNING', until } }),
    ).toEqual(set)
    const { notices } = await asRole('VIEWER')
    expect(await notices()).toEqual([
      {
        kind: 'INSTALLATION_NOTICE',
        severity: 'WARNING',
        since: set.set_at,
        until,
        params: { message: 'Maintenance on Sunday' },
        ended_by: null,
      },
    ])
    await expect(
      operator.call(putNotice, { body: { message: 'x' }, ifMatch: `"${before.version}"` }),
    ).rejects.toMatchObject({ status: 412 })
    for (const period of [{ until: '2020-01-01T00:00:00.000Z' }, { from: until }]) {
      await operator.call(putNotice, { body: { message: 'Not now', ...period } })
      expect(await notices()).toEqual([])
    }
    await expect(
      operator.call(putNotice, { body: { message: 'x', from: until, until: '2020-01-01T00:00:00.000Z' } }),
    ).rejects.toMatchObject({ errors: [{ pointer: '/until', code: 'value.minimum' }] })
    const cleared = await operator.call(putNotice, { body: { message: null } })
    expect(cleared.message).toBeNull()
    const journal = await house.oracle<{ action: string; params: object }[]>`
    select action, params from journal where action like 'notice.%' order by id desc limit 2`
    expect(journal.map(({ action }) => action)).toEqual(['notice.cleared', 'notice.set'])
    expect(JSON.stringify(journal)).not.toContain('Not now')
  },
)

test('they are said worst first, and each says what ends it', async () => {
  await who.recovery.call(putNotice, { body: { message: 'Hello', severity: 'INFO' } })
  await decide(house, {
    sign_in: { mfa_required_for: { value: 'ALL' } },
    legal: { terms_url: 'https://terms.example/', terms_version: '3' },
  })
  await who.recovery.call(openPassword, {
    tenantId: owner.tenantId,
    body: { requester: 'Ruth', reason: 'their provider is down', hours: 2 },
  })
  await house.oracle`update account_address set confirmed_at = null where account_id = ${owner.accountId}`
  await house.oracle`update installation set admitted_at = now(), recovered_to = now() - interval '1 day'`
  // Also while the account lacks the factor that is demanded.
  const told = await ofOwner()
  expect(told.map(({ kind, severity, ended_by }) => [kind, severity, ended_by])).toEqual([
    ['SECOND_FACTOR_DEMANDED', 'CRITICAL', 'enrollTotp'],
    ['INSTALLATION_RECOVERED', 'CRITICAL', null],
    ['PASSWORD_OPENING', 'WARNING', null],
    ['INSTALLATION_NOTICE', 'INFO', null],
    ['ADDRESS_UNCONFIRMED', 'INFO', 'confirmAddress'],
    ['TERMS_DUE', 'INFO', 'agreeToTerms'],
  ])
  const find = (kind: string) => told.find((one) => one.kind === kind)
  const { until } = find('PASSWORD_OPENING')!
  const asked = { requester: 'Ruth', reason: 'their provider is down' }
  expect([until, find('PASSWORD_OPENING')!.params]).toEqual([expect.any(String), { until, ...asked }])
  expect(find('ADDRESS_UNCONFIRMED')).toMatchObject({ params: { email: owner.email } })
  const { recovered_to, admitted_at } = find('INSTALLATION_RECOVERED')!.params as Record<string, string>
  expect(Date.parse(admitted_at!) - Date.parse(recovered_to!)).toBe(86_400_000)

  // Whoever is no administrator is not told who asked, and an account without a password needs no factor.
  const member = await (await asRole('MEMBER')).notices()
  expect(member.find(({ kind }) => kind === 'PASSWORD_OPENING')?.params).toEqual({ until })
  expect(member.map(({ kind }) => kind)).not.toContain('SECOND_FACTOR_DEMANDED')

  await decideNothing(house)
  await who.recovery.call(operations.closePassword, { tenantId: owner.tenantId })
  await who.recovery.call(putNotice, { body: { message: null } })
  await house.oracle`update installation set admitted_at = now() - interval '15 days'`
  expect(await kinds()).toEqual(['ADDRESS_UNCONFIRMED'])
})

test('the end of an offer is told to administrators, and to people with no other way in', async () => {
  const [ending, staying] = [randomUUIDv7(), randomUUIDv7()]
  const nil = '00000000-0000-0000-0000-000000000000'
  for (const [id, withdraws] of [
    [ending, true],
    [staying, false],
  ] as const) {
    await house.oracle`
      insert into identity_provider (tenant_id, id, issuer, client_id, kind, provisioning, position, allowed_email_domains, allowed_directories, withdraw_at)
      values (${nil}, ${id}, ${`https://${id}.example`}, 'svc', 'GENERIC', 'ANY', 0, '[]', '[]',
              ${withdraws ? new Date(Date.now() + 86_400_000) : null})`
    await house.oracle`
      insert into provider_switch (tenant_id, provider_scope, provider_id) values (${owner.tenantId}, ${nil}, ${id})`
  }
  const connect = (accountId: string, id: string) => house.oracle`
    insert into connected_identity (tenant_id, id, provider_id, account_id, issuer, subject)
    values (${owner.tenantId}, ${randomUUIDv7()}, ${id}, ${accountId}, ${`https://${id}.example`}, ${randomUUIDv7()})`
  const [alone, both, neither] = [await asRole('MEMBER'), await asRole('MEMBER'), await asRole('MEMBER')]
  await connect(alone.accountId, ending)
  await connect(both.accountId, ending)
  await connect(both.accountId, staying)
  const told = async (notices: () => Promise<{ kind: string; severity: string; params: unknown }[]>) =>
    (await notices()).map(({ kind, severity, params }) => [
      kind,
      severity,
      (params as { provider_id: string }).provider_id,
    ])
  expect(await told(alone.notices)).toEqual([['PROVIDER_ENDING', 'CRITICAL', ending]])
  expect(await told(both.notices)).toEqual([])
  expect(await told(neither.notices)).toEqual([])
  expect(await told(ofOwner)).toEqual([['PROVIDER_ENDING', 'WARNING', ending]])
  await house.oracle`update account set password_hash = 'x' where id = ${alone.accountId}`
  expect(await told(alone.notices)).toEqual([])
})
