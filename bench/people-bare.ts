/**
 * Reads and changes of people as somebody would write them who knows the tables, and none of our statements: a connection of
 * postgres.js, row-level security, the rows that the daemon writes, and the answer as JSON. No schemas, no gate, no limits, no
 * settings, no cursor that is sealed. Where an act has to look before it writes, it looks in one packet and writes in another one.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type postgres from 'postgres'
import { type Bare, type BareCaller, changing, page, type Row, reading } from './bare-client.ts'

const iso = (moment: string) =>
  `case when ${moment} is not null then to_json(date_trunc('milliseconds', ${moment}))->>0 end`

const account = `
  select a.id, a.kind, a.state, x.account_id is not null as is_restricted, a.display_name, a.email, a.sign_in_name,
    a.sign_in_name is not null and a.email is null as is_managed, best.role, a.created_at, a.joined_at, a.disabled_at, a.version,
    jsonb_build_object(
      'addresses', (
        select coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'email', e.email, 'is_primary', e.is_primary, 'confirmed_at', ${iso('e.confirmed_at')})), '[]')
        from account_address e where e.tenant_id = $1 and e.account_id = $2 and e.removed_at is null),
      'identities', (
        select coalesce(jsonb_agg(jsonb_build_object('id', p.id, 'provider_id', p.provider_id, 'connected_at', ${iso('p.connected_at')}, 'last_used_at', ${iso('p.last_used_at')})), '[]')
        from connected_identity p where p.tenant_id = $1 and p.account_id = $2),
      'has_password', a.password_hash is not null, 'start_password_expires_at', ${iso('a.start_password_until')},
      'has_second_factor', exists (select 1 from second_factor s where s.tenant_id = $1 and s.account_id = $2 and s.confirmed_at is not null),
      'last_seen_at', (select ${iso('max(k.last_used_at)')} from credential k where k.tenant_id = $1 and k.account_id = $2),
      'invitation_expires_at', (
        select ${iso('max(v.expires_at)')} from invitation v
        where v.tenant_id = $1 and v.account_id = $2 and v.used_at is null and v.expires_at > now()),
      'external_id', a.external_id,
      'open_item_count', (
        select count(*) from (
          select 1 from item t where t.tenant_id = $1 and t.assignee_id = $2 and t.state = 'OPEN' and t.deleted_at is null limit 1000) o)
    ) as admin
  from account a
  left join account_restriction x on x.tenant_id = $1 and x.account_id = $2
  left join lateral (
    select m.role from membership m
    where m.tenant_id = $1 and m.container_id is null and (m.holder_id = $2 or m.holder_id = any (a.group_ids))
    order by array_position('{OWNER,ADMIN,MEMBER,COMMENTER,VIEWER}', m.role) limit 1) best on true
  where a.tenant_id = $1 and a.id = $2`

export const readAccount = (client: postgres.Sql, caller: BareCaller, accountId: string): Promise<string> =>
  reading(client, caller, async ({ send }) => (await send(account, caller.tenantId, accountId))[0])

export const readMembers = (client: postgres.Sql, caller: BareCaller, groupId: string): Promise<string> =>
  reading(client, caller, async ({ send }) => {
    const found = send(`select id from account_group where tenant_id = $1 and id = $2`, caller.tenantId, groupId)
    const members = await send(
      `select account_id, added_at, added_by, source from group_member where tenant_id = $1 and group_id = $2 order by account_id limit $3`,
      ...[caller.tenantId, groupId, 51],
    )
    if ((await found).length === 0) throw new Error('there is no such group')
    return page(members, 'account_id')
  })

export const readNotifications = (client: postgres.Sql, caller: BareCaller): Promise<string> =>
  reading(client, caller, async ({ send }) => {
    const own = `
      from notification t
      left join item w on w.tenant_id = $1 and w.id = t.item_id
      left join container k on k.tenant_id = $1 and k.id = case when w.id is null then t.container_id else w.container_id end
      left join container hub on hub.tenant_id = $1 and hub.id = k.parent_id
      where t.tenant_id = $1 and t.account_id = $2 and t.is_listed
        and (t.container_id is null and w.id is null or k.id is not null and k.deleted_at is null and hub.deleted_at is null)`
    const place = [caller.tenantId, caller.accountId]
    const unread = send(
      `select count(*)::int as unread from (select 1 ${own} and t.read_at is null limit 1000) counted`,
      ...place,
    )
    const rows = await send(
      `select t.id, t.category, t.at, t.count, t.event_type, t.actor_id, t.subject, k.id as container_id, t.text, t.read_at
       ${own} order by t.at desc, t.id desc limit $3`,
      ...[...place, 51],
    )
    return { ...page(rows, 'id'), unread_count: (await unread)[0]?.['unread'] }
  })

/** What a change leaves: its entry in the trail, its event, and what the webhooks get. */
function evidence({ send, caller }: Bare, action: string, subject: { kind: string; id: string }, data: Row): void {
  const { tenantId, accountId } = caller
  const eventId = randomUUID()
  const type = `svc.identity.${action}.v1`
  void send(
    `insert into audit_entry (tenant_id, id, action, actor_kind, actor_account_id, via, subject_kind, subject_id, params)
     values ($1, $2, $3, 'ACCOUNT', $4, 'API', $5, $6, $7)`,
    ...[tenantId, randomUUID(), action, accountId, subject.kind, subject.id, data],
  )
  const body = JSON.stringify({ specversion: '1.0', id: eventId, source: `/workspaces/${tenantId}`, type, data })
  void send(
    `insert into outbox_event (tenant_id, id, type, body) values ($1, $2, $3, $4)`,
    ...[tenantId, eventId, type, body],
  )
  void send(
    `insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause, due_at)
     select tenant_id, uuidv7(), id, $2, $3, 'EVENT', now() from webhook where tenant_id = $1 and state = 'ACTIVE' and event_types ? $3`,
    ...[tenantId, eventId, type],
  )
}

