/**
 * Sight of events against `GET /containers`: whatever happens to containers, privacy, groups and memberships, an event is
 * delivered to the webhooks of exactly the accounts that are shown its container, and pulled by exactly these. 400
 * steps with SVC_FAULTS=full. Decisions 7, Sight of events; decisions 0101, 0155, 0156.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Role } from '../../src/core/contract/vocabulary.ts'
import { system } from '../kit/events.ts'
import { type Person, person } from '../kit/people.ts'
import { eventType, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

const steps = process.env['SVC_FAULTS'] === 'full' ? 400 : 40

let world: WebhookWorld
beforeAll(async () => {
  world = await webhookWorld({}, { dispatches: false })
})
afterAll(() => world.close())

let seed = 20261122
const lot = (below: number) => {
  seed = (seed * 48271) % 2147483647
  return seed % below
}
const oneOf = <T>(list: readonly T[]): T => list[lot(list.length)] as T

/** Somebody, and the webhook that acts for them. */
interface Subscriber {
  readonly who: Person
  readonly hookId: string
  readonly mayPull: boolean
}

async function subscribers(tenantId: string): Promise<Subscriber[]> {
  const roles: readonly (Role | null)[] = ['OWNER', 'ADMIN', 'ADMIN', 'MEMBER', 'VIEWER', null, null]
  return Promise.all(
    roles.map(async (role) => {
      const who = await person(world.daemon, tenantId, { role: role ?? 'VIEWER', expires: "now() + interval '1 day'" })
      if (role === null)
        await world.sql`delete from membership where account_id = ${who.accountId} and container_id is null`
      const hookId = randomUUIDv7()
      await world.sql`
        insert into webhook (tenant_id, id, target_url, host, event_types, acts_for)
        values (${tenantId}, ${hookId}, 'http://127.0.0.1:9/', '127.0.0.1:9', ${world.sql.json([eventType])}, ${who.accountId})`
      return { who, hookId, mayPull: role === 'OWNER' || role === 'ADMIN' }
    }),
  )
}

/** The containers that somebody is shown, deleted ones too. */
async function shownTo({ who }: Subscriber): Promise<Set<string>> {
  const lists = await Promise.all(
    ['', '&state=DELETED'].map((state) =>
      world.call('GET', `/containers?size=200${state}`, undefined, { token: who.token }),
    ),
  )
  return new Set(
    lists.flatMap(({ status, json }) => (status === 200 ? json.data.map(({ id }: { id: string }) => id) : [])),
  )
}

async function pulledBy({ who }: Subscriber): Promise<Set<string>> {
  const found = new Set<string>()
  for (let since = '', more = true; more; ) {
    const path = `/integrations/triggers/${eventType}?limit=7${since}`
    const { json } = await world.call('GET', path, undefined, { token: who.token })
    for (const { id } of json.data) found.add(id)
    since = `&since=${json.next_since}`
    more = json.has_more
  }
  return found
}

test(`${steps} steps`, { timeout: 600_000 }, async () => {
  const { sql } = world
  const { tenantId } = world.home
  const all = await subscribers(tenantId)
  const hubs = Array.from({ length: 4 }, () => randomUUIDv7())
  const collections = Array.from({ length: 8 }, () => randomUUIDv7())
  for (const id of hubs)
    await sql`insert into container (tenant_id, id, kind, name, rank) values (${tenantId}, ${id}, 'HUB', 'h', ${id})`
  for (const id of collections)
    await sql`
      insert into container (tenant_id, id, kind, parent_id, name, rank) values (${tenantId}, ${id}, 'COLLECTION', ${oneOf(hubs)}, 'c', ${id})`
  const containers = [...hubs, ...collections]
  const groups = Array.from({ length: 3 }, () => randomUUIDv7())
  for (const id of groups)
    await sql`insert into account_group (tenant_id, id, name, name_fold) values (${tenantId}, ${id}, ${id}, ${id})`
  const joins = (accountId: string, groupId: string) =>
    sql.begin(async (tx) => {
      const { count } = await tx`delete from group_member where account_id = ${accountId} and group_id = ${groupId}`
      if (count === 0)
        await tx`insert into group_member (tenant_id, group_id, account_id) values (${tenantId}, ${groupId}, ${accountId})`
      await tx`
        update account set group_ids = array(select group_id from group_member where account_id = ${accountId}) where id = ${accountId}`
    })
  await sql`truncate outbox_event` // what the first board was made of

  const acts: readonly (() => Promise<unknown>)[] = [
    () => sql`update container set is_private = not is_private where id = ${oneOf(containers)}`,
    () => sql`update container set is_private = not is_private where id = ${oneOf(containers)}`,
    () => sql`update container set parent_id = ${oneOf(hubs)} where id = ${oneOf(collections)}`,
    () =>
      sql`update container set deleted_at = case when deleted_at is null then now() end where id = ${oneOf(collections)}`,
    () => sql`
      insert into membership (tenant_id, id, account_id, container_id, role)
      values (${tenantId}, ${randomUUIDv7()}, ${oneOf(all).who.accountId}, ${oneOf(containers)}, 'VIEWER') on conflict do nothing`,
    () =>
      sql`delete from membership where account_id = ${oneOf(all).who.accountId} and container_id = ${oneOf(containers)}`,
    () => joins(oneOf(all).who.accountId, oneOf(groups)),
    () => sql`
      insert into membership (tenant_id, id, group_id, container_id, role)
      values (${tenantId}, ${randomUUIDv7()}, ${oneOf(groups)}, ${oneOf(containers)}, 'VIEWER') on conflict do nothing`,
    () => sql`delete from membership where group_id = ${oneOf(groups)} and container_id = ${oneOf(containers)}`,
  ]
  const events = new Map<string, string>()
  let told = 0
  for (let step = 0; step < steps; step += 1) {
    for (let n = 0; n < 3; n += 1) await oneOf(acts)()
    const container_id = oneOf(containers)
    const shown = await Promise.all(all.map(shownTo))
    const label = { id: randomUUIDv7(), container_id, name: `${step}`, color_token: 'red' }
    await world.installation.transaction(system, { tenantId }, (ctx) =>
      ctx.emit({ name: 'work.label.created', data: label }),
    )
    const [event] = await sql<{ id: string }[]>`select id from outbox_event order by tx desc, seq desc limit 1`
    events.set(event!.id, container_id)

    const delivered = await sql<{ webhook_id: string }[]>`select webhook_id from delivery where event_id = ${event!.id}`
    const [row] = await sql`
      select c.is_private, h.is_private as in_private from container c left join container h on h.id = c.parent_id where c.id = ${container_id}`
    const isPrivate = row?.['is_private'] || row?.['in_private']
    const expected = all.filter((_, at) => !isPrivate || shown[at]!.has(container_id)).map(({ hookId }) => hookId)
    expect(new Set(delivered.map(({ webhook_id }) => webhook_id)), `step ${step}`).toEqual(new Set(expected))
    told += delivered.length

    if (step % 5 !== 4) continue
    for (const [at, one] of all.entries()) {
      if (!one.mayPull) continue
      const seen = [...events].filter(([, container]) => shown[at]!.has(container)).map(([id]) => id)
      expect(await pulledBy(one), `step ${step}, ${at}`).toEqual(new Set(seen))
    }
  }
  expect(told).toBeLessThan(steps * all.length)
})
