/**
 * The gate: identifies the caller, and decides whether it may call this operation.
 *
 * Everything follows from the operation's `needs`, in the order of decisions 1:
 *
 *    token → recovery → workspace state → scope → register → role → rate
 *    ticket instead of a token → its token, from there on the same
 *    no token needed → source (source.ts) → rate of the source (source-rate.ts)
 *
 * A text that cannot be a token is refused without a query. Every other token needs one
 * look-up by its hash (credential.ts), alone (`admit`) or in the first packet of the work (`foresee`). Nothing is cached
 * between requests: a suspension, a revocation or a removal from the register takes effect with the next request on every
 * replica.
 *
 * Elsewhere: syntax and size come before (body.ts, mount.ts), the schema, the step-up and
 * If-Match after (perform.ts). Spec: Authentication; decisions 2.
 */

import { demandedOf, isMeant } from '../core/areas/auth/second-factor/demand.ts'
import { ceilingOf } from '../core/areas/settings/quotas.ts'
import {
  changesWaysIn,
  isServedWithoutFactor,
  type Needs,
  type Operation,
  takesSessionOnly,
} from '../core/contract/operation.ts'
import { Problem, type ProblemCode, refuse } from '../core/contract/problem.ts'
import { type Role, rankOf, type Scope } from '../core/contract/vocabulary.ts'
import type { Config } from '../core/kernel/config/config.ts'
import { asInstallation } from '../core/kernel/database/roles.ts'
import type { Tx } from '../core/kernel/database/transaction.ts'
import { readTicket } from '../core/kernel/request/ticket.ts'
import { spanned } from '../core/kernel/tracing/tracing.ts'
import { refuseRestoring } from '../core/kernel/transaction/admission.ts'
import { isServedWhileGated, refuseRecovering } from '../core/kernel/transaction/gate.ts'
import type { Entry, Installation } from '../core/kernel/transaction/installation.ts'
import { type AccountActor, type Actor, actsForInstallation, anyoneFrom } from '../core/kernel/values/actor.ts'
import { hashToken, isTokenShaped } from '../core/kernel/values/token.ts'
import { actorOf, type CredentialRow, decideAlike, lookUpCredential, noteUse } from './credential.ts'
import { deviceFamilyOf } from './device.ts'
import { workspaceOfHost } from './host.ts'
import { type KnownTokens, openKnownTokens } from './known-tokens.ts'
import type { Rate } from './rate.ts'
import { type Heard, networkOf, sourceOf } from './source.ts'
import type { SourceRate } from './source-rate.ts'

/** A ticket as it was sent, with the ids of the path and the variant. */
export interface SentTicket {
  readonly text: string
  readonly params: Readonly<Record<string, string>>
}

export interface Gate {
  /** The lane in which the call's first transaction would wait; undefined if it has no token, or a text that cannot be one. */
  laneOf(request: Heard): string | undefined
  /**
   * The actor of the call. `pays`: how many requests it has still to spend; one, if nothing is said. Refuses auth.unauthenticated,
   * installation.recovering, tenant_suspended, workspace.restoring, auth.scope_required, admin.operator_required, auth.role_required,
   * auth.second_factor_demanded, quota.exceeded; of strangers request.limited, service.unavailable.
   */
  admit(operation: Operation, request: Heard, pays?: number, ticket?: SentTicket): Promise<Actor>
  /**
   * The actor as the last look-up of its token found it, if that would be admitted: so that the work can leave in the
   * same packet as the look-up. Nothing is decided before `entry` has passed.
   */
  foresee(operation: Operation, request: Heard): Foreseen | undefined
}

/** An actor that is probably the caller. */
export interface Foreseen {
  readonly actor: AccountActor
  /** Spends as many requests, if the ceiling that the last look-up found allows it. */
  pay(requests: number): Promise<boolean>
  /** Looks the token up. Throws Misjudged if a call with it is decided otherwise by now. */
  readonly entry: Entry
  /** Whether the look-up of the last attempt has confirmed the actor. */
  readonly isConfirmed: boolean
}

/** The guess about a caller was wrong, so the work that began with it is undone. */
export class Misjudged extends Error {
  override name = 'Misjudged'
}

