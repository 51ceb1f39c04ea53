/** A workspace with rows in every table, and ways to bring its deletion forward. */
import { randomBytes, randomUUID, randomUUIDv7 } from 'node:crypto'
import type { Sql } from 'postgres'
import { type PurgeOutcome, pursuePurge } from '../../src/core/areas/tenants/purge/purge.ts'
import { workspaceTables } from '../../src/core/contract/tables.ts'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { seal } from '../../src/core/kernel/sealing/sealing.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import type { TwoWays } from './two-ways.ts'

export interface Furnished {
  readonly id: string
  readonly slug: string
  readonly displayName: string
  readonly ownerId: string
  readonly collectionId: string
}

/** Provisions a workspace over the API and puts rows into the tables that provisioning leaves empty. */
export async function furnished(ways: TwoWays, slug = `w${randomBytes(5).toString('hex')}`): Promise<Furnished> {
  const displayName = `Workspace ${slug}`
  const answer = await ways.call('api', tenantOperations.provisionTenant, {
    body: { slug, display_name: displayName, owner_email: `owner@${slug}.example` },
  })
  const found = {
    id: answer.tenant.id,
    slug,
    displayName,
    ownerId: answer.owner.account_id,
    collectionId: answer.collection_id,
  }
  await furnish(ways, found)
  return found
}

