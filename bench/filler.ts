/**
 * Hundreds of thousands of rows: those that provisioning writes for the workspaces in the middle of
 * 10,000, and those that people leave in one workspace. The database makes them itself, in one
 * statement for each table, and analyses the tables.
 */
import postgres from 'postgres'
import { type DatabaseAddress, postgresOptions } from '../src/core/kernel/database/address.ts'

/** Adds workspaces, each with all that provisioning writes. */
export async function addWorkspaces(superuser: DatabaseAddress, count: number): Promise<void> {
  await asSuperuser(superuser, async (sql) => {
    // uuidv7() grows within a session, so the order of ids is the order of slugs.
    await sql`
      create temp table made as
      select uuidv7() as tenant_id, uuidv7() as account_id, uuidv7() as hub_id, uuidv7() as collection_id,
             'filler-' || n as slug from generate_series(1, ${count}) n`
    await sql`insert into tenant (id, slug, display_name, default_locale, default_time_zone) select tenant_id, slug, 'Filler', 'en', 'UTC' from made`
    await sql`
      insert into account (tenant_id, id, kind, state, email, email_fold)
      select tenant_id, account_id, 'PERSON', 'INVITED', slug || '@example.org', slug || '@example.org' from made`
    await sql`insert into membership (tenant_id, id, account_id, role) select tenant_id, uuidv7(), account_id, 'OWNER' from made`
    await sql`
      insert into invitation (tenant_id, id, account_id, hash, expires_at)
      select tenant_id, uuidv7(), account_id, sha256(slug::bytea), now() + interval '14 days' from made`
    await sql`insert into container (tenant_id, id, kind, name, rank) select tenant_id, hub_id, 'HUB', 'Home', 'a0' from made`
    await sql`
      insert into container (tenant_id, id, kind, parent_id, name, rank)
      select tenant_id, collection_id, 'COLLECTION', hub_id, 'Example project', 'a0' from made`
    await sql`
      insert into bucket (tenant_id, id, container_id, name, name_fold, rank)
      select tenant_id, uuidv7(), collection_id, 'Bucket ' || n, 'bucket ' || n, 'a' || n from made, generate_series(0, 2) n`
    await sql`
      insert into label (tenant_id, id, container_id, name, name_fold, color_token)
      select tenant_id, uuidv7(), collection_id, 'Label ' || n, 'label ' || n, 'red' from made, generate_series(0, 3) n`
    await sql`
      insert into audit_entry (tenant_id, id, action, actor_kind, via)
      select tenant_id, uuidv7(), 'tenant.provisioned', 'SYSTEM', 'JOB' from made`
    await sql`insert into outbox_counter (tenant_id, last) select tenant_id, 11 from made`
    await sql`
      insert into outbox_event (tenant_id, id, type, body, seq)
      select tenant_id, uuidv7(), 'svc.work.label.created.v1', repeat('x', 400), n from made, generate_series(1, 11) n`
    await sql`insert into pgboss.job_common (name, data, start_after) select 'end_invitation', '{}', now() + interval '14 days' from made`
    await sql`vacuum analyze`
  })
}

/** Lengthens the journal to that many rows. */
export async function lengthenJournal(superuser: DatabaseAddress, rows: number): Promise<void> {
  await asSuperuser(superuser, async (sql) => {
    await sql`
      insert into journal (id, action, actor_kind, via, workspace_id, workspace_slug, params)
      select uuidv7(), 'tenant.suspended', 'RECOVERY', 'RECOVERY', gen_random_uuid(), 'filler', '{"os_user":"filler","host":"filler"}'
      from generate_series((select count(*) from journal) + 1, ${rows})`
    await sql`vacuum analyze journal`
  })
}

/** Rows of one insert, which the log of the database must hold at one time. */
const rowsAtOnce = 500_000

/** Adds events of one type to a workspace. */
export async function lengthenOutbox(
  superuser: DatabaseAddress,
  { tenantId, type, count }: { readonly tenantId: string; readonly type: string; readonly count: number },
): Promise<void> {
  await asSuperuser(superuser, async (sql) => {
    // Unlogged: the log would be three times as large as the rows. A page is read in the same way.
    // All that exists now lies in the partition that the new rows go to.
    await sql`alter table partitions.outbox_event_before set unlogged`
    for (let made = 0; made < count; made += rowsAtOnce)
      await sql`
        with taken as (${numbersOf(sql, tenantId, Math.min(rowsAtOnce, count - made))})
        insert into outbox_event (tenant_id, id, type, body, seq)
        select ${tenantId}, uuidv7(), ${type}, '{"specversion":"1.0","data":{"name":"' || n || repeat('x', 100) || '"}}', first + n
        from taken, generate_series(1, count) n`
    await sql`vacuum analyze outbox_event`
  })
}