export function openGate(installation: Installation, rate: Rate, sourceRate: SourceRate): Gate {
  const { config } = installation
  const noted = new Set<string>()
  const tokens = openKnownTokens()

  const pay = async ({ needs }: Operation, row: CredentialRow, actor: AccountActor, requests: number) => {
    // Calls on /admin belong to the installation and not to the workspace.
    if (needs.caller === 'operator' || (needs.caller === 'workspace or operator' && actsForInstallation(actor))) return
    const { ceiling, decided_ceiling: decided } = row
    await rate.spend(row.tenant_id, ceilingOf(config.mode, 'api_requests_per_minute', ceiling, decided), requests)
  }

  const waitingLane = laneAmong(tokens, config)

  return {
    laneOf(request) {
      const hash = bearerHashOf(request)
      return hash === undefined ? undefined : waitingLane(hash, request)
    },

    async admit(operation, request, pays = 1, ticket = undefined) {
      const { needs } = operation
      if (needs.caller === 'anyone') return admitStranger(sourceRate, operation, request, config)
      const isByTicket = ticket !== undefined && request.headers.authorization === undefined
      const row = isByTicket
        ? await findByTicket(installation, operation, ticket)
        : await findByToken(installation, tokens, request, waitingLane)
      if (!isServedOn(config, request.headers.host, row)) refuse(isByTicket ? 'not_found' : 'auth.unauthenticated')
      installation.identity.epoch = row.epoch
      const actor = actorOf(row)
      const isFirst = mayBeFirst(needs, actor) && (await isRegisterEmpty(installation, actor))
      judge(needs, row, actor, isFirst)
      if (pays > 0) await pay(operation, row, actor, pays)
      if (row.is_unseen && !isByTicket) noteUse(installation, actor, noted)
      return actor
    },

    foresee(operation, request) {
      const hash = bearerHashOf(request)
      if (operation.needs.caller === 'anyone' || hash === undefined) return undefined
      const known = tokens.find(hash)
      // A cursor is bound to the epoch, so work must not begin with an old one.
      if (!known || known.epoch !== installation.identity.epoch) return undefined
      const actor = actorOf(known)
      if (!isServedOn(config, request.headers.host, known) || !isAdmitted(operation.needs, known, actor))
        return undefined
      let isConfirmed = false
      return {
        actor,
        pay: (requests) => pay(operation, known, actor, requests).then(() => true, refusedAs('quota.exceeded')),
        async entry(tx, isChange) {
          isConfirmed = false // an attempt that collided is followed by another
          const row = await lookUpWithWork(operation, tx, hash, isChange)
          if (!row || !decideAlike(row, known)) {
            tokens.forget(hash)
            throw new Misjudged()
          }
          isConfirmed = true
          if (row.is_unseen) noteUse(installation, actor, noted)
          return { hasWebhooks: row.has_webhooks !== false }
        },
        get isConfirmed() {
          return isConfirmed
        },
      }
    },
  }
}

/** Refuses request.limited, service.unavailable. */
async function admitStranger(rate: SourceRate, operation: Operation, request: Heard, { trustedProxies }: Config) {
  const source = sourceOf(request, trustedProxies)
  if (operation.needs.caller === 'anyone') await rate.spend(operation, operation.needs.rate, source)
  return anyoneFrom(source, deviceFamilyOf(request.headers['user-agent']))
}

const lookUpWithWork = ({ id }: Operation, tx: Tx, hash: Buffer, asksForWebhooks: boolean) =>
  spanned('gate', id, () => lookUpCredential(tx, hash, { asksForWebhooks }))

/** The lane of a token: its workspace's if it is known, otherwise that of its source. */
const laneAmong = (tokens: KnownTokens, config: Config) => (hash: Buffer, request: Heard) =>
  tokens.laneOf(hash, () => networkOf(sourceOf(request, config.trustedProxies)))

/** For a refusal with this code false; throws any other error. */
const refusedAs = (code: ProblemCode) => (error: unknown) => {
  if (error instanceof Problem && error.code === code) return false
  throw error
}

/** Refuses what the row of the credential does not allow, in the order of decisions 1. */
function judge(needs: Needs, row: CredentialRow, actor: AccountActor, isFirst: boolean): void {
  if (row.is_gated && !isServedWhileGated(needs, actor)) refuseRecovering()
  if (row.state !== 'ACTIVE') refuse('tenant_suspended')
  // An operator acts for the installation, wherever the account belongs.
  if (row.is_restoring && !actsForInstallation(actor)) refuseRestoring()
  authorize(needs, actor, row.container_rank ?? 0, isFirst)
  const isDemanded = isMeant(demandedOf(row.factor_demanded_of), { ...actor, hasPassword: row.has_password })
  if (row.lacks_factor && isDemanded && !isServedWithoutFactor(needs)) refuse('auth.second_factor_demanded')
}

