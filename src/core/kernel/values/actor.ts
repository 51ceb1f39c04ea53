/** Who acts: the caller of an operation, or the job that carries one on. Spec: decisions 4, JournalEntry; 2, Who calls. */
import { hostname, userInfo } from 'node:os'
import type { Role, Scope } from '../../contract/vocabulary.ts'
import { installationScope } from '../../contract/vocabulary.ts'

/** A workspace's own account, known by the credential it brought. */
export interface AccountActor {
  readonly kind: 'ACCOUNT' | 'SERVICE'
  readonly accountId: string
  readonly tenantId: string
  /** The token that was brought. */
  readonly credentialId: string
  /** The session it belongs to, or the token itself: what a step-up is bound to, and what outlives an access token. */
  readonly bearerId: string
  readonly sessionId: string | null
  /** When the token that was brought ends; null where it does not. */
  readonly expiresAt?: string | null
  readonly scopes: readonly Scope[]
  /** On the workspace; the least one for a guest, whom it serves nothing. */
  readonly role: Role
  /** Has no role on the workspace, but in containers (areas/access/access.ts). */
  readonly isGuest?: boolean
  readonly isOperator: boolean
  /** Until when an operator is on probation: what takes a step-up is refused it (perform.ts). Absent or null: a full one, or none. */
  readonly probationUntil?: string | null
  /** A step-up was spent for this call: the account's own person was at the keyboard. */
  readonly isProven?: boolean
  /** The installation's epoch when the credential was read; a change in another one is refused (recovery/gate.ts). */
  readonly epoch?: string
}

/** The operator at the database: no token, but an operating-system user on a host. */
export interface RecoveryActor {
  readonly kind: 'RECOVERY'
  readonly osUser: string
  readonly host: string
}

export interface SystemActor {
  readonly kind: 'SYSTEM'
  readonly job: string
}

/** Nobody has signed in (yet). */
export interface AnonymousActor {
  readonly kind: 'ANYONE'
  /** Where the call came from (daemon/source.ts); empty for what this process asks of itself. */
  readonly source: string
}

export type Actor = AccountActor | RecoveryActor | SystemActor | AnonymousActor

export const anyone: AnonymousActor = { kind: 'ANYONE', source: '' }

export const anyoneFrom = (source: string): AnonymousActor => ({ kind: 'ANYONE', source })

export const recoveryActor = (): RecoveryActor => ({ kind: 'RECOVERY', osUser: userInfo().username, host: hostname() })

export const isAccount = (actor: Actor): actor is AccountActor => actor.kind === 'ACCOUNT' || actor.kind === 'SERVICE'

/** Whether the caller acts for the installation where an operation serves both: with `admin:tenants`, or at the database. */
export const actsForInstallation = (actor: Actor) => !isAccount(actor) || actor.scopes.includes('admin:tenants')

/** The workspace whose keys, cursors and answers these are; the nil UUID for the installation. */
export const scopeOf = (actor: Actor) => (isAccount(actor) ? actor.tenantId : installationScope)

export const accountIdOf = (actor: Actor) => (isAccount(actor) ? actor.accountId : null)

/** How the act reached the database, as evidence names it. */
export const viaOf = (actor: Actor) =>
  actor.kind === 'RECOVERY' ? 'RECOVERY' : actor.kind === 'SYSTEM' ? 'JOB' : 'API'
