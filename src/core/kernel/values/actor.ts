/**
 * The actor: the caller of an operation, or the job that continues one. Spec: decisions 4, JournalEntry; 2, Who calls.
 */
import { hostname, userInfo } from 'node:os'
import type { DeviceFamily } from '../../contract/auth/devices.ts'
import type { Role, Scope } from '../../contract/vocabulary.ts'
import { installationScope } from '../../contract/vocabulary.ts'

/** A workspace's own account, known by its credential. */
export interface AccountActor {
  readonly kind: 'ACCOUNT' | 'SERVICE'
  readonly accountId: string
  readonly tenantId: string
  /** The token of the call. */
  readonly credentialId: string
  /** The session of the token, or the token itself. A step-up is bound to it, and it outlives an access token. */
  readonly bearerId: string
  readonly sessionId: string | null
  /** Whether somebody signed in to the session within the last 300 s, by the database's clock. */
  readonly isSessionNew?: boolean
  /** Until when the session serves instead of a step-up where that is allowed; absent or null: it does not. */
  readonly elevatedUntil?: string | null
  /** When the token of the call ends; null where it does not. */
  readonly expiresAt?: string | null
  readonly scopes: readonly Scope[]
  /** The role on the workspace; for a guest the least one, which allows nothing. */
  readonly role: Role
  /** Has roles only in containers, none on the workspace (areas/access/access.ts). */
  readonly isGuest?: boolean
  readonly isOperator: boolean
  /**
   * The end of an operator's probation: until then, whatever takes a step-up is refused (perform.ts). Absent or null:
   * no probation, or no operator.
   */
  readonly probationUntil?: string | null
  /** A step-up was spent for this call: the account's person was at the keyboard. */
  readonly isProven?: boolean
  /** The installation's epoch when the credential was read; a change in another epoch is refused (recovery/gate.ts). */
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

/** A caller that has not signed in (yet). */
export interface AnonymousActor {
  readonly kind: 'ANYONE'
  /** Where the call came from (daemon/source.ts); empty for calls of this process itself. */
  readonly source: string
  /** What kind of device it came from, as the client says; null where it says nothing. */
  readonly device?: DeviceFamily | null
}

export type Actor = AccountActor | RecoveryActor | SystemActor | AnonymousActor

export const anyone: AnonymousActor = { kind: 'ANYONE', source: '' }

export const anyoneFrom = (source: string, device: DeviceFamily | null = null): AnonymousActor => ({
  kind: 'ANYONE',
  source,
  device,
})

export const recoveryActor = (): RecoveryActor => ({ kind: 'RECOVERY', osUser: userInfo().username, host: hostname() })

export const isAccount = (actor: Actor): actor is AccountActor => actor.kind === 'ACCOUNT' || actor.kind === 'SERVICE'

/** Whether the caller acts for the installation where an operation serves both: with `admin:tenants`, or at the database. */
export const actsForInstallation = (actor: Actor) => !isAccount(actor) || actor.scopes.includes('admin:tenants')

/** The workspace to which idempotency keys, cursors and answers belong; the nil UUID for the installation. */
export const scopeOf = (actor: Actor) => (isAccount(actor) ? actor.tenantId : installationScope)

export const accountIdOf = (actor: Actor) => (isAccount(actor) ? actor.accountId : null)

/** How the act reached the database, as evidence names it. */
export const viaOf = (actor: Actor) =>
  actor.kind === 'RECOVERY' ? 'RECOVERY' : actor.kind === 'SYSTEM' ? 'JOB' : 'API'