function tell({ send, caller }: Bare, subject: string, accountId: string): void {
  void send(
    `insert into notification_pending (tenant_id, id, event_id, event_type, at, actor_id, subject, told)
     values ($1, $2, $3, 'svc.identity.group.member_added.v1', now(), $4, $5, $6)`,
    ...[caller.tenantId, randomUUID(), randomUUID(), caller.accountId, subject],
    [{ category: 'ACCESS', accounts: [accountId] }],
  )
}

export const putIntoGroup = (client: postgres.Sql, caller: BareCaller, groupId: string, accountId: string) =>
  changing(client, caller, {
    async ask({ send }) {
      const { tenantId } = caller
      const [group, account, member] = await Promise.all([
        send(
          `select binding_provider_id from account_group where tenant_id = $1 and id = $2 for update`,
          tenantId,
          groupId,
        ),
        send(`select state from account where tenant_id = $1 and id = $2 for no key update`, tenantId, accountId),
        send(
          `select 1 from group_member where tenant_id = $1 and group_id = $2 and account_id = $3`,
          ...[tenantId, groupId, accountId],
        ),
        // Whether the account is above the caller.
        send(`select role from membership where tenant_id = $1 and holder_id = $2`, tenantId, accountId),
      ])
      if (!group[0] || group[0]['binding_provider_id'] || !account[0] || member[0])
        throw new Error('it is not to be put in')
    },
    async write(bare) {
      const { tenantId } = caller
      const made = bare.send(
        `insert into group_member (tenant_id, group_id, account_id, added_by, source) values ($1, $2, $3, $4, 'DIRECT')
         returning account_id, added_at, added_by, source`,
        ...[tenantId, groupId, accountId, caller.accountId],
      )
      void bare.send(
        `update account_group set member_count = member_count + 1 where tenant_id = $1 and id = $2`,
        ...[tenantId, groupId],
      )
      void bare.send(
        `update account set group_ids = group_ids || $3::uuid where tenant_id = $1 and id = $2`,
        ...[tenantId, accountId, groupId],
      )
      evidence(bare, 'group.member_added', { kind: 'account', id: accountId }, { group_id: groupId, source: 'DIRECT' })
      tell(bare, `/groups/${groupId}/members/${accountId}`, accountId)
      return (await made)[0]
    },
  })

/** What ends with an account: its table, and which of its rows are open. */
const ending = [
  ...['step_up', 'password_reset', 'sign_in_challenge', 'sign_in_link', 'address_confirmation', 'invitation'].map(
    (table) => `update ${table} set used_at = now() where tenant_id = $1 and account_id = $2 and used_at is null`,
  ),
  `update sign_in_flow set used_at = now() where tenant_id = $1 and proved_account_id = $2 and used_at is null`,
]

