/**
 * One turn at a workspace's notifications: what waits becomes rows, and mails that are due are queued (mailing.ts).
 *
 *    waits ──▶ whom it names ──▶ without the actor, and who does not see it ──▶ as each wants it ──▶ a row, or into one
 *
 * What waits goes with the rows in one transaction, and one turn at a time takes it: each is told once, whatever is killed.
 * An account is told of an event in the first category that names it. An unread row takes in what comes of its subject within
 * 60 minutes of its first event. A thousand rows of an account are kept.
 *
 * What waits in a workspace that is not ACTIVE is dropped. Spec: people 3; docs/decisions/0430, 0431.
 */

import {
  defaultDelivery,
  type NotificationCategory,
  type NotificationDelivery,
} from '../../contract/notifications/categories.ts'
import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import { holdOpen } from '../../kernel/transaction/admission.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { nextHour } from '../../kernel/values/day.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { newId } from '../../kernel/values/id.ts'
import { dateNow } from '../../kernel/values/time.ts'
import { isSeenByAccount } from '../access/account-access.ts'
import { administratorsOf } from '../access/workspace-role.ts'
import { digestHour, queueMails, settleQuiet } from './mailing.ts'
import { mostKept } from './reading.ts'

export const notifier = { kind: 'SYSTEM', job: 'notify' } as const
/** Events of one turn, so that no transaction lasts long. */
const portion = 200
const foldMs = 60 * 60_000
/** Of groups that are named beside accounts, of which there are twenty at most: a hundred are told together. */
const mostOfGroups = 80

/** What an event tells one account. Without `account_id`: nobody is told of it. */
interface TellingRow {
  readonly event_id: string
  readonly event_type: string
  readonly at: string
  readonly actor_id: string | null
  readonly subject: string
  readonly item_id: string | null
  readonly container_id: string | null
  readonly text: string | null
  readonly account_id: string | null
  readonly category: NotificationCategory | null
  readonly has_own_mail: boolean | null
  /** Null: as the product has it. */
  readonly in_app: NotificationDelivery | null
  readonly mail: NotificationDelivery | null
  /** Null: that of the workspace. */
  readonly time_zone: string | null
}

/** A row that is there or is to be made, with what it takes in. */
interface Folding {
  readonly account_id: string
  readonly event_id: string
  readonly category: NotificationCategory
  readonly subject: string
  readonly began_at: string
  readonly is_listed: boolean
  /** Undefined: it is there. */
  readonly id?: string
  /** What it takes in, in order. */
  readonly taken: Telling[]
}

/** What an account is told, and how. */
interface Telling extends TellingRow {
  readonly account_id: string
  readonly category: NotificationCategory
  readonly time_zone: string
  readonly is_listed: boolean
  readonly mail_form: 'IMMEDIATE' | 'DAILY' | null
}

/** Does a portion; answers whether there may be more. Refuses tenant_suspended, installation.recovering. */
export const takeTurn = (installation: Installation, tenantId: string): Promise<boolean> =>
  installation.transaction(
    notifier,
    { tenantId, admits: true, gateAccess: { isServed: false, epoch: undefined } },
    (ctx) => turn(ctx, tenantId),
  )

async function turn(ctx: Ctx, tenantId: string): Promise<boolean> {
  const { tx } = ctx
  const [[lock], [workspace]] = await Promise.all([
    tx<{ is_mine: boolean; now: string }[]>`
      select pg_try_advisory_xact_lock(${lockClasses.notifications}, hashtext(${tenantId})) as is_mine, now()`,
    tx<{ zone: string }[]>`select default_time_zone as zone from tenant where id = ${tenantId}`,
  ])
  if (!lock?.is_mine || !workspace) return false
  const rows = await takeWaiting(tx, tenantId)
  const tellings = once(rows.flatMap((row) => tellingOf(row, workspace.zone) ?? []))
  failpoint('notify.taken')
  if (tellings.length > 0) await write(ctx, tenantId, tellings, lock.now)
  failpoint('notify.told')
  const hasMailed = await queueMails(ctx, tenantId, workspace.zone)
  if (hasMailed) failpoint('notify.mailed')
  // What comes meanwhile waits for the next look, so that events that come one by one are told many at once.
  return rows.length >= portion || hasMailed
}

