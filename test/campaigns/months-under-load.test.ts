/**
 * Events and deliveries get their months while the installation serves: no request fails, no event is lost, and a month is
 * dropped at once, however many rows it has. docs/decisions/0523.
 *
 *     SVC_FAULTS=full vitest run test/campaigns/months-under-load.test.ts    10 million events and 1 million deliveries
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { queueNames } from '../../src/core/app/jobs.ts'
import { sweepOutbox } from '../../src/core/areas/events/retention.ts'
import { migrate } from '../../src/core/kernel/database/migrate.ts'
import { eventHubId, pulledType } from '../kit/events.ts'
import { asOwner, beforeMonths, monthMigrations } from '../kit/months.ts'
import { type Receiver, receiver } from '../kit/receiver.ts'
import { type Subscribed, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const events = isFull ? 10_000_000 : 20_000
const deliveries = events / 10
const portion = Math.min(events, 500_000)
const tables = ['delivery', 'outbox_event'] as const

let world: WebhookWorld
let target: Receiver
let webhook: Subscribed
beforeAll(async () => {
  world = await webhookWorld()
  target = await receiver()
  await beforeMonths(world.daemon.db.owner)
  webhook = await world.subscribe(target.url)
  await world.emit(world.home.tenantId)
  await fill()
}, 3_600_000)
afterAll(async () => {
  await world.close()
  await target.close()
})

/** Events of 100 days that were all sent, and deliveries of every tenth. No foreign key is looked at: that would take as long again. */
async function fill(): Promise<void> {
  const { tenantId } = world.home
  for (let from = 0; from < events; from += portion) {
    const ago = `n * interval '100 days' / ${events}`
    await world.sql.begin(async (sql) => {
      await sql.unsafe('set local session_replication_role = replica')
      await sql.unsafe(`
        insert into outbox_event (tenant_id, id, seq, type, body, container_id)
        select '${tenantId}', (substr(first::text, 1, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid, n, '${pulledType}',
               '{"data":{"name":"' || n || '"},"text":"' || repeat('x', 200) || '"}', '${eventHubId}'
        from generate_series(${from + 1}, ${from + portion}) n, first_id_at(now() - interval '170 days' + ${ago}) first`)
      await sql.unsafe(`
        insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause, status, due_at, finished_at)
        select '${tenantId}', (substr(first::text, 1, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid, '${webhook.id}', gen_random_uuid(),
               '${pulledType}', 'EVENT', 'SUCCEEDED', null, now() - interval '60 days'
        from generate_series(${from + 1}, ${from + portion}, 10) n, first_id_at(now() - interval '170 days' + ${ago}) first`)
    })
  }
  await world.sql`update outbox_counter set last = last + ${events}`
  await world.sql`vacuum analyze outbox_event, delivery`
}

interface Load {
  readonly requests: number
  readonly failed: readonly string[]
  readonly longestMs: number
}

/** Writes, pulls and lists through the API until the work has ended. */
async function underLoad(work: () => Promise<void>): Promise<Load> {
  let [requests, longestMs, isOver] = [0, 0, false]
  const failed: string[] = []
  const call = async (...[method, path, body]: Parameters<WebhookWorld['call']>) => {
    const began = performance.now()
    const { status, text, json } = await world.call(method, path, body)
    longestMs = Math.max(longestMs, performance.now() - began)
    requests += 1
    if (status >= 400) failed.push(`${method} ${path}: ${status} ${text}`)
    return json
  }
  const name = Date.now()
  const writer = async (nth: number) => {
    for (let turn = 0; !isOver; turn += 1) {
      const label = await call('POST', `/containers/${eventHubId}/labels`, {
        name: `${name}-${nth}-${turn}`,
        color_token: 'red',
      })
      if (label?.id) await call('DELETE', `/containers/${eventHubId}/labels/${label.id}`)
    }
  }
  const puller = async () => {
    let since = ''
    while (!isOver)
      since = `&since=${(await call('GET', `/integrations/triggers/${pulledType}?limit=50${since}`)).next_since}`
  }
  const lister = async () => {
    while (!isOver) await call('GET', `/integrations/webhooks/${webhook.id}/deliveries`)
  }
  const load = [writer(0), writer(1), puller(), lister()]
  await pause(500)
  await work().finally(() => {
    isOver = true
  })
  await Promise.all(load)
  return { requests, failed, longestMs: Math.round(longestMs) }
}

