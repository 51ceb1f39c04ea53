/**
 * A credential as the gate looks it up, with all that decides a call. Spec: Authentication; decisions 2.
 */
import { isTokenIssued } from '../core/areas/access/issued-moment.ts'
import { rankIn } from '../core/areas/access/workspace-role.ts'
import { signInDefaults } from '../core/contract/settings/defaults.ts'
import type { Role, Scope } from '../core/contract/vocabulary.ts'
import { ownHolders } from '../core/kernel/database/role-holders.ts'
import { openAsInstallation, withoutSync } from '../core/kernel/database/roles.ts'
import type { Tx } from '../core/kernel/database/transaction.ts'
import type { Ticket } from '../core/kernel/request/ticket.ts'
import { admitted } from '../core/kernel/transaction/admission.ts'
import { gateAccessOf } from '../core/kernel/transaction/gate.ts'
import type { Installation } from '../core/kernel/transaction/installation.ts'
import type { AccountActor } from '../core/kernel/values/actor.ts'

export interface CredentialRow {
  readonly tenant_id: string
  readonly id: string
  readonly account_id: string
  readonly session_id: string | null
  readonly kind: 'PERSONAL' | 'SERVICE' | 'SESSION'
  readonly scopes: string
  readonly expires_at: string | null
  readonly is_unseen: boolean
  /** Whether somebody signed in to the session within the last 300 s; one from the future is not new. Null without a session. */
  readonly is_session_new: boolean | null
  /** Null also after the elevation has ended. */
  readonly elevated_until: string | null
  readonly state: 'ACTIVE' | 'SUSPENDED' | 'PENDING_DELETION'
  readonly slug: string
  /** Whether its rows are being written by a restore. */
  readonly is_restoring: boolean
  readonly account_kind: 'PERSON' | 'SERVICE'
  /** On the workspace, the highest of the account's own and its groups'; null for a guest. */
  readonly role: Role | null
  /** The rank of the highest role in any container; null where there is none. */
  readonly container_rank: number | null
  readonly is_operator: boolean
  /** Null also after the probation has ended. */
  readonly probation_until: string | null
  readonly ceiling: number | bigint | null
  readonly decided_ceiling: number | bigint | null
  readonly epoch: string
  readonly is_gated: boolean
  readonly has_password: boolean
  /** Whether the installation demands a second factor of some accounts, and this one has none. */
  readonly lacks_factor: boolean
  /** The installation's decision; null if it decided nothing. */
  readonly factor_demanded_of: string | null
  /** Whether the workspace has webhooks, in whatever state; null if that was not asked. */
  readonly has_webhooks: boolean | null
}

/**
 * The only query of every authenticated call, as the installation. Its plan is one look-up by hash, or by id for a ticket, followed by look-ups
 * by key. Undefined: the token is not valid. `asksForWebhooks`: the caller's change must know whether anybody listens.
 */
