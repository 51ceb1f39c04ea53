/**
 * What a rule is about: the rows that are too old, and all rows of the kind. Both are queries: a row has `id`, `at`, from which
 * its days count, and `container_id`. Spec: Keeping, 4.
 */
import type { RuleKind } from '../../contract/retention/rules.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import { isRestricted } from '../access/restriction.ts'

type Writer = Pick<Tx, 'part'>

/** What the rule takes of the workspace by itself. `before`: an expression of a moment. */
export function doomedBy(tx: Writer, tenantId: string, kind: RuleKind, before: Part): Part {
  switch (kind) {
    case 'DONE_ITEMS':
      return doneBefore(
        tx,
        tenantId,
        before,
        tx.part`coalesce(c.archive_done_after_days, h.archive_done_after_days) is null`,
      )
    case 'TRASH':
      return trashedBefore(tx, tenantId, before, tx.part`coalesce(c.trash_days, h.trash_days) is null`)
    case 'TRAIL':
      return tx.part`
        select id, at, null::uuid as container_id from audit_entry where tenant_id = ${tenantId} and at <= ${before}`
    case 'EVENTS':
      return tx.part`
        select id, occurred_at as at, null::uuid as container_id from outbox_event
        where tenant_id = ${tenantId} and id < ${firstEventOf(tx, before)}`
    case 'RECORDS':
      return tx.part`
        select id, revoked_at as at, null::uuid as container_id from credential
        where tenant_id = ${tenantId} and revoked_at <= ${before}
        union all
        select id, revoked_at, null from session where tenant_id = ${tenantId} and revoked_at <= ${before}`
    case 'ACCOUNTS':
      return tx.part`
        select a.id, a.disabled_at as at, null::uuid as container_id from account a
        where a.tenant_id = ${tenantId} and a.disabled_at <= ${before} and a.kind = 'PERSON' and a.state = 'DISABLED'
          and not ${isRestricted(tx)} and not exists (
            select from privacy_request r
            where r.tenant_id = a.tenant_id and r.account_id = a.id and r.state in ('RECEIVED', 'GRANTED', 'PARTLY_DONE'))`
    case 'REQUESTS':
      return tx.part`
        select r.id, r.closed_at as at, null::uuid as container_id from privacy_request r
        where r.tenant_id = ${tenantId} and r.closed_at <= ${before}
          and (r.account_id is not null or r.handler_id is not null or r.identity_by is not null or r.choices is not null
            or coalesce(r.subject_name, r.subject_contact, r.details, r.identity_how, r.extended_text) is not null)`
  }
}

/** How many rows of the kind there are, as a query for one number. */
export function allOf(tx: Writer, tenantId: string, kind: RuleKind): Part {
  switch (kind) {
    case 'DONE_ITEMS':
      return tx.part`
        select count(*) from item where tenant_id = ${tenantId} and state = 'DONE' and deleted_at is null and archived_at is null`
    case 'TRASH':
      return tx.part`
        select count(*) from (${trashedBefore(tx, tenantId, tx.part`'infinity'::timestamptz`, tx.part`true`)}) trashed`
    case 'TRAIL':
      return tx.part`select count(*) from audit_entry where tenant_id = ${tenantId}`
    case 'EVENTS':
      return tx.part`select count(*) from outbox_event where tenant_id = ${tenantId}`
    case 'RECORDS':
      return tx.part`
        select (select count(*) from credential where tenant_id = ${tenantId})
             + (select count(*) from session where tenant_id = ${tenantId})`
    case 'ACCOUNTS':
      return tx.part`select count(*) from account where tenant_id = ${tenantId} and kind = 'PERSON'`
    case 'REQUESTS':
      return tx.part`select count(*) from privacy_request where tenant_id = ${tenantId} and closed_at is not null`
  }
}

/** The least id of an event of that moment: the UUIDv7 of it, with all other bits 0. */
export const firstEventOf = (tx: Writer, moment: Part): Part =>
  tx.part`(lpad(to_hex((date_part('epoch', ${moment}) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid`

/**
 * What is done, in containers `c`, whose hub is `h`, that the condition is about. `due` may name them: what was completed, and
 * not changed since, by then.
 */
export const doneBefore = (tx: Writer, tenantId: string, due: Part, isMeant: Part): Part => tx.part`
  select i.id, i.completed_at as at, i.container_id
  from item i join container c on c.tenant_id = i.tenant_id and c.id = i.container_id
  left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
  where i.tenant_id = ${tenantId} and i.state = 'DONE' and i.deleted_at is null and i.archived_at is null
    and i.completed_at <= ${due} and i.updated_at <= ${due}
    and c.deleted_at is null and h.deleted_at is null and c.archived_at is null and h.archived_at is null and ${isMeant}`

/** The same of what is in the trash; a container with all that is in it, of which each kind of items has an index of its own. */
export const trashedBefore = (tx: Writer, tenantId: string, due: Part, isMeant: Part): Part => tx.part`
  (with gone as (
    select c.id, c.deleted_at from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    where c.tenant_id = ${tenantId} and c.deleted_at is not null and c.purged_at is null and h.deleted_at is null
      and c.deleted_at <= ${due} and c.kept_since <= ${due} and ${isMeant}),
  emptied as (
    select y.id, g.id as top_id, g.deleted_at from gone g
    join container y on y.tenant_id = ${tenantId} and (y.id = g.id or y.parent_id = g.id) and y.purged_at is null)
  select i.id, i.deleted_at as at, i.container_id
  from item i join container c on c.tenant_id = i.tenant_id and c.id = i.container_id
  left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
  where i.tenant_id = ${tenantId} and i.deleted_at is not null and i.purged_at is null
    and i.deleted_at <= ${due} and i.kept_since <= ${due}
    and c.deleted_at is null and h.deleted_at is null and c.archived_at is null and h.archived_at is null and ${isMeant}
  union all
  select e.id, e.deleted_at, e.top_id from emptied e
  union all
  select i.id, e.deleted_at, e.top_id from emptied e join item i on i.tenant_id = ${tenantId} and i.container_id = e.id
    and i.deleted_at is null and i.archived_at is null
  union all
  select i.id, e.deleted_at, e.top_id from emptied e join item i on i.tenant_id = ${tenantId} and i.container_id = e.id
    and i.deleted_at is null and i.archived_at is not null
  union all
  select i.id, e.deleted_at, e.top_id from emptied e join item i on i.tenant_id = ${tenantId} and i.container_id = e.id
    and i.deleted_at is not null and i.purged_at is null)`