const took = async (work: () => Promise<unknown>) => {
  const began = performance.now()
  await work()
  return Math.round(performance.now() - began)
}

test(`${events} events and ${deliveries} deliveries get their months under load, and are dropped by them`, async () => {
  const { owner, daemon } = world.daemon.db
  const file = async (table: string) =>
    (await world.sql<{ file: number }[]>`select pg_relation_filenode(${table}::regclass) as file`)[0]!.file
  const files = await Promise.all(tables.map(file))
  let migratedMs = 0
  const migrated = await underLoad(async () => {
    migratedMs = await took(async () => expect(await migrate(owner, daemon, queueNames)).toEqual(monthMigrations))
    await pause(500)
  })
  process.stdout.write(
    `migrated in ${migratedMs} ms: ${JSON.stringify({ ...migrated, failed: migrated.failed.length })}\n`,
  )
  expect(migrated.failed).toEqual([])
  expect(await Promise.all(tables.map((table) => file(`partitions.${table}_before`)))).toEqual(files)
  // What was written meanwhile has arrived.
  await world.until('all is sent', async () => {
    const [row] = await world.sql<
      { waiting: number }[]
    >`select count(*)::int as waiting from delivery where finished_at is null`
    return row!.waiting === 0
  })

  const rows = await leaveAMonth()
  const dropMs: Record<string, number> = {}
  const dropped = await underLoad(async () => {
    for (const table of tables)
      dropMs[table] = await took(() =>
        world.until(`${table} is dropped`, async () => {
          const [row] = await world.sql`select drop_month(${table}, ${monthOf(table)}) as is_dropped`
          return row?.['is_dropped'] === true
        }),
      )
    await sweepOutbox.run(world.installation, {})
    await pause(500)
  })
  process.stdout.write(`dropped: ${JSON.stringify({ rows, dropMs, ...dropped, failed: dropped.failed.length })}\n`)
  expect(dropped.failed).toEqual([])
  if (isFull) for (const ms of Object.values(dropMs)) expect(ms).toBeLessThanOrEqual(1_000)
}, 3_600_000)

/** Leaves a month of all that is old, in a partition of its own, and what came in the last days. Answers its rows. */
async function leaveAMonth(): Promise<Record<string, number>> {
  const rows: Record<string, number> = {}
  const [first, end] = [170, 140].map((days) => `first_id_at(now() - interval '${days} days')`)
  for (const table of tables) {
    const before = `partitions.${table}_before`
    await world.sql.begin(async (sql) => {
      await sql.unsafe(`
        set local session_replication_role = replica;
        alter table ${table} detach partition ${before};
        create temporary table newer on commit drop as select * from ${before} where id >= first_id_at(now() - interval '31 days');
        create table partitions.${monthOf(table)} partition of ${table} for values from (${first}) to (${end});
        alter table partitions.${monthOf(table)} owner to svc_owner;
        alter table partitions.${monthOf(table)} enable row level security, force row level security;
        insert into ${table} select * from ${before} where id >= ${first} and id < ${end};
        drop table ${before};
        insert into ${table} select * from newer`)
      const [month] = await sql.unsafe(`select count(*)::int as rows from partitions.${monthOf(table)}`)
      rows[table] = month?.['rows']
    })
  }
  await asOwner(world.daemon.db.owner, 'select make_months()')
  return rows
}

const monthOf = (table: string) => `${table}_long_ago`