/** Puts a row into every table that provisioning leaves empty, but none that a daemon would remove by itself. */
export async function furnish(
  { sql, installation }: Pick<TwoWays, 'sql' | 'installation'>,
  furnished: Pick<Furnished, 'id' | 'ownerId' | 'collectionId'>,
): Promise<void> {
  await furnishWaysIn(sql, furnished)
  await furnishWebhook(sql, furnished)
  const { id, ownerId, collectionId } = furnished
  const session = randomUUIDv7()
  const record = randomUUIDv7()
  const place = { tenantId: id, kind: 'idempotency.answer', ownerId: record } as const
  const { key_id, wrap, ciphertext } = seal(installation.keyring, place, 'an answer')
  await sql.begin(async (tx) => {
    await tx`insert into session (tenant_id, id, account_id) values (${id}, ${session}, ${ownerId})`
    await tx`
      insert into credential (tenant_id, id, account_id, session_id, kind, hash, last4, scopes)
      values (${id}, ${randomUUIDv7()}, ${ownerId}, ${session}, 'SESSION', ${randomBytes(32)}, 'abcd', 'workspace:read')`
    await tx`
      insert into step_up (tenant_id, id, account_id, bearer_id, hash, expires_at)
      values (${id}, ${randomUUIDv7()}, ${ownerId}, ${session}, ${randomBytes(32)}, now())`
    await tx`insert into membership (tenant_id, id, account_id, container_id, role) values (${id}, ${randomUUIDv7()}, ${ownerId}, ${collectionId}, 'VIEWER')`
    await tx`
      insert into notification (tenant_id, account_id, event_id, category, id, event_type, subject, began_at, at, is_listed)
      values (${id}, ${ownerId}, ${randomUUIDv7()}, 'CHANGED', ${randomUUIDv7()}, 'svc.work.item.changed.v1', '/items/x', now(), now(), true)`
    await tx`
      insert into notification_preference (tenant_id, account_id, category, channel, delivery) values (${id}, ${ownerId}, 'CHANGED', 'MAIL', 'DAILY')`
    await tx`
      insert into notification_pending (tenant_id, id, event_id, event_type, at, subject, told)
      values (${id}, ${randomUUIDv7()}, ${randomUUIDv7()}, 'svc.work.item.changed.v1', now(), '/items/x', '[]')`
    await tx`insert into account_preference (tenant_id, account_id, locale) values (${id}, ${ownerId}, 'de-AT')`
    await tx`
      insert into address_confirmation (tenant_id, id, account_id, address_id, email_fold, makes_primary, is_asked, expires_at)
      values (${id}, ${randomUUIDv7()}, ${ownerId}, ${randomUUIDv7()}, 'x', true, false, now() + interval '1 day')`
    await tx`insert into failed_sign_in (tenant_id, id, subject) values (${id}, ${randomUUIDv7()}, '\\x00')`
    await tx`insert into password_reset (tenant_id, id, account_id, expires_at) values (${id}, ${randomUUIDv7()}, ${ownerId}, now() + interval '1 day')`
    await tx`insert into password_history (tenant_id, id, account_id, password_hash) values (${id}, ${randomUUIDv7()}, ${ownerId}, 'x')`
    await tx`insert into failed_attempt (tenant_id, id, account_id, purpose) values (${id}, ${randomUUIDv7()}, ${ownerId}, 'STEP_UP')`
    await tx`
      insert into idempotency_record (tenant_id, account_id, operation, key, id, fingerprint)
      values (${id}, ${ownerId}, 'createToken', ${randomUUID()}, ${record}, ${randomBytes(32)})`
    await tx`
      insert into sealed_value (tenant_id, kind, owner_id, key_id, wrap, ciphertext)
      values (${id}, ${place.kind}, ${record}, ${key_id}, ${wrap}, ${ciphertext})`
    await tx`
      insert into custom_field (tenant_id, id, key, kind, is_required, applies_to)
      values (${id}, ${randomUUIDv7()}, 'estimate', 'NUMBER', false, '["TASK"]')`
    await tx`insert into tenant_quota (tenant_id, quota, ceiling) values (${id}, 'items', 5)`
    await tx`insert into request_rate (tenant_id, paid_until) values (${id}, now())`
    await tx`insert into password_opening (tenant_id, until, requester, reason) values (${id}, now() + interval '1 hour', 'Ada', 'lost')`
    await tx`insert into automation_rule (tenant_id, id, name, enabled) values (${id}, ${randomUUIDv7()}, 'on', true), (${id}, ${randomUUIDv7()}, 'off', false)`
    await tx`insert into backup_target (tenant_id, id, name, kind, config) values (${id}, ${randomUUIDv7()}, 'disk', 'LOCAL', '{"path":"own"}')`
    await tx`
      insert into backup (tenant_id, id, target_id, job_id, state, failure)
      values (${id}, ${randomUUIDv7()}, ${randomUUIDv7()}, ${randomUUIDv7()}, 'FAILED', 'worker.lost')`
    const schedule = randomUUIDv7()
    await tx`
      insert into backup_schedule (tenant_id, id, name, target_id, cron, time_zone, keep, verify, is_enabled)
      values (${id}, ${schedule}, 'nightly', ${randomUUIDv7()}, '0 2 * * *', 'UTC', ${tx.json({ last: 7, hourly: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0, min_days: 0 })}, 'HASHES', false)`
    await tx`insert into backup_run (tenant_id, schedule_id, due_at, ended_at) values (${id}, ${schedule}, now(), now())`
    await tx`insert into consent_text (tenant_id, kind, version, texts) values (${id}, 'announcements', 1, ${tx.json({ en: { title: 'News', text: 'We write.' } })})`
    await tx`insert into consent (tenant_id, account_id, kind, n, act, version) values (${id}, ${ownerId}, 'announcements', 1, 'GIVEN', 1)`
    await tx`insert into account_restriction (tenant_id, account_id, ground) values (${id}, ${ownerId}, 'ACCURACY')`
    await tx`insert into retention_rule (tenant_id, kind, days) values (${id}, 'TRASH', 60)`
    await tx`insert into retention_run (tenant_id, id, kind, due_on, ended_at) values (${id}, ${randomUUIDv7()}, 'TRASH', '2027-03-01', now())`
    const restore = randomUUIDv7()
    await tx`
      insert into restore (tenant_id, id, mode, state, job_id, target_id, path, source_tenant_id, source_slug, snapshot_at, origin, product_version, archive_sha256)
      values (${id}, ${restore}, 'REPLACE', 'DONE', ${randomUUIDv7()}, ${randomUUIDv7()}, 'x', ${id}, 'x', now(), 'OWN', '1', 'x')`
    await tx`
      insert into restore_undo (tenant_id, restore_id, table_name, key) values (${id}, ${restore}, 'label', ${JSON.stringify([randomUUID()])})`
    await tx`insert into outbox_watermark (tenant_id, tx) values (${id}, '3')`
    await tx`insert into ai_choice (tenant_id, model_id) values (${id}, ${randomUUIDv7()})`
    await tx`insert into ai_usage (tenant_id, day, tokens) values (${id}, now(), 47)`
    await tx`insert into reseal (tenant_id, started_at, finished_at) values (${id}, now(), now())`
    const job = randomUUIDv7()
    await tx`insert into job (tenant_id, id, kind, state, finished_at) values (${id}, ${job}, 'TENANT_EXPORT', 'FAILED', now())`
    await tx`insert into bulk_run (tenant_id, job_id, actions) values (${id}, ${job}, '[]')`
    await tx`insert into bulk_target (tenant_id, job_id, n, item_id) values (${id}, ${job}, 0, ${randomUUIDv7()})`
    await tx`
      insert into legal_hold (tenant_id, id, scope_kind, reason, placed_by, released_at, released_by)
      values (${id}, ${randomUUIDv7()}, 'TENANT', 'over', ${ownerId}, now(), ${ownerId})`
  })
  await furnishItems(sql, furnished)
  await furnishPrivacy(sql, furnished)
}