/** Adds answers kept under a key that have expired, the oldest first; every tenth is sealed, under no key that opens it. */
export async function fillKeptAnswers(
  superuser: DatabaseAddress,
  { tenantId, accountId, keyId, count }: { tenantId: string; accountId: string; keyId: string; count: number },
): Promise<void> {
  await asSuperuser(superuser, async (sql) => {
    for (let made = 0; made < count; made += rowsAtOnce)
      await sql`
        with made as (
          insert into idempotency_record (tenant_id, account_id, operation, key, id, fingerprint, status, headers, body, is_sealed, created_at)
          select ${tenantId}, ${accountId}, 'createItem', gen_random_uuid(), uuidv7(), sha256(n::text::bytea), 201, '{}',
                 case when n % 10 <> 0 then repeat('x', 400) end, n % 10 = 0,
                 now() - interval '25 hours' - (${count} - n) * interval '10 ms'
          from generate_series(${made + 1}::int, ${Math.min(made + rowsAtOnce, count)}::int) n
          returning id, is_sealed
        )
        insert into sealed_value (tenant_id, kind, owner_id, key_id, wrap, ciphertext)
        select ${tenantId}, 'idempotency.answer', id, ${keyId}, decode(repeat('ab', 61), 'hex'), decode(repeat('cd', 400), 'hex')
        from made where is_sealed`
    await sql`vacuum analyze idempotency_record, sealed_value`
    await sql`checkpoint`
  })
}

/** Takes so many numbers of a workspace's events: those after `first`. */
const numbersOf = (sql: postgres.Sql, tenantId: string, count: number) => sql`
  insert into outbox_counter (tenant_id, last) values (${tenantId}, ${count})
  on conflict (tenant_id) do update set last = outbox_counter.last + excluded.last
  returning last - ${count}::bigint as first, ${count}::int as count`

/** Transaction and number of the event in the middle of all events of the type. */
export async function middleOfOutbox(superuser: DatabaseAddress, type: string): Promise<[string, string]> {
  const found: [string, string][] = []
  await asSuperuser(superuser, async (sql) => {
    const [row] = await sql<{ tx: string; seq: string }[]>`
      select tx::text, seq::text from outbox_event where type = ${type}
      order by tx, seq offset (select count(*) / 2 from outbox_event where type = ${type}) limit 1`
    if (row) found.push([row.tx, row.seq])
  })
  const [middle] = found
  if (!middle) throw new Error('there is no event')
  return middle
}

const fillers = {
  label: `
    insert into label (tenant_id, id, container_id, name, name_fold, color_token)
    select $1, gen_random_uuid(), $2, 'Label ' || n, 'label ' || n, 'red' from generate_series(1, $3::int) n`,
  audit_entry: `
    insert into audit_entry (tenant_id, id, action, actor_kind, via)
    select $1, gen_random_uuid(), 'filler', 'SYSTEM', 'JOB' from generate_series(1, $3::int) where $2::uuid is not null`,
  account: `
    insert into account (tenant_id, id, kind, state)
    select $1, gen_random_uuid(), 'SERVICE', 'ACTIVE' from generate_series(1, $3::int) where $2::uuid is not null`,
  outbox_event: `
    with taken as (
      insert into outbox_counter (tenant_id, last) select $1, $3::int where $2::uuid is not null
      on conflict (tenant_id) do update set last = outbox_counter.last + excluded.last returning last - $3::int as first)
    insert into outbox_event (tenant_id, id, type, body, seq)
    select $1, gen_random_uuid(), 'filler', repeat('x', 400), first + n from taken, generate_series(1, $3::int) n`,
} as const

/** Adds rows to one workspace, the same number to each of the tables. */
export async function fillWorkspace(
  superuser: DatabaseAddress,
  { tenantId, collectionId }: { readonly tenantId: string; readonly collectionId: string },
  tables: readonly (keyof typeof fillers)[],
  rowsEach: number,
): Promise<void> {
  await asSuperuser(superuser, async (sql) => {
    for (const table of tables) await sql.unsafe(fillers[table], [tenantId, collectionId, rowsEach])
    await sql`vacuum analyze`
  })
}

async function asSuperuser(superuser: DatabaseAddress, work: (sql: postgres.Sql) => Promise<void>): Promise<void> {
  const sql = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
  try {
    await work(sql)
  } finally {
    await sql.end()
  }
}
