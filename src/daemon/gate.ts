/**
 * The gate: identifies the caller, and decides whether it may call this operation.
 *
 * Everything follows from the operation's `needs`, in the order of decisions 1:
 *
 *    token → recovery → workspace state → scope → register → role → rate
 *    no token needed → source (source.ts) → rate of the source (source-rate.ts)
 *
 * A text that cannot be a token is refused without a query. Every other token needs one
 * look-up by its hash. Nothing is cached between requests: a suspension, a revocation or a
 * removal from the register takes effect with the next request on every replica.
 *
 * Elsewhere: syntax and size come before (body.ts, mount.ts), the schema, the step-up and
 * If-Match after (perform.ts). Spec: Authentication; decisions 2.
 */

import { demandedOf, isMeant } from '../core/areas/auth/second-factor/demand.ts'
import { ceilingOf } from '../core/areas/settings/quotas.ts'
import { changesWaysIn, isServedWithoutFactor, type Needs, type Operation } from '../core/contract/operation.ts'
import { refuse } from '../core/contract/problem.ts'
import { type Role, rankOf, type Scope } from '../core/contract/vocabulary.ts'
import type { Config } from '../core/kernel/config/config.ts'
import { asInstallation } from '../core/kernel/database/roles.ts'
import type { Tx } from '../core/kernel/database/transaction.ts'
import { admitted } from '../core/kernel/transaction/admission.ts'
import { gateAccessOf, isServedWhileGated, refuseRecovering } from '../core/kernel/transaction/gate.ts'
import type { Installation } from '../core/kernel/transaction/installation.ts'
import { type AccountActor, type Actor, actsForInstallation, anyoneFrom } from '../core/kernel/values/actor.ts'
import { hashToken, isTokenShaped } from '../core/kernel/values/token.ts'
import { workspaceOfHost } from './host.ts'
import { type LookUpLanes, openLookUpLanes } from './look-up-lanes.ts'
import type { Rate } from './rate.ts'
import { type Heard, networkOf, sourceOf } from './source.ts'
import type { SourceRate } from './source-rate.ts'

export interface Gate {
  /** The actor of the call. Refuses auth.unauthenticated, installation.recovering, tenant_suspended, auth.scope_required, admin.operator_required, auth.role_required, auth.second_factor_demanded, quota.exceeded; of strangers request.limited, service.unavailable. */
  admit(operation: Operation, request: Heard): Promise<Actor>
}

interface CredentialRow {
  readonly tenant_id: string
  readonly id: string
  readonly account_id: string
  readonly session_id: string | null
  readonly kind: 'PERSONAL' | 'SERVICE' | 'SESSION'
  readonly scopes: string
  readonly expires_at: string | null
  readonly is_unseen: boolean
  readonly state: 'ACTIVE' | 'SUSPENDED' | 'PENDING_DELETION'
  readonly slug: string
  readonly account_kind: 'PERSON' | 'SERVICE'
  /** On the workspace; null for a guest. */
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
  readonly lacks_factor: boolean
  /** The installation's decision; null if it decided nothing. */
  readonly factor_demanded_of: string | null
}

export function openGate(installation: Installation, rate: Rate, sourceRate: SourceRate): Gate {
  const { config } = installation
  const noted = new Set<string>()
  const lanes = openLookUpLanes()

  return {
    async admit(operation, request) {
      const { headers } = request
      const { needs } = operation
      if (needs.caller === 'anyone') {
        const source = sourceOf(request, config.trustedProxies)
        await sourceRate.spend(operation, needs.rate, source)
        return anyoneFrom(source)
      }
      const token = bearerOf(headers.authorization)
      if (token === undefined) refuse('auth.unauthenticated')
      const row = await findCredential(installation, lanes, token, request)
      if (!row || !isServedOn(config, headers.host, row.slug)) refuse('auth.unauthenticated')
      installation.identity.epoch = row.epoch
      const actor = actorOf(row)
      if (row.is_gated && !isServedWhileGated(needs, actor)) refuseRecovering()
      if (row.state !== 'ACTIVE') refuse('tenant_suspended')

      await authorize(installation, needs, actor, row.container_rank ?? 0)
      if (
        row.lacks_factor &&
        isMeant(demandedOf(row.factor_demanded_of), { ...actor, hasPassword: row.has_password }) &&
        !isServedWithoutFactor(needs)
      )
        refuse('auth.second_factor_demanded')
      // Calls on /admin belong to the installation and not to the workspace.
      if (needs.caller !== 'operator' && !(needs.caller === 'workspace or operator' && actsForInstallation(actor)))
        await rate.spend(
          row.tenant_id,
          ceilingOf(config.mode, 'api_requests_per_minute', row.ceiling, row.decided_ceiling),
        )
      if (row.is_unseen) noteUse(installation, actor, noted)
      return actor
    },
  }
}

async function authorize(
  installation: Installation,
  needs: Needs,
  actor: AccountActor,
  containerRank: number,
): Promise<void> {
  switch (needs.caller) {
    case 'anyone':
      return
    case 'account':
      if (changesWaysIn(needs) && actor.sessionId === null) demandScope(actor, 'workspace:admin')
      return
    case 'workspace':
      return demandPlace(actor, needs, needs.within === 'container' ? containerRank : 0)
    case 'workspace or operator':
      if (actsForInstallation(actor)) {
        if (!actor.isOperator) refuse('admin.operator_required')
        return
      }
      return demandPlace(actor, needs)
    case 'operator': {
      demandScope(actor, 'admin:tenants')
      const isFirst =
        needs.whileRegisterEmpty === 'scope alone' && !actor.isOperator && (await isRegisterEmpty(installation, actor))
      if (!actor.isOperator && !isFirst) refuse('admin.operator_required')
    }
  }
}

