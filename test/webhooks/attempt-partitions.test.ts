/** Attempts lie in a partition for each month, which is dropped whole. docs/decisions/0321. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { removeBatch } from '../../src/core/areas/tenants/purge/purge-tables.ts'
import { sweepDeliveries } from '../../src/core/areas/webhooks/jobs.ts'
import { withClient } from '../../src/core/kernel/database/client.ts'
import { migrationFolder } from '../../src/core/kernel/database/migration-names.ts'
import { openPool } from '../../src/core/kernel/database/pool.ts'
import { asInstallation, asPurgeOf, asTenant } from '../../src/core/kernel/database/roles.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
let tenantId: string
beforeEach(async () => {
  own = await testInstallation()
  tenantId = (await own.provision()).tenant.id
})
afterEach(() => own.close())

const asOwner = (...statements: string[]) =>
  withClient(own.owner, async (client) => {
    for (const statement of statements) await client.query(statement)
  })

/** The id of a delivery that was made at that moment. */
async function idAt(moment: string): Promise<string> {
  const [row] = await own.oracle<[{ id: string }]>`
    select (substr(first_id_at(${moment}::timestamptz)::text, 1, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid as id`
  return row.id
}

const attempt = (of: string, n = 1, tenant = tenantId) => own.oracle`
  insert into delivery_attempt (tenant_id, delivery_id, n, at, host, body) values (${tenant}, ${of}, ${n}, now(), 'hooks.example', 'thanks')`

const ended = (id: string, webhookId: string = randomUUID()) => own.oracle`
  insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause, status, due_at, finished_at)
  values (${tenantId}, ${id}, ${webhookId}, ${id}, 'svc.work.label.created.v1', 'EVENT', 'SUCCEEDED', null, now())`

/** Where each attempt lies, in the order of its delivery. */
const places = async () =>
  (
    await own.oracle<{ place: string }[]>`
    select tableoid::regclass::text as place from delivery_attempt order by delivery_id`
  ).map(({ place }) => place.replace('partitions.delivery_attempt_', ''))

/** Partitions of long ago, where the one of before was. */
const longAgo = ['2020-01', '2020-02', '2020-03']
async function havingMonths(): Promise<void> {
  const made = longAgo.map((month, at) => {
    const [from, to] = [month, ['2020-02', '2020-03', '2020-04'][at]].map((one) => `first_id_at('${one}-01T00:00:00Z')`)
    return `create table partitions.delivery_attempt_${month.replace('-', '_')} partition of delivery_attempt for values from (${from}) to (${to})`
  })
  await asOwner('drop table partitions.delivery_attempt_before', ...made, 'select make_months()')
}

const sweep = () => sweepDeliveries.run(own.installation, {})