/** Drops what waits in a workspace that is not ACTIVE: nobody is told of it, now or later. */
export const dropWaiting = (installation: Installation, tenantId: string): Promise<void> =>
  installation.transaction(
    notifier,
    { tenantId, gateAccess: { isServed: false, epoch: undefined } },
    async ({ tx }) => {
      void holdOpen(tx, tenantId)
      const [tenant] = await tx<{ state: string }[]>`select state from tenant where id = ${tenantId}`
      if (tenant?.state === 'ACTIVE') return
      void tx`delete from notification_pending where tenant_id = ${tenantId}`
      void tx`
      update notification set mail_since = null, mail_due_at = null where tenant_id = ${tenantId} and mail_due_at <= now()`
    },
  )

/** Takes what waits, the oldest first; at least one row for each. */
const takeWaiting = (tx: Tx, tenantId: string): Promise<TellingRow[]> => tx<TellingRow[]>`
  with taken as (
    delete from notification_pending where tenant_id = ${tenantId} and id = any (array(
      select id from notification_pending where tenant_id = ${tenantId} order by id limit ${portion}))
    returning id, event_id, event_type, at, actor_id, subject, item_id, container_id, text, told),
  named as (
    select t.*, g.nth, g.told ->> 'category' as category, g.told ? 'has_own_mail' as has_own_mail, who.account_id
    from taken t
    cross join lateral jsonb_array_elements(t.told) with ordinality g (told, nth)
    cross join lateral (
      select one::uuid as account_id from jsonb_array_elements_text(coalesce(g.told -> 'accounts', '[]'::jsonb)) one
      union all
      (select distinct m.account_id from jsonb_array_elements_text(coalesce(g.told -> 'accounts', '[]'::jsonb)) one
       join group_member m on m.tenant_id = ${tenantId} and m.group_id = one::uuid order by 1 limit ${mostOfGroups})
      union all
      select i.created_by from item i where i.tenant_id = ${tenantId} and i.id = (g.told ->> 'people_of_item')::uuid
      union all
      select m.account_id from item_member m where m.tenant_id = ${tenantId} and m.item_id = (g.told ->> 'people_of_item')::uuid
      union all
      select k.created_by from comment k where k.tenant_id = ${tenantId} and k.id = (g.told ->> 'author_of_comment')::uuid
      union all
      select m.account_id from group_member m where m.tenant_id = ${tenantId} and m.group_id = (g.told ->> 'members_of_group')::uuid
      union all
      select o.id from account o where o.tenant_id = ${tenantId} and g.told ? 'administrators' and o.id in (${administratorsOf(tx, tenantId)})
    ) who
    where who.account_id is distinct from t.actor_id),
  chosen as (select distinct on (id, account_id) * from named order by id, account_id, nth),
  -- offset 0: by the key, for each. A plan that was made for small tables would read them whole.
  found as (
    select f.id, f.account_id, f.category, f.has_own_mail, p.time_zone,
           coalesce(shown.overrides ->> c.id::text, shown.overrides ->> h.id::text, shown.delivery) as in_app,
           coalesce(mailed.overrides ->> c.id::text, mailed.overrides ->> h.id::text, mailed.delivery) as mail
    from chosen f
    cross join lateral (
      select x.id, x.group_ids, x.created_at from account x
      where x.tenant_id = ${tenantId} and x.id = f.account_id and x.kind = 'PERSON' and x.state in ('ACTIVE', 'INVITED') offset 0) a
    left join account_preference p on p.tenant_id = ${tenantId} and p.account_id = a.id
    left join item i on i.tenant_id = ${tenantId} and i.id = f.item_id
    left join container c on c.tenant_id = ${tenantId} and c.id = coalesce(i.container_id, f.container_id)
    left join container h on h.tenant_id = ${tenantId} and h.id = c.parent_id
    left join notification_preference shown on shown.tenant_id = ${tenantId} and shown.account_id = a.id
      and shown.category = f.category and shown.channel = 'IN_APP'
    left join notification_preference mailed on mailed.tenant_id = ${tenantId} and mailed.account_id = a.id
      and mailed.category = f.category and mailed.channel = 'MAIL'
    where ${isSeenByAccount(tx, tenantId, tx.part`coalesce(i.container_id, f.container_id)`)}
      and not exists (
        select from outbox_event e where e.tenant_id = ${tenantId} and e.id = f.event_id and e.is_restored offset 0)
      and not exists (
        select from notification n
        where n.tenant_id = ${tenantId} and n.account_id = a.id and n.event_id = f.event_id and n.category = f.category
        offset 0)
      -- What comes with an account is no news to it.
      and not (f.category in ('ACCESS', 'SECURITY') and f.at < a.created_at + interval '1 minute'))
  select t.event_id, t.event_type, t.at, t.actor_id, t.subject, t.item_id, t.container_id, t.text,
         f.account_id, f.category, f.has_own_mail, f.in_app, f.mail, f.time_zone
  from taken t left join found f on f.id = t.id
  order by t.id`

