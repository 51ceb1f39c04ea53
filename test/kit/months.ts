/** Months of long ago in the partitioned tables, rows in them, and the tables as they were before they had months. */
import { randomUUIDv7 } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import type { DatabaseAddress } from '../../src/core/kernel/database/address.ts'
import { withClient } from '../../src/core/kernel/database/client.ts'
import { migrationFolder, migrationNames } from '../../src/core/kernel/database/migration-names.ts'
import { pulledType } from './events.ts'
import type { TestInstallation } from './installation.ts'

/** Tables with months, by the id in which their rows lie. */
export const monthly = ['delivery', 'delivery_attempt', 'outbox_event'] as const

export const longAgo = ['2020-01', '2020-02', '2020-03']

export const asOwner = (owner: DatabaseAddress, ...statements: string[]) =>
  withClient(owner, async (client) => {
    for (const statement of statements) await client.query(statement)
  })

/** Months of long ago, where the partition of before was, and those of now. */
export const havingMonths = ({ owner }: Pick<TestInstallation, 'owner'>) =>
  asOwner(
    owner,
    ...monthly.map((table) => `drop table partitions.${table}_before`),
    ...monthly.flatMap((table) =>
      longAgo.map((month, at) => {
        const [from, to] = [month, ['2020-02', '2020-03', '2020-04'][at]].map(
          (one) => `first_id_at('${one}-01T00:00:00Z')`,
        )
        const name = `partitions.${table}_${month.replace('-', '_')}`
        return `create table ${name} partition of ${table} for values from (${from}) to (${to});
          alter table ${name} enable row level security, force row level security`
      }),
    ),
    'select make_months()',
  )

/** In how many rows each partition of the table has, by what its name ends in; those without any are left out. */
export async function rowsByMonth(sql: Sql, table: (typeof monthly)[number], tenantId: string) {
  const rows = await sql<{ place: string; n: number }[]>`
    select tableoid::regclass::text as place, count(*)::int as n from ${sql(table)} where tenant_id = ${tenantId} group by 1 order by 1`
  return Object.fromEntries(rows.map(({ place, n }) => [place.replace(`partitions.${table}_`, ''), n]))
}

/** The names of the months of long ago that a table still has. */
export const monthsLeft = async (sql: Sql, table: (typeof monthly)[number]) =>
  (
    await sql<{ name: string }[]>`
    select right(relname, 7) as name from pg_class where relnamespace = 'partitions'::regnamespace and relkind = 'r'
      and relname ~ ${`^${table}_2020_`} order by 1`
  ).map(({ name }) => name)

/** An id of that moment. */
export const idAt = (moment: string) => {
  const time = Date.parse(moment).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-${randomUUIDv7().slice(14)}`
}

/** An event of that moment, with the workspace's next number; answers its id. */
export async function eventAt(sql: Sql, tenantId: string, moment: string, name = moment): Promise<string> {
  const id = idAt(moment)
  await sql`
    with taken as (
      insert into outbox_counter (tenant_id, last) values (${tenantId}, 1)
      on conflict (tenant_id) do update set last = outbox_counter.last + 1 returning last)
    insert into outbox_event (tenant_id, id, seq, type, occurred_at, body)
    select ${tenantId}, ${id}, last, ${pulledType}, ${moment}, ${JSON.stringify({ data: { name } })} from taken`
  return id
}

/** A delivery that was made at that moment; `finished`: when it ended, null while it waits. */
export async function deliveryAt(
  sql: Sql,
  tenantId: string,
  moment: string,
  of: { readonly webhookId: string; readonly eventId?: string; readonly finished: string | null },
): Promise<string> {
  const id = idAt(moment)
  const { webhookId, eventId = id, finished } = of
  await sql`
    insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause, status, due_at, created_at, finished_at)
    values (${tenantId}, ${id}, ${webhookId}, ${eventId}, ${pulledType}, 'EVENT', ${finished ? 'SUCCEEDED' : 'PENDING'},
            ${finished ? null : moment}, ${moment}, ${finished})`
  return id
}

/** A webhook, of which only the row is needed. */
export async function webhookOf(sql: Sql, tenantId: string): Promise<string> {
  const id = randomUUIDv7()
  await sql`
    insert into webhook (tenant_id, id, target_url, host, event_types) values (${tenantId}, ${id}, 'https://hooks.example/', 'hooks.example', '[]')`
  return id
}

const firstOfMonths = '0243'
const textOf = (name: string) => readFileSync(join(migrationFolder, name), 'utf8')

/** The migrations behind those of the months, which are run again in their order, and what undoes each. */
const undoing: Readonly<Record<string, string>> = {
  '0248_unread_notifications': 'drop index notification_unread',
}

/** The migrations that bring months to events and deliveries, and those behind them. */
export const monthMigrations = migrationNames().filter((name) => name >= firstOfMonths)

/** What the migrations found: both tables in one piece, empty, and the functions of 0102. */
export async function beforeMonths(owner: DatabaseAddress): Promise<void> {
  const [events = '', deliveries = ''] = ['0245', '0246'].map((number) => {
    const text = textOf(`${monthMigrations.find((name) => name.startsWith(number))}.sql`)
    const [found = ''] = /^create table [\s\S]*?\n(?=-- Makes the table|select attach_before)/m.exec(text) ?? []
    return found.replace(') partition by range (id);', number === '0246' ? ') with (fillfactor = 80);' : ');')
  })
  const functions = /create function make_attempt_partitions[\s\S]*?\nend \$\$;[\s\S]*?\nend \$\$;/.exec(
    textOf('0102_attempts_by_month.sql'),
  )
  const undone = monthMigrations.filter((name) => name >= '0248').map((name) => undoing[name])
  if (undone.includes(undefined)) throw new Error('test/kit/months.ts has to know how the newest migration is undone')
  await asOwner(
    owner,
    ...undone.map(String),
    'drop table outbox_event, delivery',
    'alter table outbox_watermark drop column passed_id',
    'drop function make_attempt_partitions(), drop_attempts(uuid), make_months(), months_over(text, uuid), drop_month(text, text), monthly_tables()',
    events,
    deliveries,
    functions![0],
    'grant execute on function make_attempt_partitions(), drop_attempts(uuid) to svc_installation',
    ...monthMigrations.map((name) => `delete from pgmigrations where name = '${name}'`),
  )
}