function isAdmitted(needs: Needs, row: CredentialRow, actor: AccountActor): boolean {
  try {
    judge(needs, row, actor, false)
    return true
  } catch {
    return false
  }
}

function authorize(needs: Needs, actor: AccountActor, containerRank: number, isFirst: boolean): void {
  switch (needs.caller) {
    case 'anyone':
      break
    case 'account':
      if (changesWaysIn(needs) && actor.sessionId === null) demandScope(actor, 'workspace:admin')
      if (takesSessionOnly(needs) && actor.sessionId === null) refuse('auth.credential_kind', { accepted: 'SESSION' })
      break
    case 'workspace':
      demandPlace(actor, needs, needs.within === 'container' ? containerRank : 0)
      break
    case 'workspace or operator':
      if (!actsForInstallation(actor)) demandPlace(actor, needs, needs.within === 'container' ? containerRank : 0)
      else if (!actor.isOperator) refuse('admin.operator_required')
      break
    case 'operator':
      demandScope(actor, 'admin:tenants')
      if (!actor.isOperator && !isFirst) refuse('admin.operator_required')
  }
}

/** Whether the caller would be the first operator if the register is empty. */
const mayBeFirst = (needs: Needs, { isOperator, scopes }: AccountActor): boolean =>
  needs.caller === 'operator' &&
  needs.whileRegisterEmpty === 'scope alone' &&
  !isOperator &&
  scopes.includes('admin:tenants')

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

/** The token that each connection sent last, and its hash, which costs a refusal at the door a tenth of its time. */
const lastHeard = new WeakMap<Heard['socket'], { readonly header: string; readonly hash: Buffer | undefined }>()

/** The hash of what may be a token. */
function bearerHashOf({ headers: { authorization: header }, socket }: Heard): Buffer | undefined {
  if (header === undefined || header.length > 200) return undefined
  const last = lastHeard.get(socket)
  if (last?.header === header) return last.hash
  const [, token] = /^bearer +([^\s]+)$/i.exec(header) ?? []
  const isToken = token !== undefined && isTokenShaped(token, 'personal', 'service', 'session')
  const hash = isToken ? hashToken(token) : undefined
  lastHeard.set(socket, { header, hash })
  return hash
}

/** Looks the call's token up in a transaction of its own; a text that cannot be one costs no query. */
async function findByToken(
  { pool }: Installation,
  tokens: KnownTokens,
  request: Heard,
  laneOf: (hash: Buffer, request: Heard) => string,
): Promise<CredentialRow | undefined> {
  const hash = bearerHashOf(request)
  if (hash === undefined) return undefined
  const lane = laneOf(hash, request)
  const row = await pool.transaction(asInstallation, (tx) => lookUpCredential(tx, hash, { isLast: true }), {
    readOnly: true,
    lane,
    answersCaller: true,
  })
  if (row) tokens.remember(hash, row)
  else tokens.forget(hash)
  return row
}

/** The token that a ticket was made with, as it is now. A text that is no ticket costs no query. */
async function findByTicket(
  { pool, keyring }: Installation,
  { id: operation }: Operation,
  { text, params }: SentTicket,
): Promise<CredentialRow | undefined> {
  const ticket = readTicket(keyring, { operation, params }, text)
  if (!ticket) return undefined
  const row = await pool.transaction(asInstallation, (tx) => lookUpCredential(tx, ticket, { isLast: true }), {
    readOnly: true,
    lane: ticket.tenantId,
    answersCaller: true,
  })
  return row?.epoch === ticket.epoch ? row : undefined
}

/** A workspace's subdomain serves only tokens of this workspace; every other host serves all tokens. */
function isServedOn(config: Config, host: string | undefined, row: CredentialRow | undefined): row is CredentialRow {
  const named = workspaceOfHost(config, host)
  return row !== undefined && (named === undefined || named === row.slug)
}

/** Needed only for callers outside the register; the rule checks again under its lock. */
async function isRegisterEmpty({ pool }: Installation, { tenantId: lane }: AccountActor): Promise<boolean> {
  const [row] = await pool.transaction(
    asInstallation,
    (tx) => tx.last<{ is_empty: boolean }[]>`select not exists (select from operator) as is_empty`,
    { readOnly: true, lane, answersCaller: true },
  )
  return row?.is_empty === true
}