export const disable = (client: postgres.Sql, caller: BareCaller, accountId: string, onDisk: () => Promise<unknown>) =>
  changing(client, caller, {
    beside: onDisk,
    async ask({ send }) {
      const { tenantId } = caller
      const [account] = await Promise.all([
        send(`select state from account where tenant_id = $1 and id = $2 for update`, tenantId, accountId),
        send(`select role from membership where tenant_id = $1 and holder_id = $2`, tenantId, accountId),
      ])
      if (account[0]?.['state'] !== 'ACTIVE') throw new Error('it is not to be disabled')
    },
    async write(bare) {
      const place = [caller.tenantId, accountId]
      void bare.send(
        `update account set state_before = state, state = 'DISABLED', disabled_at = now(), updated_at = now(), version = version + 1
         where tenant_id = $1 and id = $2`,
        ...place,
      )
      void bare.send(
        `update session set revoked_at = now() where tenant_id = $1 and account_id = $2 and revoked_at is null`,
        ...place,
      )
      void bare.send(
        `update credential set revoked_at = now() where tenant_id = $1 and account_id = $2 and revoked_at is null`,
        ...place,
      )
      for (const statement of ending) void bare.send(statement, ...place)
      void bare.send(`select id from webhook where tenant_id = $1 and acts_for = $2 and state <> 'DISABLED'`, ...place)
      const subject = { kind: 'account', id: accountId }
      evidence(bare, 'account.credentials_ended', subject, { reason: 'account_disabled', sessions: 1, tokens: 1 })
      evidence(bare, 'token.revoked', { kind: 'token', id: randomUUID() }, {})
      evidence(bare, 'account.disabled', subject, {})
      return (await bare.send(account, ...place))[0]
    },
  })

export const refresh = (client: postgres.Sql, caller: BareCaller, token: string) =>
  changing(client, caller, {
    // Whose token it is, is not known before.
    as: `begin read write; set local role svc_installation; set local app.tenant_id = ''`,
    async ask({ send }) {
      const [found] = await send(
        `select r.tenant_id, r.account_id, r.session_id, r.id from credential r
         join session s on s.tenant_id = r.tenant_id and s.id = r.session_id and s.revoked_at is null
         join account a on a.tenant_id = r.tenant_id and a.id = r.account_id and a.state = 'ACTIVE'
         where r.hash = $1 and r.kind = 'REFRESH' and r.used_at is null and r.revoked_at is null and r.expires_at > now()
           and exists (select 1 from membership m where m.tenant_id = a.tenant_id and (m.holder_id = a.id or m.holder_id = any (a.group_ids)))
         for update of r, s`,
        ...[createHash('sha256').update(token).digest()],
      )
      if (!found) throw new Error('nobody has this token')
      return found
    },
    async write({ send }, { tenant_id: tenantId, account_id: accountId, session_id: sessionId, id }) {
      void send(`update credential set used_at = now() where tenant_id = $1 and id = $2`, tenantId, id)
      void send(
        `update credential set revoked_at = now() where tenant_id = $1 and session_id = $2 and kind = 'SESSION' and revoked_at is null`,
        ...[tenantId, sessionId],
      )
      void send(
        `update session set last_used_at = now(), rotated_at = now() where tenant_id = $1 and id = $2`,
        ...[tenantId, sessionId],
      )
      const pair = (['SESSION', 'REFRESH'] as const).map((kind) => ({
        kind,
        token: randomBytes(36).toString('base64url'),
      }))
      const ends = { SESSION: new Date(Date.now() + 900_000), REFRESH: new Date(Date.now() + 2_592_000_000) }
      await send(
        `insert into credential (tenant_id, account_id, session_id, scopes, id, kind, hash, last4, expires_at)
         values ($1, $2, $3, 'workspace:read workspace:write workspace:admin', $4, $5, $6, $7, $8),
                ($1, $2, $3, 'workspace:read workspace:write workspace:admin', $9, $10, $11, $12, $13)`,
        ...[tenantId, accountId, sessionId],
        ...pair.flatMap((one) => [
          ...[randomUUID(), one.kind, createHash('sha256').update(one.token).digest()],
          ...[one.token.slice(-4), ends[one.kind].toISOString()],
        ]),
      )
      const [access, renewed] = pair
      return {
        session_id: sessionId,
        access_token: access?.token,
        access_expires_at: ends.SESSION,
        refresh_token: renewed?.token,
        refresh_expires_at: ends.REFRESH,
      }
    },
  })
