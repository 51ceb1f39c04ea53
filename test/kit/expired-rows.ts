/**
 * Rows of every kind that the sweep removes: some that are not due, and any number that are. PostgreSQL makes them itself,
 * one statement a million.
 *
 *    the first accounts    a row of each kind that is due
 *    the last accounts     a row of each kind that is due in six hours, and rows that never are
 *
 * Foreign keys are not checked while they are made, because the rows agree: they are made of the same ids.
 */
import type postgres from 'postgres'
import { sweeps } from '../../src/core/areas/auth/sign-in/sweeps.ts'
import type { Sweep } from '../../src/core/kernel/transaction/sweep.ts'
import type { TestInstallation } from './installation.ts'
import { type Stored, store } from './sealed.ts'

export interface Expired {
  /** Of each kind, and of `idempotency_record`. */
  readonly rows: number
  readonly records: number
  /** Of each kind; even, because two tokens have one session. */
  readonly kept: number
}

/** A row of each of `made`, of which the sweep's column is `moment`. */
const kinds: Readonly<Record<string, string>> = {
  // Two tokens a session; the first one ends an hour earlier, so the session is left with the other for some batches.
  credential: `
    , paired as (select *, gen_random_uuid() as session_id from made where n % 2 = 0),
    opened as (insert into session (tenant_id, id, account_id) select tenant_id, session_id, account_id from paired)
    insert into credential (tenant_id, id, account_id, session_id, kind, hash, last4, scopes, expires_at)
    select tenant_id, gen_random_uuid(), account_id, session_id, kind, sha256((kind || n)::bytea), 'last', 'workspace:read', moment + rest
    from paired, (values ('SESSION', interval '-1 hour'), ('REFRESH', interval '0')) pair (kind, rest)`,
  step_up: `
    insert into step_up (tenant_id, id, account_id, bearer_id, hash, expires_at)
    select tenant_id, gen_random_uuid(), account_id, gen_random_uuid(), sha256(n::text::bytea), moment from made`,
  second_factor: `
    , begun as (insert into second_factor (tenant_id, id, account_id, created_at)
      select tenant_id, gen_random_uuid(), account_id, moment from made returning tenant_id, id)
    insert into sealed_value (tenant_id, kind, owner_id, key_id, wrap, ciphertext)
    select tenant_id, 'mfa.totp', id, current_setting('test.key'), '', '' from begun`,
  failed_attempt: `
    insert into failed_attempt (tenant_id, id, account_id, purpose, at)
    select tenant_id, gen_random_uuid(), account_id, 'STEP_UP', moment from made`,
  failed_sign_in: `
    insert into failed_sign_in (tenant_id, id, subject, at)
    select tenant_id, gen_random_uuid(), sha256(n::text::bytea), moment from made`,
  password_reset: `
    insert into password_reset (tenant_id, id, account_id, hash, expires_at)
    select tenant_id, gen_random_uuid(), account_id, sha256(n::text::bytea), moment from made`,
  address_confirmation: `
    insert into address_confirmation (tenant_id, id, account_id, address_id, email_fold, makes_primary, is_asked, expires_at)
    select tenant_id, gen_random_uuid(), account_id, gen_random_uuid(), n || '@new.example', false, true, moment from made`,
  account_address: `
    insert into account_address (tenant_id, id, account_id, email, email_fold, ends_at)
    select tenant_id, gen_random_uuid(), account_id, n || '@new.example', n || '@new.example', moment from made`,
  sign_in_link: `
    insert into sign_in_link (tenant_id, id, hash, provider_id, issuer, subject, expires_at)
    select tenant_id, gen_random_uuid(), sha256(n::text::bytea), gen_random_uuid(), 'https://sso.example', n::text, moment from made`,
  sign_in_challenge: `
    insert into sign_in_challenge (tenant_id, id, account_id, hash, way, expires_at)
    select tenant_id, gen_random_uuid(), account_id, sha256(n::text::bytea), 'PASSWORD', moment from made`,
  sign_in_flow: `
    insert into sign_in_flow (tenant_id, id, hash, provider_scope, provider_id, redirect_uri, expires_at)
    select tenant_id, gen_random_uuid(), sha256(n::text::bytea), tenant_id, gen_random_uuid(), 'https://app.example/', moment from made`,
  invitation: `
    insert into invitation (tenant_id, id, account_id, hash, used_at, expires_at)
    select tenant_id, gen_random_uuid(), account_id, sha256(n::text::bytea), moment - interval '1 day', moment from made`,
  // The answer of every tenth is sealed.
  idempotency_record: `
    , kept as (insert into idempotency_record (tenant_id, account_id, operation, key, id, fingerprint, status, headers, body, is_sealed, created_at)
      select tenant_id, account_id, 'createItem', gen_random_uuid(), gen_random_uuid(), sha256(n::text::bytea), 201, '{}',
             case when n % 10 <> 0 then '{}' end, n % 10 = 0, moment from made returning tenant_id, id, is_sealed)
    insert into sealed_value (tenant_id, kind, owner_id, key_id, wrap, ciphertext)
    select tenant_id, 'idempotency.answer', id, current_setting('test.key'), '', '' from kept where is_sealed`,
  blocked_slug: `insert into blocked_slug (slug, until) select 'slug-' || n, moment from made`,
}