describe('a month of attempts', () => {
  beforeEach(havingMonths)

  test('is made ahead: this one and the next two', async () => {
    await sweep()
    const [row] = await own.oracle<[{ made: string[]; wanted: string[] }]>`
      select array(select 'delivery_attempt_' || to_char((now() at time zone 'UTC') + make_interval(months => ahead), 'YYYY_MM')
                   from generate_series(0, 2) ahead order by 1) as wanted,
             array(select relname::text from pg_class where relnamespace = 'partitions'::regnamespace and relkind = 'r'
                   and relname ~ '^delivery_attempt_\\d{4}_\\d\\d$' and relname !~ '_2020_' order by 1) as made`
    expect(row.made).toEqual(row.wanted)
  })

  test('has the attempts of deliveries that were made in it, from its first millisecond to its last', async () => {
    const moments = [
      '2020-01-01T00:00:00.000Z',
      '2020-01-31T23:59:59.999Z',
      '2020-02-01T00:00:00.000Z',
      '2020-03-31T23:59:59.999Z',
    ]
    for (const moment of moments) await attempt(await idAt(moment))
    expect(await places()).toEqual(['2020_01', '2020_01', '2020_02', '2020_03'])
  })

  test('is dropped once no workspace has a delivery of it, nor of a month before it', async () => {
    for (const month of longAgo) await attempt(await idAt(`${month}-15T00:00:00Z`))
    const other = await own.provision()
    const waiting = await idAt('2020-02-20T00:00:00Z')
    await attempt(waiting, 1, other.tenant.id)
    await own.oracle`
      insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause)
      values (${other.tenant.id}, ${waiting}, ${await webhookOf(other.tenant.id)}, ${waiting}, 'svc.work.label.created.v1', 'EVENT')`
    await sweep()
    expect(await places()).toEqual(['2020_02', '2020_02', '2020_03'])

    await own.oracle`delete from delivery where id = ${waiting}`
    await sweep()
    expect(await places()).toEqual([])
    expect(await own.oracle`select 1 from pg_class where relname ~ '^delivery_attempt_2020' and relkind = 'r'`).toEqual(
      [],
    )
  })

  test('stays while it runs, whoever asks, and as long as a delivery of it is kept', async () => {
    await attempt(await idAt(new Date().toISOString()))
    const kept = await idAt('2020-03-02T00:00:00Z')
    await attempt(kept)
    await ended(kept, await webhookOf(tenantId))
    await sweep()
    expect(await places()).toHaveLength(2)
    await own.oracle`select drop_attempts('ffffffff-ffff-ffff-ffff-ffffffffffff')`
    expect(await places()).toEqual([new Date().toISOString().slice(0, 7).replace('-', '_')])
  })

  test('does not keep the attempts of a removed webhook', async () => {
    const id = await idAt('2020-03-02T00:00:00Z')
    await attempt(id)
    await ended(id)
    const held = await idAt('2020-01-02T00:00:00Z')
    await attempt(held)
    await ended(held, await webhookOf(tenantId))
    await sweep()
    expect(await places()).toEqual(['2020_01'])
  })

  test('that was not made lacks nothing: its attempts lie with the rest, and it is not made behind them', async () => {
    const far = new Date(Date.now() + 400 * 86_400_000)
    const id = await idAt(far.toISOString())
    await attempt(id)
    expect(await places()).toEqual(['other'])
    const nextMonth = await idAt(new Date(Date.now() + 31 * 86_400_000).toISOString())
    const name = (
      await own.oracle<[{ name: string }]>`
      select 'partitions.delivery_attempt_' || to_char((now() + interval '31 days') at time zone 'UTC', 'YYYY_MM') as name`
    )[0].name
    await asOwner(`drop table ${name}`)
    await attempt(nextMonth)
    await sweep()
    expect(await places()).toEqual(['other', 'other'])
  })
})

/** A webhook that is there. */
async function webhookOf(tenant: string): Promise<string> {
  const id = randomUUID()
  await own.oracle`
    insert into webhook (tenant_id, id, target_url, host, event_types) values (${tenant}, ${id}, 'https://hooks.example/', 'hooks.example', '[]')`
  return id
}

test('a purge removes as many attempts as it says, although each partition has places of its own', async () => {
  await havingMonths()
  for (const month of longAgo) await attempt(await idAt(`${month}-15T00:00:00Z`))
  const pool = openPool(own.daemon, { size: 1, applicationName: 'attempt-partitions' })
  const table = { name: 'delivery_attempt', key: ['delivery_id', 'n'], parent: undefined, isPartitioned: true }
  const gone = await pool.transaction(asPurgeOf(tenantId), (tx) =>
    removeBatch(tx, table, tenantId, 2, { after: undefined, upto: undefined }),
  )
  await pool.close()
  expect(gone).toHaveLength(2)
  expect(await places()).toEqual(['2020_03'])
})

