/** Events and deliveries lie in months, which are made ahead and dropped whole. docs/decisions/0523. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sweepOutbox } from '../../src/core/areas/events/retention.ts'
import { removeBatch } from '../../src/core/areas/tenants/purge/purge-tables.ts'
import { sweepDeliveries } from '../../src/core/areas/webhooks/jobs.ts'
import { openPool } from '../../src/core/kernel/database/pool.ts'
import { asPurgeOf, asTenant } from '../../src/core/kernel/database/roles.ts'
import { dropMonths } from '../../src/core/kernel/transaction/months.ts'
import { lastId } from '../../src/core/kernel/transaction/page.ts'
import { namesIn, numberEvents, pullAll, pulledType, pullPage, system } from '../kit/events.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import {
  deliveryAt,
  eventAt,
  havingMonths,
  idAt,
  longAgo,
  monthly,
  monthsLeft,
  rowsByMonth,
  webhookOf,
} from '../kit/months.ts'
import { visitedByPull } from '../kit/pulled-plan.ts'

let own: TestInstallation
let tenantId: string
let webhookId: string
beforeEach(async () => {
  own = await testInstallation()
  await havingMonths(own)
  tenantId = (await own.provision()).tenant.id
  webhookId = await webhookOf(own.oracle, tenantId)
  await own.oracle`delete from outbox_event where tenant_id = ${tenantId}`
})
afterEach(() => own.close())

const sweep = () => sweepOutbox.run(own.installation, {})
const sweepSent = () => sweepDeliveries.run(own.installation, {})
const rows = (table: (typeof monthly)[number], of = tenantId) => rowsByMonth(own.oracle, table, of)
const noLonger = { finished: '2020-04-01T00:00:00Z' }
const ends = [
  '2020-01-31T23:59:59.999Z',
  '2020-02-01T00:00:00.000Z',
  '2020-02-29T23:59:59.999Z',
  '2020-03-01T00:00:00.000Z',
]

test.each(monthly)('the months of %s are made ahead: this one and the next two', async (table) => {
  const ahead = [0, 1, 2].map((months) => {
    const now = new Date()
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months))
    return `${table}_${month.toISOString().slice(0, 7).replace('-', '_')}`
  })
  for (const name of ahead) await own.oracle.unsafe(`drop table partitions.${name}`)
  await sweepSent()
  const made = await own.oracle<{ name: string; fill: string | null }[]>`
    select relname as name, array_to_string(reloptions, ' ') as fill from pg_class c join pg_inherits on inhrelid = c.oid
    where inhparent = ${table}::regclass and relname !~ '2020|other' order by 1`
  const fill = table === 'delivery' ? 'fillfactor=80' : null
  expect(made).toEqual(ahead.map((name) => ({ name, fill })))
})

describe('a month of events', () => {
  test('is dropped whole once it is past the window, and a cursor of before is gone', async () => {
    for (const moment of ends) await eventAt(own.oracle, tenantId, moment)
    await eventAt(own.oracle, tenantId, new Date().toISOString(), 'now')
    expect(await rows('outbox_event')).toMatchObject({ '2020_01': 1, '2020_02': 2, '2020_03': 1 })
    const first = await pullPage(own.installation, tenantId, { limit: 1 })
    await sweep()
    expect(await monthsLeft(own.oracle, 'outbox_event')).toEqual([])
    await expect(pullPage(own.installation, tenantId, { since: first.next_since })).rejects.toMatchObject({
      code: 'gone',
    })
    expect((await pullAll(own.installation, tenantId)).names).toEqual(['now'])
  })

  test('stays as long as a delivery of any workspace waits for an event of it; its other events go one by one', async () => {
    const other = (await own.provision()).tenant.id
    for (const month of longAgo) await eventAt(own.oracle, tenantId, `${month}-10T00:00:00Z`)
    const awaited = await eventAt(own.oracle, other, '2020-02-10T00:00:00Z')
    const delivery = await deliveryAt(own.oracle, other, '2020-03-10T00:00:00Z', {
      ...{ webhookId: await webhookOf(own.oracle, other), eventId: awaited, finished: null },
    })
    await sweep()
    expect(await monthsLeft(own.oracle, 'outbox_event')).toEqual(['2020_02'])
    expect([await rows('outbox_event'), (await rows('outbox_event', other))['2020_02']]).toEqual([{}, 1])
    expect((await pullPage(own.installation, other)).data).toEqual([])

    await own.oracle`update delivery set status = 'SUCCEEDED', due_at = null, finished_at = now() where id = ${delivery}`
    await sweep()
    expect(await monthsLeft(own.oracle, 'outbox_event')).toEqual([])
  })

  test('stays while it runs, and for a day, whoever asks', async () => {
    await eventAt(own.oracle, tenantId, new Date().toISOString())
    const month = new Date().toISOString().slice(0, 7).replace('-', '_')
    const drop = (name: string) =>
      own.oracle.begin((sql) => [sql`set local role svc_installation`, sql`select drop_month('outbox_event', ${name})`])
    await expect(drop(`outbox_event_${month}`)).rejects.toThrow(/is no month of outbox_event that is over/)
    await expect(drop('outbox_event_other')).rejects.toThrow(/is no month/)
    await expect(drop('delivery_2020_01')).rejects.toThrow(/is no month/)
  })

  test('that turns out to be needed behind the lock is put back', async () => {
    await eventAt(own.oracle, tenantId, '2020-01-10T00:00:00Z')
    const asked: string[] = []
    await dropMonths(own.installation, system, {
      table: 'outbox_event',
      below: lastId,
      isNeeded: async (_, { place }) => asked.push(place) === 2,
    })
    expect(asked.slice(0, 2)).toEqual(['outbox_event_2020_01', 'outbox_event_2020_01'])
    expect(await rows('outbox_event')).toEqual({ '2020_01': 1 })
    expect(await monthsLeft(own.oracle, 'outbox_event')).toEqual(['2020_01'])
  })

  test('waits for whoever uses it no longer than a moment, and is tried again', async () => {
    await eventAt(own.oracle, tenantId, '2020-01-10T00:00:00Z')
    const reading = await own.oracle.reserve()
    await reading`begin`
    await reading`select 1 from outbox_event`
    const began = performance.now()
    await sweep()
    expect(performance.now() - began).toBeGreaterThan(1_000)
    await reading`commit`
    reading.release()
    expect(await monthsLeft(own.oracle, 'outbox_event')).toContain('2020_01')
    await sweep()
    expect(await monthsLeft(own.oracle, 'outbox_event')).toEqual([])
  }, 30_000)
})

describe('a month of deliveries', () => {
  test('is dropped whole once all of them ended before the window', async () => {
    for (const moment of ends) await deliveryAt(own.oracle, tenantId, moment, { webhookId, ...noLonger })
    const kept = await deliveryAt(own.oracle, tenantId, '2020-03-20T00:00:00Z', {
      webhookId,
      finished: new Date().toISOString(),
    })
    const waiting = await deliveryAt(own.oracle, tenantId, '2020-01-20T00:00:00Z', { webhookId, finished: null })
    await sweepSent()
    expect(await monthsLeft(own.oracle, 'delivery')).toEqual(['2020_01', '2020_03'])
    expect((await own.oracle<{ id: string }[]>`select id from delivery order by id`).map(({ id }) => id)).toEqual([
      waiting,
      kept,
    ])

    await own.oracle`update delivery set status = 'SUCCEEDED', due_at = null, finished_at = now() - interval '31 days'`
    await sweepSent()
    expect([await monthsLeft(own.oracle, 'delivery'), await monthsLeft(own.oracle, 'delivery_attempt')]).toEqual([
      [],
      [],
    ])
  })

  test('is not dropped with one that waits, whoever asks, and its partition is closed as before', async () => {
    await deliveryAt(own.oracle, tenantId, '2020-01-20T00:00:00Z', { webhookId, finished: null })
    const [row] = await own.oracle`select drop_month('delivery', 'delivery_2020_01') as is_dropped`
    expect(row).toEqual({ is_dropped: false })
    const [table] =
      await own.oracle`select relforcerowsecurity as is_forced from pg_class where relname = 'delivery_2020_01'`
    expect([table, await rows('delivery')]).toEqual([{ is_forced: true }, { '2020_01': 1 }])
  })
})

test('a pull over the end of months answers each event once, in the order of the workspace', async () => {
  // The numbers run against the ids at the end of each month, as they do where transactions overlap.
  const moments = [ends[1]!, ends[0]!, ends[3]!, ends[2]!, '2020-03-15T00:00:00Z', new Date().toISOString()]
  for (const [at, moment] of moments.entries()) await eventAt(own.oracle, tenantId, moment, String(at))
  for (const limit of [1, 2, 100]) {
    expect((await pullAll(own.installation, tenantId, undefined, limit)).names).toEqual(['0', '1', '2', '3', '4', '5'])
  }
  const third = await pullPage(own.installation, tenantId, { limit: 3 })
  expect(namesIn(await pullPage(own.installation, tenantId, { since: third.next_since }))).toEqual(['3', '4', '5'])
})

test('a pull reads of each month an index in its order, and sorts nothing of what follows', async () => {
  for (const month of longAgo)
    await own.oracle`
      with before as (${numberEvents(own.oracle, tenantId, 3000)})
      insert into outbox_event (tenant_id, id, seq, type, body)
      select ${tenantId}, (substr(${idAt(`${month}-10T00:00:00Z`)}, 1, 14) || substr(gen_random_uuid()::text, 15))::uuid, last + n, ${pulledType}, '{"data":{"name":"x"}}'
      from before, generate_series(1, 3000) n`
  await own.oracle`vacuum analyze outbox_event`
  const since = (await pullPage(own.installation, tenantId, { limit: 100 })).next_since
  const middle = (await pullAll(own.installation, tenantId, since, 100)).next
  for (const role of ['ADMIN', 'OWNER'] as const) {
    // The page, and the first event of each further month: their order decides which month is next.
    expect(await visitedByPull(own, tenantId, since, role)).toEqual({
      unordered: [],
      rows: 11 + 2,
      filtered: 0,
      sorted: [],
    })
    expect(await visitedByPull(own, tenantId, middle, role)).toEqual({
      unordered: [],
      rows: 0,
      filtered: 0,
      sorted: [],
    })
  }
})

test.each([
  ['outbox_event', eventAt],
  ['delivery', (sql, of, moment) => deliveryAt(sql, of, moment, { webhookId, ...noLonger })],
] as const satisfies readonly (readonly [string, typeof eventAt])[])(
  'a purge removes of %s as many rows as it says, although each month has places of its own',
  async (name, write) => {
    for (const month of longAgo) await write(own.oracle, tenantId, `${month}-15T00:00:00Z`)
    const other = (await own.provision()).tenant.id
    await write(own.oracle, other, '2020-02-15T00:00:00Z')
    const pool = openPool(own.daemon, { size: 1, applicationName: 'months' })
    const table = { name, key: ['id'], parent: undefined, isPartitioned: true }
    const remove = () =>
      pool.transaction(asPurgeOf(tenantId), (tx) =>
        removeBatch(tx, table, tenantId, 2, { after: undefined, upto: undefined }),
      )
    expect([(await remove()).length, await rows(name)]).toEqual([2, { '2020_03': 1 }])
    expect([(await remove()).length, await rows(name)]).toEqual([1, {}])
    await pool.close()
    expect((await rows(name, other))['2020_02']).toBe(1)
  },
)

test('months are made and dropped by the installation alone, and read by their names by nobody', async () => {
  await eventAt(own.oracle, tenantId, '2020-01-10T00:00:00Z')
  const asWorkspace = (statement: string) =>
    own.oracle.begin(async (sql) => {
      await sql.unsafe(asTenant(tenantId))
      return sql.unsafe(statement)
    })
  for (const call of ['make_months()', "drop_month('outbox_event', 'outbox_event_2020_01')"])
    await expect(asWorkspace(`select ${call}`)).rejects.toThrow(/permission denied for function/)
  for (const table of monthly)
    await expect(asWorkspace(`select 1 from partitions.${table}_2020_01`)).rejects.toThrow(
      /permission denied for schema/,
    )
})
