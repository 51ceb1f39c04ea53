/** Identities at providers are taken away, the last way in only by somebody else, and never the last owner's. People 1, I5. */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Credential, type Person, person, plantProof, setUp, workspace } from '../kit/people.ts'

let daemon: TestDaemon
let home: string
beforeAll(async () => {
  daemon = await testDaemon()
  home = (await setUp(daemon)).tenantId
})
afterAll(() => daemon.close())

/** A provider that the workspace has switched on. */
async function provider(tenantId: string): Promise<string> {
  const id = randomUUIDv7()
  await daemon.db.sql`
    insert into identity_provider (tenant_id, id, issuer, client_id, kind, provisioning, position, allowed_email_domains, allowed_directories)
    values (${tenantId}, ${id}, ${`https://${id}.example`}, 'svc', 'GENERIC', 'INVITED_ONLY', 0, '[]', '[]')`
  await daemon.db
    .sql`insert into provider_switch (tenant_id, provider_scope, provider_id) values (${tenantId}, ${tenantId}, ${id})`
  return id
}
async function connected(who: Person, providerId: string): Promise<string> {
  const id = randomUUIDv7()
  await daemon.db.sql`
    insert into connected_identity (tenant_id, id, provider_id, account_id, issuer, subject)
    values (${who.tenantId}, ${id}, ${providerId}, ${who.accountId}, ${`https://${providerId}.example`}, ${id})`
  return id
}
const somebody = (tenantId: string, more: Credential = {}) => person(daemon, tenantId, { role: 'MEMBER', ...more })
const take = async (of: Person, identityId: string, by: Person) =>
  daemon.call('DELETE', `/api/v1/accounts/${of.accountId}/identities/${identityId}`, {
    token: by.token,
    headers: { 'x-service-step-up': await plantProof(daemon, by) },
  })
const count = async (id: string) => (await daemon.db.sql`select 1 from connected_identity where id = ${id}`).length

test('one of several goes, or one beside a password; the own last way in stays', async () => {
  const id = await provider(home)
  const who = await somebody(home)
  const [first, second] = [await connected(who, id), await connected(who, id)]
  expect((await take(who, first, who)).status).toBe(204)
  expect((await take(who, second, who)).json.code).toBe('account.last_way_in')
  expect(await count(second)).toBe(1)
  await daemon.db.sql`update account set password_hash = 'x' where id = ${who.accountId}`
  expect((await take(who, second, who)).status).toBe(204)
  const entries = await daemon.db.sql`
    select params ->> 'provider_id' as provider_id from audit_entry where action = 'account.disconnected' and subject_id = ${who.accountId}`
  expect([...entries]).toEqual([{ provider_id: id }, { provider_id: id }])
  const mails = await daemon.db.sql`
    select data ->> 'name' as name from pgboss.job where name = 'send_mail' and data ->> 'accountId' = ${who.accountId}`
  expect([...mails], 'whoever takes it away cannot do so unseen').toEqual([
    { name: 'provider_changed' },
    { name: 'provider_changed' },
  ])
})

test('an identity at a provider that is off is no way in', async () => {
  const who = await somebody(home)
  const [on, off] = [await connected(who, await provider(home)), await connected(who, randomUUIDv7())]
  expect((await take(who, on, who)).json.code).toBe('account.last_way_in')
  expect((await take(who, off, who)).status).toBe(204)
})

test("an administrator takes somebody's last one, and of an owner while another owner can sign in", async () => {
  const tenantId = await workspace(daemon, 'ways')
  const id = await provider(tenantId)
  const admin = await somebody(tenantId, { role: 'ADMIN' })
  const who = await somebody(tenantId)
  expect((await take(who, await connected(who, id), admin)).status).toBe(204)
  const [one, other] = [await somebody(tenantId, { role: 'OWNER' }), await somebody(tenantId, { role: 'OWNER' })]
  const [ofOne, ofOther] = [await connected(one, id), await connected(other, id)]
  expect((await take(one, ofOne, admin)).json.code).toBe('auth.role_required')
  expect((await take(one, ofOne, other)).status).toBe(204)
  expect((await take(other, ofOther, one)).json.code).toBe('membership.last_owner')
  expect(await count(ofOther)).toBe(1)
})

test("somebody else's identity, and an unknown one, are not found", async () => {
  const [who, admin] = [await somebody(home), await somebody(home, { role: 'ADMIN' })]
  const identity = await connected(who, await provider(home))
  expect((await take(admin, identity, admin)).status).toBe(404)
  expect((await take(who, randomUUID(), admin)).status).toBe(404)
  expect((await take(who, identity, await somebody(home))).json.code).toBe('auth.role_required')
})