/** What is older than all of the above and stays: the sweep's condition or a null keeps it. */
const everlasting = [
  `insert into credential (tenant_id, id, account_id, kind, hash, last4, scopes)
   select tenant_id, gen_random_uuid(), account_id, 'PERSONAL', sha256(n::text::bytea), 'last', 'workspace:read' from made`,
  `insert into second_factor (tenant_id, id, account_id, created_at, confirmed_at, last_step)
   select tenant_id, gen_random_uuid(), account_id, now() - interval '1 year', now() - interval '1 year', 1 from made`,
  `insert into account_address (tenant_id, id, account_id, email, email_fold, confirmed_at)
   select tenant_id, gen_random_uuid(), account_id, n || '@own.example', n || '@own.example', now() - interval '1 year' from made`,
  `insert into invitation (tenant_id, id, account_id, hash, expires_at)
   select tenant_id, gen_random_uuid(), account_id, sha256(n::text::bytea), now() - interval '1 year' from made`,
]

/** Another token of each session that stays, which has ended. */
const halves = `
  insert into credential (tenant_id, id, account_id, session_id, kind, hash, last4, scopes, expires_at)
  select tenant_id, gen_random_uuid(), account_id, id, 'SESSION', sha256(id::text::bytea), 'last', 'workspace:read', now() - interval '1 minute'
  from session`

/**
 * Makes the accounts, and the rows that stay. Answers their sealed values: real ones, of each row that has some. A keyring
 * that opens none of its values is refused, and those of the rows that are due cannot be opened.
 */
export async function makeKept(own: TestInstallation, { rows, kept }: Expired): Promise<Stored> {
  const [one, other] = [await own.provision(), await own.provision()]
  await inBulk(own, async (sql) => {
    await sql`
      create table made_account as
      select n, case when n % 3 = 0 then ${one.tenant.id}::uuid else ${other.tenant.id}::uuid end as tenant_id, gen_random_uuid() as account_id
      from generate_series(1, ${rows + kept}::int) n`
    await sql`insert into account (tenant_id, id, kind, state) select tenant_id, account_id, 'SERVICE', 'ACTIVE' from made_account`
    for (const kind of sweeps) await sql.unsafe(statementOf(kind, `n > ${rows}`, `+ interval '6 hours'`))
    for (const statement of everlasting)
      await sql.unsafe(`with made as (select * from made_account where n > ${rows}) ${statement}`)
  })
  const stored: Stored = new Map()
  await store(own.installation, stored, { tenantId: one.tenant.id, kind: 'webhook.secret', ownerId: one.collection_id })
  for (const { tenantId, kind, ownerId } of await own.oracle<{ tenantId: string; kind: Sealing; ownerId: string }[]>`
      select tenant_id as "tenantId", 'mfa.totp' as kind, id as "ownerId" from second_factor
      union all select tenant_id, 'idempotency.answer', id from idempotency_record where is_sealed`)
    await store(own.installation, stored, { tenantId, kind, ownerId })
  return stored
}