/** Undefined: it is not told. */
function tellingOf(row: TellingRow, zone: string): Telling | undefined {
  const { account_id, category, time_zone } = row
  if (account_id === null || category === null) return undefined
  const is_listed = (row.in_app ?? defaultDelivery(category, 'IN_APP')) !== 'OFF'
  const mail = row.has_own_mail ? 'OFF' : (row.mail ?? defaultDelivery(category, 'MAIL'))
  const mail_form = mail === 'OFF' ? null : mail
  if (!is_listed && mail_form === null) return undefined
  return { ...row, account_id, category, time_zone: time_zone ?? zone, is_listed, mail_form }
}

/** What a job queued twice, because it was killed before the queue knew of its end, waits twice. */
const once = (tellings: readonly Telling[]): readonly Telling[] => [
  ...new Map(tellings.map((one) => [`${one.account_id} ${one.category} ${one.event_id}`, one])).values(),
]

/** `now`: when the transaction began. */
async function write(ctx: Ctx, tenantId: string, tellings: readonly Telling[], now: string): Promise<void> {
  const { tx } = ctx
  const there = await lockUnread(tx, tenantId, tellings)
  const folded = fold(there, tellings)
  const made = folded.filter(({ id }) => id !== undefined)
  const grown = folded.filter(({ id, taken }) => id === undefined && taken.length > 0)
  if (made.length > 0) insert(ctx, tenantId, made, now)
  if (grown.length > 0) update(ctx, tenantId, grown, now)
  settleQuiet(
    ctx,
    tenantId,
    tellings.filter(({ mail_form }) => mail_form === 'IMMEDIATE'),
  )
  if (made.length > 0) trim(tx, tenantId, [...new Set(made.map(({ account_id }) => account_id))])
}

/** The unread rows that may take in something. In the order of their key, as whoever marks them locks them. */
async function lockUnread(tx: Tx, tenantId: string, tellings: readonly Telling[]): Promise<Folding[]> {
  const keys = new Map(tellings.map((one) => [keyOf(one), one]))
  const named = [...keys.values()].map(({ account_id, category, subject }) => ({ account_id, category, subject }))
  const since = new Date(Math.min(...tellings.map(({ at }) => Date.parse(at))) - foldMs)
  const rows = await tx<Omit<Folding, 'taken'>[]>`
    select n.account_id, n.event_id, n.category, n.subject, n.began_at, n.is_listed
    from jsonb_to_recordset(${tx.json(named)}) k (account_id uuid, category text, subject text)
    join notification n on n.tenant_id = ${tenantId} and n.account_id = k.account_id and n.subject = k.subject
      and n.category = k.category and n.at > ${since} and n.read_at is null
    order by n.account_id, n.event_id, n.category for update of n`
  return rows.map((row) => ({ ...row, taken: [] }))
}

const keyOf = ({ account_id, category, subject }: Pick<Folding, 'account_id' | 'category' | 'subject'>): string =>
  `${account_id} ${category} ${subject}`

/** Each of the tellings in a row that is there, or in one that is made: of two that fit, the one that began last. */
function fold(there: readonly Folding[], tellings: readonly Telling[]): readonly Folding[] {
  const all = [...there]
  const open = new Map<string, Folding>()
  for (const row of all.toSorted((a, b) => Date.parse(a.began_at) - Date.parse(b.began_at))) open.set(keyOf(row), row)
  for (const telling of tellings) {
    const { account_id, event_id, category, subject, at, is_listed } = telling
    const into = open.get(keyOf(telling))
    if (into && into.is_listed === is_listed && Date.parse(at) < Date.parse(into.began_at) + foldMs) {
      into.taken.push(telling)
      continue
    }
    const made = { account_id, event_id, category, subject, began_at: at, is_listed, id: newId(), taken: [telling] }
    open.set(keyOf(telling), made)
    all.push(made)
  }
  return all
}

