/** Who is told of the end of a provider's offer, through a real relay and the real queue. Spec: Offered identity provider, row 1. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { identityProviderOperations as ops } from '../../src/core/contract/providers/offered.ts'
import { type HostileProvider, hostileClient, hostileProvider } from '../kit/hostile-provider.ts'
import { type Mailing, mailing } from '../kit/mailing.ts'
import { type SmtpRelay, smtpRelay } from '../kit/smtp-relay.ts'

const patience = { timeout: 20_000 }
let relay: SmtpRelay
let house: Mailing
let issuer: HostileProvider
beforeAll(async () => {
  relay = await smtpRelay()
  issuer = await hostileProvider()
  house = await mailing({
    SVC_SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
    SVC_MAIL_FROM: 'svc@mail.example',
    SVC_EGRESS_ALLOW: new URL(issuer.issuer).host,
  })
})
afterAll(async () => {
  await house.end()
  await issuer.close()
  await relay.close()
})

test('the administrators of each workspace that has it on, each in the language of the workspace, and nobody else', async () => {
  const { asRecovery, oracle } = house.test
  const { id: providerId } = await asRecovery(ops.createIdentityProvider, {
    body: { issuer: issuer.issuer, client_id: hostileClient, display_name: 'Acme <SSO>' },
  })
  const [english, german, without] = [
    await house.workspace({ displayName: 'Acme' }),
    await house.workspace({ displayName: 'Werk', locale: 'de-AT', zone: 'Europe/Vienna' }),
    await house.workspace({ displayName: 'Other' }),
  ]
  const [ada, berta] = [await house.account(english), await house.account(german, { role: 'ADMIN' })]
  const untold = [await house.account(english, { role: 'MEMBER' }), await house.account(without)]
  for (const tenantId of [english, german])
    await oracle`
      insert into provider_switch (tenant_id, provider_scope, provider_id)
      values (${tenantId}, '00000000-0000-0000-0000-000000000000', ${providerId})`

  await asRecovery(ops.withdrawIdentityProvider, { providerId, body: { withdraw_at: '2040-03-04T13:00:00Z' } })
  await expect.poll(() => relay.takenBy(berta).length, patience).toBe(1)
  await expect.poll(() => relay.takenBy(ada).length, patience).toBe(1)
  const [{ mail: toAda } = { mail: undefined }] = relay.takenBy(ada)
  expect(toAda?.subject).toBe('Signing in with Acme <SSO> ends: Acme')
  expect(toAda?.text).toContain('Until March 4, 2040')
  expect(toAda?.html).toContain('Acme &lt;SSO&gt;')
  const [{ mail: toBerta } = { mail: undefined }] = relay.takenBy(berta)
  expect(toBerta?.subject).toBe('Anmeldung mit Acme <SSO> endet: Werk')
  expect(toBerta?.text).toContain('4. März 2040 um 14:00 MEZ')

  await asRecovery(ops.withdrawIdentityProvider, {
    providerId,
    body: { withdraw_at: new Date().toISOString(), confirm_count: 2 },
  })
  await expect
    .poll(() => relay.takenBy(ada).map(({ mail }) => mail.subject), patience)
    .toEqual(['Signing in with Acme <SSO> ends: Acme', 'Signing in with Acme <SSO> has ended: Acme'])
  expect(untold.flatMap((address) => relay.takenBy(address))).toEqual([])
})