/** `elsewhere`: the rank of a role in a container, if the operation needs a role there. */
function demandPlace(
  actor: AccountActor,
  { scope, role }: { readonly scope: Scope; readonly role: Role },
  elsewhere = 0,
): void {
  demandScope(actor, scope)
  if (Math.max(actor.isGuest ? 0 : rankOf[actor.role], elsewhere) < rankOf[role]) refuse('auth.role_required', { role })
}

function demandScope(actor: AccountActor, scope: Scope): void {
  if (!actor.scopes.includes(scope)) refuse('auth.scope_required', { scope })
}

/** The token of an Authorization header; undefined for a text that cannot be one of our tokens. */
function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined || header.length > 200) return undefined
  const [, token] = /^bearer +([^\s]+)$/i.exec(header) ?? []
  return token !== undefined && isTokenShaped(token, 'personal', 'service', 'session') ? token : undefined
}

/** The only query of every authenticated call. Its plan is one look-up by hash, followed by look-ups by key. */
async function findCredential(
  { pool, config }: Installation,
  lanes: LookUpLanes,
  token: string,
  request: Heard,
): Promise<CredentialRow | undefined> {
  const hash = hashToken(token)
  const lane = lanes.of(hash, () => networkOf(sourceOf(request, config.trustedProxies)))
  const [row] = await pool.transaction(
    asInstallation,
    (tx) => tx.last<CredentialRow[]>`
      select c.tenant_id, c.id, c.account_id, c.session_id, c.kind, c.scopes, c.expires_at,
             c.last_used_at is null or c.last_used_at < now() - interval '1 minute' as is_unseen,
             t.state, t.slug, a.kind as account_kind, m.role,
             (select max(case e.role when 'OWNER' then 50 when 'ADMIN' then 40 when 'MEMBER' then 30 when 'COMMENTER' then 20 else 10 end)
              from membership e where e.tenant_id = c.tenant_id and e.account_id = c.account_id and e.container_id is not null) as container_rank,
             o.account_id is not null as is_operator, case when o.probation_until > now() then o.probation_until end as probation_until, q.ceiling,
             (select value::text::bigint from setting where name = 'quotas.api_requests_per_minute') as decided_ceiling,
             i.epoch, i.gated_at is not null as is_gated,
             a.password_hash is not null as has_password, f.id is null as lacks_factor, d.value #>> '{}' as factor_demanded_of
      from credential c
      cross join installation i
      join account a on a.tenant_id = c.tenant_id and a.id = c.account_id and a.state = 'ACTIVE'
      left join membership m on m.tenant_id = c.tenant_id and m.account_id = c.account_id and m.container_id is null
      join tenant t on t.id = c.tenant_id
      left join session s on s.tenant_id = c.tenant_id and s.id = c.session_id
      left join operator o on o.account_id = c.account_id
      left join second_factor f on f.tenant_id = c.tenant_id and f.account_id = c.account_id and f.confirmed_at is not null
      left join setting d on d.name = 'sign_in.mfa_required_for'
      left join tenant_quota q on q.tenant_id = c.tenant_id and q.quota = 'api_requests_per_minute'
      where c.hash = ${hash} and c.kind in ('PERSONAL', 'SERVICE', 'SESSION')
        and c.revoked_at is null and s.revoked_at is null and (c.expires_at is null or c.expires_at > now())`,
    { readOnly: true, lane, answersCaller: true },
  )
  if (row) lanes.remember(hash, row.tenant_id)
  else lanes.forget(hash)
  // An account without any role has left the workspace, also as an operator (docs/decisions/0151).
  return row && row.role === null && row.container_rank === null ? undefined : row
}

/** A workspace's subdomain serves only tokens of this workspace; every other host serves all tokens. */
function isServedOn(config: Config, host: string | undefined, slug: string): boolean {
  const named = workspaceOfHost(config, host)
  return named === undefined || named === slug
}

const actorOf = (row: CredentialRow): AccountActor => ({
  kind: row.account_kind === 'SERVICE' ? 'SERVICE' : 'ACCOUNT',
  accountId: row.account_id,
  tenantId: row.tenant_id,
  credentialId: row.id,
  bearerId: row.session_id ?? row.id,
  sessionId: row.session_id,
  expiresAt: row.expires_at,
  scopes: row.scopes.split(' ') as Scope[],
  role: row.role ?? 'VIEWER',
  isGuest: row.role === null,
  isOperator: row.is_operator,
  probationUntil: row.probation_until,
  epoch: row.epoch,
})

/** Needed only for callers outside the register; the rule checks again under its lock. */
async function isRegisterEmpty({ pool }: Installation, { tenantId: lane }: AccountActor): Promise<boolean> {
  const [row] = await pool.transaction(
    asInstallation,
    (tx) => tx.last<{ is_empty: boolean }[]>`select not exists (select from operator) as is_empty`,
    { readOnly: true, lane, answersCaller: true },
  )
  return row?.is_empty === true
}

/** Records the use of a credential, at most once a minute and after the call. If it fails, a later call records it. */
function noteUse({ pool }: Installation, actor: AccountActor, noted: Set<string>): void {
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
    asInstallation,
    (tx) => admitted(tx, { workspace: tenantId, gateAccess: gateAccessOf(actor) }, write(tx)),
    {
      lane: tenantId,
    },
  )
  note.catch(() => {}).finally(() => noted.delete(id))
}
