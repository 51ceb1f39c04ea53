/** Refusals whose rules are tested without a daemon, or at another operation, are what a client sees at each one that declares them. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { openParty, type Party } from '../groups/party.ts'
import type { Answered } from '../kit/daemon.ts'
import { type Person, person, workspace } from '../kit/people.ts'
import { plantProof } from '../kit/proofs.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'
import { eventType, type Subscribed, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

const codeOf = ({ status, json }: Answered) => [status, json?.code]

describe('of an operator', () => {
  let both: TwoWays
  beforeAll(async () => {
    both = await twoWays()
  })
  afterAll(() => both.close())

  test('an export beyond the quota, and of a workspace whose deletion has begun', async () => {
    const { id: target_id } = await both.call('recovery', operations.createBackupTarget, {
      body: { name: 'disk', kind: 'LOCAL', config: { path: 'archives' } },
    })
    const tenantId = await workspace(both.daemon, 'exported')
    await both.sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'export_jobs', 1)`
    const ask = () => both.ask(operations.exportTenant, { tenantId, body: { target_id } })
    expect((await ask()).status).toBe(202)
    expect(codeOf(await ask())).toEqual([409, 'quota.exceeded'])
    await both.sql`update tenant set purge_started_at = now() where id = ${tenantId}`
    expect(codeOf(await ask())).toEqual([409, 'admin.tenant_deletion_underway'])
  })

  test.each(['/backups', '/admin/tenants', '/admin/journal'])('a cursor of another list at %s', async (path) => {
    const answer = await both.daemon.call('GET', `/api/v1${path}?cursor=x`, { token: both.operator.token })
    expect(codeOf(answer)).toEqual([400, 'cursor.invalid'])
  })
})

describe('of the people of a workspace', () => {
  let party: Party
  beforeAll(async () => {
    party = await openParty()
  })
  afterAll(() => party.close())

  const proven = async (who: Person, path: string, body?: object) =>
    party.daemon.call('POST', `/api/v1${path}`, {
      token: who.token,
      ...(body ? { body } : {}),
      headers: { 'x-service-step-up': await plantProof(party.daemon.db.sql, who) },
    })

  test.each(['GET /retention/runs', 'GET /tenant/accounts-without-provider'] as const)(
    '%s with a cursor of another list',
    async (asked) => {
      expect(codeOf(await party.ask(`${asked}?cursor=x`))).toEqual([400, 'cursor.invalid'])
    },
  )

  test('the members of a group with a cursor of another list', async () => {
    const { id } = await party.group()
    expect(codeOf(await party.ask(`GET /groups/${id}/members?cursor=x`))).toEqual([400, 'cursor.invalid'])
  })

  test('a service account has no second factor', async () => {
    const robot = await person(party.daemon, party.tenantId, { kind: 'SERVICE', role: 'ADMIN' })
    expect(codeOf(await proven(robot, '/auth/mfa/totp:enroll'))).toEqual([409, 'auth.second_factor_person'])
  })

  test('whoever is no operator makes no service account for the installation', async () => {
    const body = { name: 'A robot', role: 'ADMIN', scopes: ['admin:tenants'] }
    const answer = await proven(party.people.ADMIN, '/auth/service-accounts', body)
    expect(codeOf(answer)).toEqual([403, 'admin.operator_required'])
  })

  test('nobody is invited into a group that a provider fills, or that is full', async () => {
    const { sql } = party.daemon.db
    const [bound, full] = [await party.group(), await party.group()]
    await sql`update account_group set binding_provider_id = ${randomUUIDv7()}, binding_value = 'x' where id = ${bound.id}`
    await sql`update account_group set member_count = 10000 where id = ${full.id}`
    const invite = (groupId: string) =>
      party.ask('POST /accounts:invite', {
        email: `${randomUUIDv7()}@new.example`,
        role: 'MEMBER',
        group_ids: [groupId],
      })
    expect(codeOf(await invite(bound.id))).toEqual([409, 'group.bound'])
    expect(codeOf(await invite(full.id))).toEqual([409, 'structure.full'])
    expect(await sql`select from account where tenant_id = ${party.tenantId} and state = 'INVITED'`).toHaveLength(0)
  })

  test('the last operator stays in the group that lets him in', async () => {
    const { sql } = party.daemon.db
    const last = await person(party.daemon, party.tenantId, { role: 'ADMIN' })
    const group = await party.group([last])
    await party.give(group, 'ADMIN')
    await party.strip(last)
    await sql`delete from operator`
    await sql`insert into operator (account_id, workspace_id) values (${last.accountId}, ${party.tenantId})`
    expect(codeOf(await party.remove(group, last, last))).toEqual([409, 'admin.operator_last'])
    expect((await party.me(last)).role).toBe('ADMIN')
  })
})

describe('of an integration', () => {
  let world: WebhookWorld
  beforeAll(async () => {
    world = await webhookWorld({}, { dispatches: false })
  })
  afterAll(() => world.close())

  const list = ({ id }: Subscribed, query: string) =>
    world.call('GET', `/integrations/webhooks/${id}/deliveries?${query}`)
  const pull = (query: string) => world.call('GET', `/integrations/triggers/${eventType}?${query}`)
  /** A webhook with so many deliveries that nobody sends. */
  const subscribed = async (count: number) => {
    const webhook = await world.subscribe('http://127.0.0.1:9/in')
    await world.emit(webhook.tenantId, count)
    return webhook
  }

  test('no filter is put on a webhook', async () => {
    const { id } = await subscribed(0)
    const answer = await world.call('PATCH', `/integrations/webhooks/${id}`, { filter: 'data.id = 1' })
    expect(codeOf(answer)).toEqual([422, 'webhook.filter_unsupported'])
  })

  test('a cursor of another list, and one from before a recovery', async () => {
    const webhook = await subscribed(2)
    expect(codeOf(await list(webhook, 'cursor=x'))).toEqual([400, 'cursor.invalid'])
    expect(codeOf(await pull('since=x'))).toEqual([400, 'cursor.invalid'])
    const { next_cursor: cursor } = (await list(webhook, 'size=1')).json
    const { next_since: since } = (await pull('limit=1')).json
    await world.sql`update installation set epoch = gen_random_uuid()`
    expect(codeOf(await list(webhook, `size=1&cursor=${cursor}`))).toEqual([410, 'gone'])
    expect(codeOf(await pull(`since=${since}`))).toEqual([410, 'gone'])
  })

  test('an event that is kept no longer is not delivered again', async () => {
    const webhook = await subscribed(1)
    const [delivery] = await world.deliveries(webhook)
    await world.sql`update delivery set status = 'DEAD_LETTER', due_at = null, finished_at = now() where id = ${delivery!.id}`
    await world.sql`delete from outbox_event where id = ${delivery!.event_id}`
    const replayed = await world.call('POST', `/integrations/webhooks/${webhook.id}/deliveries/${delivery!.id}:replay`)
    expect(codeOf(replayed)).toEqual([410, 'webhook.event_gone'])
  })
})