describe('a partition', () => {
  const asRole = (opening: string, statement: string) =>
    own.oracle.begin(async (sql) => {
      await sql.unsafe(opening)
      return sql.unsafe(statement)
    })

  test.each([
    ['a workspace', () => asTenant(tenantId)],
    ['the installation', () => asInstallation],
    ['a purge', () => asPurgeOf(tenantId)],
  ])('cannot be read by its name: as %s', async (_, opening) => {
    await attempt(await idAt(new Date().toISOString()))
    for (const name of ['before', 'other'])
      await expect(asRole(opening(), `select 1 from partitions.delivery_attempt_${name}`)).rejects.toThrow(
        /permission denied for schema partitions/,
      )
  })

  test('shows its owner nothing', async () => {
    await attempt(await idAt(new Date().toISOString()))
    expect(await places()).toEqual(['before'])
    const rows = await withClient(own.owner, (client) =>
      client.query('select 1 from partitions.delivery_attempt_before'),
    )
    expect(rows.rowCount).toBe(0)
  })

  test('is neither made nor dropped by a workspace', async () => {
    for (const call of ['make_attempt_partitions()', "drop_attempts('ffffffff-ffff-ffff-ffff-ffffffffffff')"])
      await expect(asRole(asTenant(tenantId), `select ${call}`)).rejects.toThrow(/permission denied for function/)
  })
})

describe('an installation of before', () => {
  const textOf = (name: string) => readFileSync(join(migrationFolder, name), 'utf8')
  const [definition = ''] = /create table delivery_attempt \([\s\S]*?\n\);/.exec(textOf('0022_webhook.sql')) ?? []
  const before = [
    `drop table delivery_attempt; drop function
       make_attempt_partitions(), drop_attempts(uuid), make_months(), months_over(text, uuid), drop_month(text, text), first_id_at(timestamptz)`,
    definition,
    "create index delivery_attempt_in_time on delivery_attempt using brin (ended_at); select workspace_table('delivery_attempt')",
    'create policy installation on delivery_attempt to svc_installation using (true) with check (true)',
    'grant select (tenant_id, delivery_id, n, at, ended_at, host, duration_ms, status, error, trace) on delivery_attempt to svc_installation',
  ]
  const steps = ['0100_attempts_of_before.sql', '0101_attempts_below_the_bound.sql', '0102_attempts_by_month.sql']

  test('is migrated while attempts are written and read, and no row moves', async () => {
    await asOwner(...before)
    await own.oracle`
      insert into delivery_attempt (tenant_id, delivery_id, n, at, host)
      select ${tenantId}, new_id(), 1, now(), 'hooks.example' from generate_series(1, 20000)`
    const file = async (table: string) =>
      (await own.oracle<[{ file: number }]>`select pg_relation_filenode(${table}::regclass) as file`)[0].file
    const filed = await file('delivery_attempt')

    const pool = openPool(own.daemon, { size: 4, applicationName: 'attempt-partitions' })
    let written = 0
    let isOver = false
    const write = async () => {
      while (!isOver) {
        const read = await pool.transaction(asTenant(tenantId), async (tx) => {
          const id = randomUUID().replace(/^.{15}/, '019ac000-0000-7')
          await tx`insert into delivery_attempt (tenant_id, delivery_id, n, at, host) values (${tenantId}, ${id}, 1, now(), 'hooks.example')`
          return tx<
            { n: number }[]
          >`select n from delivery_attempt where tenant_id = ${tenantId} and delivery_id = ${id}`
        })
        expect(read).toHaveLength(1)
        written += 1
      }
    }
    const writers = Promise.all([write(), write(), write()])
    const until = async (more: number) => {
      for (const target = written + more; written < target; ) await new Promise((done) => setTimeout(done, 2))
    }
    await until(50)
    await withClient(own.owner, async (client: Client) => {
      for (const step of steps) {
        await client.query(`begin;\n${textOf(step)};\ncommit`)
        await until(50)
      }
    })
    isOver = true
    await writers
    await pool.close()

    const [row] = await own.oracle<[{ n: number }]>`select count(*)::int as n from delivery_attempt`
    expect(row.n).toBe(20_000 + written)
    expect(await file('partitions.delivery_attempt_before')).toBe(filed)
  })
})
