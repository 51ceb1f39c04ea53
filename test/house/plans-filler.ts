/** The database whose plans are asked for (plans.test.ts). */
import type postgres from 'postgres'

const rowsEach = process.env['SVC_FAULTS'] === 'full' ? 100_000 : 20_000

/** What the calls know of the workspace in the middle. */
interface Known {
  readonly hash: Buffer
  readonly providerId: string
  readonly deliveryId: string
}

/** One row of each kind for each of that many workspaces; the one in the middle has the token. */
export async function fill(oracle: postgres.Sql, { hash, providerId, deliveryId }: Known): Promise<void> {
  await oracle.begin(async (sql) => {
    // Without the checks of foreign keys: the rows agree because they are made of the same ids.
    await sql`set local session_replication_role = replica`
    await sql`create temp table made on commit drop as select n, uuidv7() as tenant_id, uuidv7() as account_id, uuidv7() as id from generate_series(1, ${rowsEach}) n`
    await sql`insert into tenant (id, slug, display_name, default_locale, default_time_zone) select tenant_id, 'plan-' || n, 'Plan', 'en', 'UTC' from made`
    await sql`
      insert into account (tenant_id, id, kind, state, email, email_fold)
      select tenant_id, account_id, 'PERSON', 'ACTIVE', 'a' || n || '@example.org', 'a' || n || '@example.org' from made`
    await sql`insert into account_word (tenant_id, account_id, word, of_address) select tenant_id, account_id, 'plan ' || n, false from made`
    await sql`insert into membership (tenant_id, id, account_id, role) select tenant_id, id, account_id, 'OWNER' from made`
    await sql`insert into account_group (tenant_id, id, name, name_fold) select tenant_id, id, 'Plan', 'plan' from made`
    await sql`insert into group_member (tenant_id, group_id, account_id) select tenant_id, id, account_id from made`
    await sql`update account a set group_ids = array[m.id] from made m where m.tenant_id = a.tenant_id and m.account_id = a.id`
    await sql`insert into membership (tenant_id, id, group_id, role) select tenant_id, uuidv7(), id, 'ADMIN' from made`
    await sql`insert into session (tenant_id, id, account_id) select tenant_id, id, account_id from made`
    await sql`
      insert into credential (tenant_id, id, account_id, session_id, kind, hash, last4, scopes, expires_at)
      select tenant_id, id, account_id, id, 'REFRESH', sha256(n::text::bytea), 'xxxx', '', now() + interval '1 day' from made`
    await sql`
      insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes)
      select tenant_id, uuidv7(), account_id, 'PERSONAL', case when n = ${rowsEach / 2} then ${hash}::bytea else sha256(('p' || n)::bytea) end, 'xxxx', 'plan', 'workspace:read' from made`
    await sql`insert into operator (account_id, workspace_id) select account_id, tenant_id from made limit 10`
    await sql`insert into tenant_quota (tenant_id, quota, ceiling) select tenant_id, 'api_requests_per_minute', 0 from made`
    await sql`insert into container (tenant_id, id, kind, name, rank) select tenant_id, id, 'HUB', 'Home', 'a0' from made`
    await sql`insert into bucket (tenant_id, id, container_id, name, name_fold, rank) select tenant_id, uuidv7(), id, 'To do', 'to do', 'a0' from made`
    await sql`insert into label (tenant_id, id, container_id, name, name_fold, color_token) select tenant_id, uuidv7(), id, 'Idea', 'idea', 'red' from made`
    await sql`insert into custom_field (tenant_id, id, key, kind, is_required, applies_to) select tenant_id, id, 'plan', 'TEXT', false, '["TASK"]'::jsonb from made`
    await sql`
      insert into item (tenant_id, id, container_id, type, title, rank, created_by)
      select tenant_id, id, id, 'TASK', 'Plan', 'a0', account_id from made`
    await sql`insert into media (tenant_id, id, filename, size_bytes, created_by) select tenant_id, id, 'plan', n, account_id from made`
    await sql`insert into media_reference (tenant_id, item_id, media_id, added_by) select tenant_id, id, id, account_id from made`
    await sql`insert into item_label (tenant_id, item_id, label_id) select tenant_id, id, id from made`
    await sql`
      insert into template (tenant_id, id, kind, name, container_id, variables, content, created_by)
      select tenant_id, id, 'ITEM', 'Plan', id, '[]'::jsonb, '{"buckets":[],"labels":[],"fields":[],"items":[]}'::jsonb, account_id from made`
    await sql`insert into comment (tenant_id, id, item_id, body, created_by) select tenant_id, id, id, 'Plan', account_id from made`
    await sql`insert into comment_mention (tenant_id, comment_id, account_id) select tenant_id, id, account_id from made`
    await sql`insert into comment_reaction (tenant_id, comment_id, account_id, reaction) select tenant_id, id, account_id, 'EYES' from made`
    await sql`
      insert into identity_provider (tenant_id, id, issuer, client_id, kind, provisioning, position, allowed_email_domains, allowed_directories)
      select tenant_id, id, 'https://sso.example', 'svc', 'GENERIC', 'ANY', 0, '[]'::jsonb, '[]'::jsonb from made
      union all select '00000000-0000-0000-0000-000000000000', ${providerId}, 'https://sso.example', 'svc', 'GENERIC', 'ANY', 0, '[]'::jsonb, '[]'::jsonb`
    await sql`
      insert into provider_switch (tenant_id, provider_scope, provider_id)
      select tenant_id, tenant_id, id from made
      union all select tenant_id, '00000000-0000-0000-0000-000000000000', ${providerId} from made where n = ${rowsEach / 2}`
    await sql`
      insert into connected_identity (tenant_id, id, provider_id, account_id, issuer, subject)
      select tenant_id, uuidv7(), id, account_id, 'https://sso.example', 'sub' from made`
    await sql`insert into legal_hold (tenant_id, id, scope_kind, reason, placed_by) select tenant_id, uuidv7(), 'TENANT', 'plan', account_id from made`
    await sql`
      insert into purge_certificate (workspace_id, workspace_slug, purged_at, document, key_id, public_key, signature)
      select tenant_id, 'plan-' || n, now(), '{}', 'k', 'k', 's' from made`
    await sql`
      insert into outbox_event (tenant_id, id, seq, type, body)
      select tenant_id, id, 2, 'svc.work.label.created.v1', '{}' from made
      union all select tenant_id, uuidv7(), 3, 'svc.work.label.created.v1', '{}' from made where n = ${rowsEach / 2}`
    await sql`insert into outbox_counter (tenant_id, last) select tenant_id, 3 from made`
    await sql`insert into outbox_watermark (tenant_id, tx) select tenant_id, '2'::xid8 from made`
    await sql`insert into webhook (tenant_id, id, target_url, host, event_types) select tenant_id, id, 'https://example.org', 'example.org:443', '[]'::jsonb from made`
    await sql`insert into webhook_secret (tenant_id, id, webhook_id) select tenant_id, id, id from made`
    await sql`
      insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause)
      select tenant_id, case n when ${rowsEach / 2} then ${deliveryId}::uuid else uuidv7() end, id, id, 'plan', 'EVENT' from made`
    await sql`insert into delivery_attempt (tenant_id, delivery_id, n, at, host) select tenant_id, id, 1, now(), 'example.org:443' from made`
    await sql`
      insert into notification (tenant_id, account_id, event_id, category, id, event_type, subject, item_id, began_at, at, is_listed)
      select tenant_id, account_id, id, 'CHANGED', id, 'plan', '/items/' || id, id, now(), now(), true from made`
    await sql`
      insert into privacy_request (tenant_id, id, kind, state, account_id, channel, received_at, time_zone, due_at, closed_at)
      select tenant_id, id, 'ACCESS', 'WITHDRAWN', account_id, 'SELF', now(), 'UTC', now(), now() from made`
    await sql`
      insert into notification_preference (tenant_id, account_id, category, channel, delivery)
      select tenant_id, account_id, 'CHANGED', 'MAIL', 'DAILY' from made`
    await sql`
      insert into consent_text (tenant_id, kind, version, texts) select tenant_id, 'announcements', 1, '{"en":{"title":"x","text":"x"}}' from made`
    await sql`insert into consent (tenant_id, account_id, kind, n, act, version) select tenant_id, account_id, 'announcements', 1, 'GIVEN', 1 from made`
    await sql`insert into account_restriction (tenant_id, account_id, ground) select tenant_id, account_id, 'CLAIMS' from made`
    await sql`insert into retention_rule (tenant_id, kind, days) select tenant_id, 'TRASH', 60 from made`
    await sql`insert into retention_run (tenant_id, id, kind, due_on) select tenant_id, id, 'TRASH', now() from made`
    await sql`insert into ai_choice (tenant_id, model_id) select tenant_id, id from made`
    await sql`
      insert into ai_model (id, display_name, processor, kind, base_url, jurisdiction)
      select id, 'Plan', 'Plan', 'NOOP', 'https://example.org', 'EEA' from made limit 10`
    await sql`insert into journal (id, action, actor_kind, via) select uuidv7(), 'tenant.suspended', 'SYSTEM', 'JOB' from made`
  })
  await oracle`vacuum analyze`
}