/** A request that is over, what its search found, and an erasure of somebody without an account. */
async function furnishPrivacy(sql: Sql, { id, ownerId }: Pick<Furnished, 'id' | 'ownerId'>): Promise<void> {
  const [request, erasure] = [randomUUIDv7(), randomUUIDv7()]
  await sql`
    insert into privacy_request (tenant_id, id, kind, state, account_id, details, channel, received_at, time_zone, due_at, closed_at)
    values (${id}, ${request}, 'ERASURE', 'WITHDRAWN', ${ownerId}, 'Ada', 'SELF', now(), 'UTC', now(), now())`
  await sql`
    insert into privacy_package (tenant_id, request_id, state, ready_at, expires_at) values (${id}, ${request}, 'GONE', now(), now())`
  await sql`insert into privacy_search (tenant_id, request_id, state) values (${id}, ${request}, 'DONE')`
  await sql`
    insert into privacy_mention (tenant_id, request_id, n, kind, id, member) values (${id}, ${request}, 0, 'ITEM', ${randomUUIDv7()}, 'title')`
  await sql`
    insert into erasure (tenant_id, id, choices, swept_at, listed_at, ended_at)
    values (${id}, ${erasure}, '{"texts":"KEEP","files":"KEEP","mentions":[]}', now(), now(), now())`
  await sql`
    insert into erasure_held (tenant_id, id, erasure_id, part, place, body)
    values (${id}, ${randomUUIDv7()}, ${erasure}, 'MENTIONS', 'item', '{}')`
}

/** An active provider of the workspace, an account connected to it, a group and a second factor. */
async function furnishWaysIn(sql: Sql, { id, ownerId }: Pick<Furnished, 'id' | 'ownerId'>): Promise<void> {
  const [provider, group] = [randomUUIDv7(), randomUUIDv7()]
  await sql.begin(async (tx) => {
    await tx`
      insert into identity_provider (tenant_id, id, issuer, client_id, kind, provisioning, position, allowed_email_domains, allowed_directories)
      values (${id}, ${provider}, 'https://login.example', 'svc', 'GENERIC', 'ANY', 0, '[]', '[]')`
    await tx`insert into provider_switch (tenant_id, provider_scope, provider_id) values (${id}, ${id}, ${provider})`
    await tx`
      insert into connected_identity (tenant_id, id, provider_id, account_id, issuer, subject)
      values (${id}, ${randomUUIDv7()}, ${provider}, ${ownerId}, 'https://login.example', 'ada')`
    await tx`
      insert into sign_in_flow (tenant_id, id, hash, provider_scope, provider_id, redirect_uri, expires_at)
      values (${id}, ${randomUUIDv7()}, ${randomBytes(32)}, ${id}, ${provider}, 'https://svc.example/back', now() + interval '1 day')`
    await tx`
      insert into sign_in_link (tenant_id, id, hash, provider_id, issuer, subject, account_id, expires_at)
      values (${id}, ${randomUUIDv7()}, ${randomBytes(32)}, ${provider}, 'https://login.example', 'grace', ${ownerId}, now() + interval '1 day')`
    await tx`
      insert into sign_in_challenge (tenant_id, id, account_id, hash, way, expires_at)
      values (${id}, ${randomUUIDv7()}, ${ownerId}, ${randomBytes(32)}, 'PASSWORD', now() + interval '1 day')`
    await tx`insert into account_group (tenant_id, id, name, name_fold) values (${id}, ${group}, 'All', 'all')`
    await tx`insert into group_member (tenant_id, group_id, account_id) values (${id}, ${group}, ${ownerId})`
    await tx`
      insert into second_factor (tenant_id, id, account_id, confirmed_at, last_step)
      values (${id}, ${randomUUIDv7()}, ${ownerId}, now(), 1)`
    await tx`insert into recovery_code (tenant_id, id, account_id, hash) values (${id}, ${randomUUIDv7()}, ${ownerId}, ${randomBytes(32)})`
  })
}