/** What the newest event says of the row, and the mails that the row waits for from now on. */
function stateOf({ account_id, event_id, category, taken }: Folding) {
  const newest = taken.at(-1) as Telling
  const times = taken.map(({ at }) => Date.parse(at))
  const mailed = taken.filter(({ mail_form }) => mail_form !== null)
  const isDaily = newest.mail_form === 'DAILY'
  return {
    ...{ account_id, event_id, category, by: taken.length, mail_by: mailed.length },
    ...{ at: new Date(Math.max(...times)), event_type: newest.event_type, actor_id: newest.actor_id },
    ...{ container_id: newest.container_id, text: newest.text, mail_form: mailed.at(-1)?.mail_form ?? null },
    digest_at: isDaily ? new Date(nextHour(digestHour, dateNow().getTime(), newest.time_zone)) : null,
  }
}

/** Rows of one statement; PostgreSQL takes 65,535 values. */
const rowsAtOnce = 1_000

function insert({ tx, config }: Ctx, tenantId: string, made: readonly Folding[], now: string): void {
  const quiet = quietAfter(now, config)
  const rows = made.map((row) => {
    const { subject, began_at, is_listed, id = '', taken } = row
    const { by: count, mail_by: mail_count, digest_at, ...state } = stateOf(row)
    const waits = state.mail_form !== null
    return {
      ...{ ...state, tenant_id: tenantId, subject, began_at, is_listed, id, item_id: taken[0]?.item_id ?? null, count },
      ...{ mail_count, mail_since: waits ? now : null, mail_due_at: waits ? (digest_at ?? quiet) : null },
    }
  })
  for (let at = 0; at < rows.length; at += rowsAtOnce)
    void tx`
      insert into notification ${tx.rows(rows.slice(at, at + rowsAtOnce), 'tenant_id', 'account_id', 'event_id', 'category', 'id', 'event_type', 'actor_id', 'subject', 'item_id', 'container_id', 'text', 'count', 'began_at', 'at', 'is_listed', 'mail_form', 'mail_since', 'mail_due_at', 'mail_count')}`
}

/** When a mail leaves of whose subject nothing more comes. */
const quietAfter = (now: string, { notifications }: Ctx['config']): Date =>
  new Date(Date.parse(now) + notifications.quietSeconds * 1000)

/** One whose mail has left begins to wait for another. */
function update({ tx, config }: Ctx, tenantId: string, grown: readonly Folding[], now: string): void {
  const quiet = quietAfter(now, config)
  void tx`
    update notification n set count = n.count + r.by, at = greatest(n.at, r.at), event_type = r.event_type, actor_id = r.actor_id,
      container_id = r.container_id, text = r.text, mail_form = coalesce(r.mail_form, n.mail_form),
      mail_count = case when r.mail_form is null then n.mail_count when n.mail_since is null then r.mail_by else n.mail_count + r.mail_by end,
      mail_since = case when r.mail_form is null then n.mail_since else coalesce(n.mail_since, ${now}::timestamptz) end,
      mail_due_at = case when r.mail_form is null then n.mail_due_at
        else coalesce(r.digest_at, ${quiet}::timestamptz) end
    from jsonb_to_recordset(${tx.json(grown.map(stateOf))}) r (account_id uuid, event_id uuid, category text, by integer, at timestamptz,
      event_type text, actor_id uuid, container_id uuid, text text, mail_form text, digest_at timestamptz, mail_by integer)
    where n.tenant_id = ${tenantId} and n.account_id = r.account_id and n.event_id = r.event_id and n.category = r.category`
}

/** Removes what an account has above a thousand, the oldest first. */
function trim(tx: Tx, tenantId: string, accountIds: readonly string[]): void {
  void tx`
    delete from notification n
    using jsonb_array_elements_text(${tx.json(accountIds)}) o (id)
    cross join lateral (
      select x.at, x.id from notification x where x.tenant_id = ${tenantId} and x.account_id = o.id::uuid
      order by x.at desc, x.id desc offset ${mostKept} limit 1) last
    where n.tenant_id = ${tenantId} and n.account_id = o.id::uuid and (n.at, n.id) <= (last.at, last.id)`
}