type Sealing = 'mfa.totp' | 'idempotency.answer'

/** Makes the rows that are due. Answers how many there are. */
export async function makeDue(own: TestInstallation, { rows, records }: Expired): Promise<number> {
  const before = await countRows(own.oracle)
  await inBulk(own, async (sql) => {
    await sql.unsafe(halves)
    for (const kind of sweeps)
      for (let made = 0; made < (kind.table === 'idempotency_record' ? records : rows); made += rows)
        await sql.unsafe(statementOf(kind, `n <= ${rows}`, `- interval '1 minute'`))
  })
  await own.oracle`vacuum analyze`
  return (await countRows(own.oracle)) - before
}

const kindsOf = sweeps.map(({ table }) => table)

/** All rows of the tables that are swept. */
export async function countRows(sql: postgres.Sql): Promise<number> {
  const counts = kindsOf.map((table) => `(select count(*) from ${table})`)
  const [row] = await sql.unsafe<{ count: number }[]>(`select (${counts.join(' + ')})::int as count`)
  return row?.count ?? 0
}

/** What the tables hold that are swept, and those of what goes with it, row by row. */
export async function contentOf(sql: postgres.Sql): Promise<Readonly<Record<string, readonly string[]>>> {
  const content: Record<string, readonly string[]> = {}
  for (const table of [...kindsOf, 'session', 'sealed_value'])
    content[table] = (await sql.unsafe<{ row: string }[]>(`select t::text as row from ${table} t order by 1`)).map(
      ({ row }) => row,
    )
  return content
}

/** Rows without what belongs to them, and what has lost its row. */
export async function countTorn(sql: postgres.Sql): Promise<Readonly<Record<string, number>>> {
  const ofOwner = `s.tenant_id = o.tenant_id and s.owner_id = o.id`
  const [row] = await sql.unsafe<Record<string, number>[]>(`
    select ${sealedOf('mfa.totp', 'second_factor o', ofOwner)}, ${sealedOf('idempotency.answer', 'idempotency_record o', ofOwner, 'o.is_sealed')},
           (select count(*)::int from session s where not exists (
             select from credential c where c.tenant_id = s.tenant_id and c.session_id = s.id)) as "sessions without a token"`)
  return { ...row }
}

const sealedOf = (kind: Sealing, owner: string, ofOwner: string, has = 'true') => `
  (select count(*)::int from sealed_value s where s.kind = '${kind}' and not exists (select from ${owner} where ${ofOwner})) as "${kind} without its owner",
  (select count(*)::int from ${owner} where ${has} and not exists (select from sealed_value s where s.kind = '${kind}' and ${ofOwner})) as "lost ${kind}"`

/** The rows are 20 ms apart, so that no two of a batch are of one moment. */
function statementOf({ table, after }: Sweep, which: string, apart: string): string {
  const statement = kinds[table]
  if (statement === undefined) throw new Error(`no rows are made of ${table}, which is swept`)
  return `
    with made as (
      select *, now() - interval '${after}' ${apart} ${apart[0]} n * interval '20 ms' as moment from made_account where ${which} order by n desc
    ) ${statement}`
}

async function inBulk(own: TestInstallation, work: (sql: postgres.TransactionSql) => Promise<void>): Promise<void> {
  await own.oracle.begin(async (sql) => {
    await sql`set local session_replication_role = replica`
    await sql`select set_config('test.key', ${own.installation.keyring.current}, true)`
    await work(sql)
  })
}
