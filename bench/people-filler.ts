/**
 * Fills a workspace with accounts, inside the database: their words, addresses, roles and groups, as the rules write them, and
 * analyses the tables. Every 50th is a service account, every 100th is disabled, every 30th waits to be joined.
 */
import { randomUUIDv7 } from 'node:crypto'
import postgres from 'postgres'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import type { Ground } from './ground.ts'

export interface Crowd {
  /** Its members are the first 200 people. */
  readonly groupId: string
  /** A private collection in which that group and 50 accounts have a role. */
  readonly shutId: string
  /** One of the people, in the middle. */
  readonly somebody: { readonly id: string; readonly email: string; readonly externalId: string }
}

/** Rows of one statement, so that the log of the database holds few at a time. */
const atOnce = 250_000
const firstNames = ['alma', 'boris', 'clara', 'dimitri', 'elena', 'farid', 'greta', 'hugo', 'ines', 'jonas']

export async function fillAccounts({ superuser, tenantId, collectionId }: Ground, count: number): Promise<Crowd> {
  const sql = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
  try {
    await sql`create temp table made (n integer primary key, id uuid not null)`
    for (let from = 1; from <= count; from += atOnce)
      await sql.begin(async (tx) => {
        await tx`set local session_replication_role = replica` // the rows agree because they are made of the same ids
        await writePortion(tx, tenantId, from, Math.min(from + atOnce - 1, count))
      })
    const crowd = await writePlaces(sql, { tenantId, collectionId })
    await sql`vacuum analyze`
    await sql`checkpoint`
    const [row] = await sql<{ id: string; email: string; external_id: string }[]>`
      select a.id, a.email, a.external_id from made m join account a on a.id = m.id
      where m.n >= ${Math.floor(count / 2)} and a.kind = 'PERSON' and a.state = 'ACTIVE' order by m.n limit 1`
    if (!row) throw new Error('there is nobody')
    return { ...crowd, somebody: { id: row.id, email: row.email, externalId: row.external_id } }
  } finally {
    await sql.end()
  }
}

async function writePortion(tx: postgres.TransactionSql, tenantId: string, from: number, to: number): Promise<void> {
  await tx`insert into made select n, uuidv7() from generate_series(${from}::int, ${to}::int) n`
  const ours = tx`from (
    select n, id, n % 50 = 0 as is_service, 'p' || n || '@crowd.example' as email,
           (${firstNames}::text[])[1 + n % 10] || ' number ' || n as name
    from made where n between ${from} and ${to}) m`
  await tx`
    insert into account (tenant_id, id, kind, state, email, email_fold, display_name, external_id, joined_at, worded)
    select ${tenantId}, id, case when is_service then 'SERVICE' else 'PERSON' end,
           case when n % 100 = 0 then 'DISABLED' when n % 30 = 0 then 'INVITED' else 'ACTIVE' end,
           case when not is_service then email end, case when not is_service then email end, name, 'hr-' || n, now(),
           name || ' ' || case when is_service then '' else email end
    ${ours}`
  await tx`
    insert into account_word (tenant_id, account_id, word, of_address)
    select ${tenantId}, id, word, of_address ${ours}
    cross join lateral (values
      (name, false), ('number ' || n, false), (n::text, false), (email, true), ('crowd.example', true), ('example', true)
    ) w (word, of_address) where not (is_service and of_address)`
  await tx`
    insert into account_address (tenant_id, id, account_id, email, email_fold, is_primary, confirmed_at)
    select ${tenantId}, uuidv7(), id, email, email, true, now() ${ours} where not is_service`
  await tx`insert into membership (tenant_id, id, account_id, role) select ${tenantId}, uuidv7(), id, 'MEMBER' ${ours}`
}

async function writePlaces(
  sql: postgres.Sql,
  { tenantId, collectionId }: Pick<Ground, 'tenantId' | 'collectionId'>,
): Promise<Omit<Crowd, 'somebody'>> {
  const [groupId, shutId] = [randomUUIDv7(), randomUUIDv7()]
  await sql`
    insert into container (tenant_id, id, kind, parent_id, name, rank, is_private)
    select tenant_id, ${shutId}, 'COLLECTION', parent_id, 'Shut', 'z1', true from container where id = ${collectionId}`
  await sql`
    insert into account_group (tenant_id, id, name, name_fold, member_count) values (${tenantId}, ${groupId}, 'Crowd', 'crowd', 200)`
  await sql`insert into group_member (tenant_id, group_id, account_id, source) select ${tenantId}, ${groupId}, id, 'DIRECT' from made where n <= 200`
  await sql`update account set group_ids = array[${groupId}::uuid] where id in (select id from made where n <= 200)`
  await sql`insert into membership (tenant_id, id, group_id, container_id, role) values (${tenantId}, ${randomUUIDv7()}, ${groupId}, ${shutId}, 'MEMBER')`
  await sql`
    insert into membership (tenant_id, id, account_id, container_id, role)
    select ${tenantId}, uuidv7(), id, ${shutId}, 'MEMBER' from made where n between 201 and 250`
  return { groupId, shutId }
}