/** An assigned item in a bucket, with a label, a value, comments and a file; a deleted one; and a view of them. */
async function furnishItems(
  sql: Sql,
  { id, ownerId, collectionId }: Pick<Furnished, 'id' | 'ownerId' | 'collectionId'>,
): Promise<void> {
  const [item, deleted, media] = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7()]
  await sql.begin(async (tx) => {
    await tx`
      insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, created_by, deleted_at)
      select ${id}, made.id::uuid, ${collectionId}, b.id, 'TASK', 'An item', 'a0', ${ownerId}, made.deleted_at
      from bucket b, (values (${item}, null), (${deleted}, now())) made (id, deleted_at)
      where b.tenant_id = ${id} and b.container_id = ${collectionId} and b.rank = 'a0'`
    await tx`insert into item_label (tenant_id, item_id, label_id) select ${id}, ${item}, id from label where tenant_id = ${id}`
    await tx`insert into item_member (tenant_id, item_id, account_id) values (${id}, ${item}, ${ownerId})`
    await tx`insert into assignment_turn (tenant_id, account_id, picked_at) values (${id}, ${ownerId}, now())`
    await tx`insert into item_field_value (tenant_id, item_id, field_id, value) select ${id}, ${item}, id, '3' from custom_field where tenant_id = ${id}`
    await tx`insert into item_field_key (tenant_id, item_id, field_id, key) select ${id}, ${item}, id, '3' from custom_field where tenant_id = ${id}`
    await tx`
      insert into item_view (tenant_id, id, container_id, name, layout, filter, columns, visibility, created_by)
      values (${id}, ${randomUUIDv7()}, ${collectionId}, 'A view', 'LIST', ${tx.json({ field: 'state', op: 'is', value: 'OPEN' })}, '["title"]', 'SHARED', ${ownerId})`
    await tx`
      insert into template (tenant_id, id, kind, name, container_id, variables, content, created_by)
      values (${id}, ${randomUUIDv7()}, 'ITEM', 'canary template', ${collectionId}, '[]', '{"buckets":[],"labels":[],"fields":[],"items":[{"title":"An item","type":"TASK","labels":[],"custom_fields":{}}]}', ${ownerId})`
    const [comment, reply] = [randomUUIDv7(), randomUUIDv7()]
    await tx`
      insert into comment (tenant_id, id, item_id, reply_to_id, body, created_by)
      values (${id}, ${comment}, ${item}, null, 'canary comment', ${ownerId}), (${id}, ${reply}, ${item}, ${comment}, 'A reply', ${ownerId})`
    await tx`insert into comment_mention (tenant_id, comment_id, account_id) values (${id}, ${comment}, ${ownerId})`
    await tx`insert into comment_reaction (tenant_id, comment_id, account_id, reaction) values (${id}, ${reply}, ${ownerId}, 'EYES')`
    await tx`insert into search_index (tenant_id, language, state) values (${id}, 'simple', 'SERVING') on conflict do nothing`
    await tx`
      insert into search_document (tenant_id, generation, kind, id, container_id, changed_at, words)
      select ${id}, generation, 'ITEM', ${item}, ${collectionId}, now(), '''1=item'':1A' from search_index where tenant_id = ${id}
      on conflict do nothing`
    await tx`insert into search_pending (tenant_id, id, subject, subject_id) values (${id}, ${randomUUIDv7()}, 'ITEM', ${item})`
    await tx`insert into media (tenant_id, id, filename, size_bytes, created_by) values (${id}, ${media}, 'a file', 5, ${ownerId})`
    await tx`insert into media_reference (tenant_id, item_id, media_id, added_by) values (${id}, ${item}, ${media}, ${ownerId})`
    await tx`insert into media_removal (tenant_id, media_id, due_at) values (${id}, ${randomUUIDv7()}, now())`
    await tx`insert into media_tally (tenant_id, bytes) values (${id}, 5)`
    await tx`insert into item_tally (tenant_id, items) values (${id}, 1)`
    await tx`insert into bucket_tally (tenant_id, bucket_id, items) select tenant_id, bucket_id, 1 from item where id = ${item}`
  })
}

