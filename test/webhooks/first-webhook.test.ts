/** A workspace without webhooks writes its events without looking for any (docs/decisions/0184), and loses none by that. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventType, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

let world: WebhookWorld
let labels: string
beforeAll(async () => {
  world = await webhookWorld({}, { dispatches: false })
  const [collection] = await world.sql`
    select id from container where tenant_id = ${world.home.tenantId} and kind = 'COLLECTION'`
  labels = `/containers/${collection?.['id']}/labels`
})
afterAll(() => world.close())

const addLabel = (name: string) => world.call('POST', labels, { name, color_token: 'red' })
const addWebhook = () =>
  world.call('POST', '/integrations/webhooks', { target_url: 'http://127.0.0.1:9/in', event_types: [eventType] })

async function untilWaiting(count: number): Promise<void> {
  await world.until(`${count} wait for a lock`, async () => {
    const rows = await world.sql`
      select 1 from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`
    return rows.length === count
  })
}

/** The names of labels whose creation was told, and of those that have a delivery. */
async function told(): Promise<{ events: string[]; deliveries: string[] }> {
  const rows = await world.sql<{ name: string; deliveries: number }[]>`
    select e.body::jsonb #>> '{data,name}' as name, (select count(*)::int from delivery d where d.event_id = e.id) as deliveries
    from outbox_event e where e.tenant_id = ${world.home.tenantId} and e.type = ${eventType} order by e.tx, e.seq`
  return {
    events: rows.map(({ name }) => name),
    deliveries: rows.filter(({ deliveries }) => deliveries > 0).map(({ name }) => name),
  }
}

test('the first webhook is made after the changes that found none, and gets every later event', async () => {
  expect((await addLabel('before')).status).toBe(201) // from here on the daemon knows the token
  const { events: known } = await told()

  const other = await world.sql.reserve()
  try {
    await other`begin`
    await other`select 1 from container where tenant_id = ${world.home.tenantId} for update`
    const changing = addLabel('under way')
    await untilWaiting(1)
    let isMade = false
    const making = addWebhook().finally(() => {
      isMade = true
    })
    await untilWaiting(2)
    expect(isMade).toBe(false)
    const late = addLabel('later')
    await untilWaiting(3)
    await other`rollback`
    expect((await Promise.all([changing, making, late])).map(({ status }) => status)).toEqual([201, 201, 201])
  } finally {
    await other`rollback`
    other.release()
  }
  expect(await told()).toEqual({ events: [...known, 'under way', 'later'], deliveries: ['later'] })
})