export async function lookUpCredential(
  tx: Tx,
  by: Buffer | Pick<Ticket, 'tenantId' | 'credentialId'>,
  { isLast = false, asksForWebhooks = false } = {},
): Promise<CredentialRow | undefined> {
  const look = isLast ? tx.last : tx
  const isMeant = Buffer.isBuffer(by)
    ? tx.part`c.hash = ${by}`
    : tx.part`c.tenant_id = ${by.tenantId} and c.id = ${by.credentialId}`
  // Two texts: with a condition on a parameter, PostgreSQL would plan the statement anew for each call.
  const hasWebhooks = asksForWebhooks
    ? tx.part`exists (select from webhook w where w.tenant_id = c.tenant_id)`
    : tx.part`null::boolean`
  const [row] = await look<CredentialRow[]>`
    select c.tenant_id, c.id, c.account_id, c.session_id, c.kind, c.scopes, c.expires_at,
           c.last_used_at is null or c.last_used_at < now() - interval '1 minute' as is_unseen,
           s.created_at > now() - interval '300 seconds' and s.created_at <= now() + interval '5 seconds' as is_session_new,
           case when s.elevated_at <= now() + interval '5 seconds' and s.elevated_until > now() then s.elevated_until end as elevated_until,
           t.state, t.slug, t.restoring_at is not null as is_restoring, a.kind as account_kind, m.role, m.container_rank,
           o.account_id is not null as is_operator, case when o.probation_until > now() then o.probation_until end as probation_until,
           q.ceiling, d.decided_ceiling, i.epoch, i.gated_at is not null as is_gated, a.password_hash is not null as has_password,
           coalesce(d.factor_demanded_of, ${signInDefaults.mfa_required_for}) <> 'NONE' and not exists (
             select from second_factor f
             where f.tenant_id = c.tenant_id and f.account_id = c.account_id and f.confirmed_at is not null
           ) as lacks_factor,
           d.factor_demanded_of, ${hasWebhooks} as has_webhooks
    from credential c
    cross join installation i
    join account a on a.tenant_id = c.tenant_id and a.id = c.account_id and a.state = 'ACTIVE'
    cross join lateral (
      select case max(r.rank) filter (where r.container_id is null)
               when 50 then 'OWNER' when 40 then 'ADMIN' when 30 then 'MEMBER' when 20 then 'COMMENTER' when 10 then 'VIEWER' end as role,
             max(r.rank) filter (where r.container_id is not null) as container_rank
      from (
        select e.container_id, ${rankIn(tx, tx.part`e.role`)} as rank from membership e
        where e.tenant_id = c.tenant_id
          and e.holder_id = any (${ownHolders(tx)})) r) m
    join tenant t on t.id = c.tenant_id
    left join session s on s.tenant_id = c.tenant_id and s.id = c.session_id
    left join operator o on o.account_id = c.account_id
    cross join (
      select (max(v.value::text) filter (where v.name = 'quotas.api_requests_per_minute'))::bigint as decided_ceiling,
             max(v.value #>> '{}') filter (where v.name = 'sign_in.mfa_required_for') as factor_demanded_of
      from setting v where v.name in ('quotas.api_requests_per_minute', 'sign_in.mfa_required_for')) d
    left join tenant_quota q on q.tenant_id = c.tenant_id and q.quota = 'api_requests_per_minute'
    where ${isMeant} and c.kind in ('PERSONAL', 'SERVICE', 'SESSION')
      and c.revoked_at is null and s.revoked_at is null and (c.expires_at is null or c.expires_at > now())
      and ${isTokenIssued(tx)}`
  // An account without any role has left the workspace, also as an operator (docs/decisions/0151).
  return row && row.role === null && row.container_rank === null ? undefined : row
}

/** Of these, nothing follows for whether a call is admitted. What takes a step-up is never guessed. */
const undeciding: readonly (keyof CredentialRow)[] = ['is_unseen', 'is_session_new', 'has_webhooks']

/** Whether two look-ups of a token decide every call alike. */
export const decideAlike = (one: CredentialRow, other: CredentialRow): boolean =>
  (Object.keys(one) as (keyof CredentialRow)[]).every((name) => undeciding.includes(name) || one[name] === other[name])

export const actorOf = (row: CredentialRow): AccountActor => ({
  kind: row.account_kind === 'SERVICE' ? 'SERVICE' : 'ACCOUNT',
  accountId: row.account_id,
  tenantId: row.tenant_id,
  credentialId: row.id,
  bearerId: row.session_id ?? row.id,
  sessionId: row.session_id,
  elevatedUntil: row.elevated_until,
  isSessionNew: row.is_session_new === true,
  expiresAt: row.expires_at,
  scopes: row.scopes.split(' ') as Scope[],
  role: row.role ?? 'VIEWER',
  isGuest: row.role === null,
  isOperator: row.is_operator,
  probationUntil: row.probation_until,
  epoch: row.epoch,
})

/** Records the use of a credential, at most once a minute and beside the call. If it fails, a later call records it. */
export function noteUse({ pool }: Installation, actor: AccountActor, noted: Set<string>): void {
  const { tenantId, credentialId: id, sessionId } = actor
  if (noted.has(id)) return
  noted.add(id)
  const write = (tx: Tx) => async () => {
    // The session is locked before its credential, in the same order as by everything that ends them.
    const session =
      sessionId === null
        ? undefined
        : tx`update session set last_used_at = now() where tenant_id = ${tenantId} and id = ${sessionId}`
    await Promise.all([
      session,
      tx`update credential set last_used_at = now() where tenant_id = ${tenantId} and id = ${id}`,
    ])
  }
  // This is a change by the workspace's people, so it must not commit after a suspension or after the gate has closed.
  const note = pool.transaction(
    `${openAsInstallation}; ${withoutSync}`,
    (tx) => admitted(tx, { workspace: tenantId, gateAccess: gateAccessOf(actor) }, write(tx)),
    {
      lane: tenantId,
    },
  )
  note.catch(() => {}).finally(() => noted.delete(id))
}