/** A webhook with a delivery that was tried once. */
async function furnishWebhook(sql: Sql, { id }: Pick<Furnished, 'id'>): Promise<void> {
  const [webhook, delivery] = [randomUUIDv7(), randomUUIDv7()]
  await sql.begin(async (tx) => {
    await tx`
      insert into webhook (tenant_id, id, target_url, host, event_types, state)
      values (${id}, ${webhook}, 'https://hooks.example/in', 'hooks.example:443', '["svc.work.item.created.v1"]', 'PAUSED')`
    await tx`insert into webhook_secret (tenant_id, id, webhook_id) values (${id}, ${randomUUIDv7()}, ${webhook})`
    await tx`
      insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause, status, attempt)
      values (${id}, ${delivery}, ${webhook}, ${randomUUIDv7()}, 'svc.work.item.created.v1', 'EVENT', 'FAILED', 1)`
    await tx`
      insert into delivery_attempt (tenant_id, delivery_id, n, at, host, error)
      values (${id}, ${delivery}, 1, now(), 'hooks.example:443', 'timeout')`
  })
}

/** Asks for the deletion and moves its deadline into the past. */
export async function overdue(ways: TwoWays, { id, displayName }: Furnished): Promise<void> {
  await ways.call('api', tenantOperations.deleteTenant, { tenantId: id, body: { confirmation: displayName } })
  await moveDeadline(ways.sql, id, -1)
}

/** Sets the deadline to so many seconds from now, as if the database's clock had jumped. */
export async function moveDeadline(sql: Sql, id: string, seconds: number): Promise<void> {
  await sql`update tenant set purge_after = now() + make_interval(secs => ${seconds}) where id = ${id}`
}

/** Rows by table, for every table of the database that has a tenant_id, as a superuser sees them. */
export async function rowsOf(sql: Sql, id: string): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns c join pg_class t on t.relname = c.table_name and t.relkind in ('r', 'p')
    where c.table_schema = 'public' and c.column_name = 'tenant_id' order by 1`
  const counts = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await sql<
        { count: number }[]
      >`select count(*)::int as count from ${sql(name)} where tenant_id = ${id}`
      return [name, row?.count ?? 0] as const
    }),
  )
  return Object.fromEntries(counts)
}

/** Every place in the whole database, with the queue's schema, that contains a text which names the workspace. */
export async function placesNaming(sql: Sql, text: string): Promise<string[]> {
  const tables = await sql<{ schema: string; name: string }[]>`
    select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname in ('public', 'partitions', 'pgboss')`
  const found = await Promise.all(
    tables.map(async ({ schema, name }) => {
      const [row] = await sql<{ found: boolean }[]>`
        select exists (select 1 from ${sql(schema)}.${sql(name)} t where position(${text} in t::text) > 0) as found`
      return row?.found ? [name] : []
    }),
  )
  return found.flat().sort()
}

/** A hash of all rows of a workspace, to show that another workspace's purge did not change them. */
export async function fingerprintOf(sql: Sql, id: string, without: readonly string[] = []): Promise<string> {
  const names = Object.keys(workspaceTables).filter((name) => !without.includes(name))
  const hashes = await Promise.all(
    names.map(async (name) => {
      const [row] = await sql<{ hash: string | null }[]>`
        select md5(string_agg(t::text, '|' order by t::text)) as hash from ${sql(name)} t where tenant_id = ${id}`
      return `${name}:${row?.hash ?? ''}`
    }),
  )
  return hashes.join(' ')
}

/** Pursues a purge: a try that ran out of its seconds is followed by another, as the job does it. */
export async function pursued(installation: Installation, id: string): Promise<PurgeOutcome> {
  const outcome = await pursuePurge(installation, id)
  return outcome === 'more' ? pursued(installation, id) : outcome
}
