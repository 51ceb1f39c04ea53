/** Workspaces, accounts and tokens for a test: made over the API where the test is about it, and by SQL elsewhere. */
import { hasherFor } from '../../src/core/areas/auth/password/hashing-lane.ts'
import { hashPassword } from '../../src/core/areas/auth/password/password.ts'
import type { Role, Scope } from '../../src/core/contract/vocabulary.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { newId } from '../../src/core/kernel/values/id.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import type { TestDaemon } from './daemon.ts'
import type { TestDatabase } from './database.ts'

/** Whatever has a superuser's client of the installation's database: a daemon of a test, for one. */
interface Located {
  readonly db: Pick<TestDatabase, 'sql'>
}

export interface Person {
  readonly tenantId: string
  readonly accountId: string
  readonly credentialId: string
  readonly token: string
}

export interface Credential {
  readonly role?: Role
  readonly scopes?: readonly Scope[]
  readonly kind?: 'PERSONAL' | 'SERVICE' | 'SESSION'
  /** SQL for the moment it ends, e.g. `now() - interval '1 second'`. */
  readonly expires?: string
  readonly revoked?: boolean
  readonly sessionRevoked?: boolean
  readonly operator?: boolean
  readonly accountState?: 'INVITED' | 'ACTIVE' | 'DISABLED'
  /** The password's hash; absent: no password. */
  readonly passwordHash?: string
}

export const everyScope: readonly Scope[] = ['workspace:read', 'workspace:write', 'workspace:admin', 'admin:tenants']

export interface Home {
  readonly tenantId: string
  readonly accountId: string
  readonly email: string
  readonly password: string
  readonly session: string
}

/** The first workspace, over the API. */
export async function setUp(daemon: TestDaemon, slug = 'home'): Promise<Home> {
  const email = `owner@${slug}.example`
  const password = 'correct horse battery'
  const answer = await daemon.call('POST', '/api/v1/auth/installation:set-up', {
    body: {
      set_up_token: daemon.setUpToken,
      workspace: { slug, display_name: 'Home' },
      owner: { email, display_name: 'Olga', password },
    },
  })
  if (answer.status !== 201) throw new Error(`set-up answered ${answer.status}: ${answer.text}`)
  return {
    tenantId: answer.json.tenant.id,
    accountId: answer.json.account_id,
    email,
    password,
    session: answer.json.session.access_token,
  }
}

/** A workspace without accounts. */
export async function workspace(
  { db: { sql } }: Located,
  slug: string,
  state: 'ACTIVE' | 'SUSPENDED' | 'PENDING_DELETION' = 'ACTIVE',
): Promise<string> {
  const id = newId()
  await sql`
    insert into tenant (id, slug, display_name, state, default_locale, default_time_zone, suspended_at, purge_after)
    values (${id}, ${slug}, ${slug}, ${state}, 'en', 'UTC', ${state === 'SUSPENDED' ? sql`now()` : null}, ${state === 'PENDING_DELETION' ? sql`now() + interval '30 days'` : null})`
  return id
}

/** An account of the workspace with one token, as it is after signing in or minting. */
export async function person({ db: { sql } }: Located, tenantId: string, given: Credential = {}): Promise<Person> {
  const {
    role = 'OWNER',
    scopes = everyScope,
    kind = 'PERSONAL',
    expires = "now() + interval '1 hour'",
    accountState = 'ACTIVE',
  } = given
  const [accountId, credentialId] = [newId(), newId()]
  const sessionId = kind === 'SESSION' ? newId() : null
  const { token, hash, last4 } = mintToken(
    ({ PERSONAL: 'personal', SERVICE: 'service', SESSION: 'session' } as const)[kind],
  )
  const email = kind === 'SERVICE' ? null : `${accountId}@people.example`
  await sql.begin(async (tx) => {
    await tx`
      insert into account (tenant_id, id, kind, state, email, email_fold, display_name, password_hash)
      values (${tenantId}, ${accountId}, ${kind === 'SERVICE' ? 'SERVICE' : 'PERSON'}, ${accountState}, ${email}, ${email}, 'Somebody', ${given.passwordHash ?? null})`
    await tx`insert into membership (tenant_id, id, account_id, role) values (${tenantId}, ${newId()}, ${accountId}, ${role})`
    if (sessionId)
      await tx`insert into session (tenant_id, id, account_id, revoked_at) values (${tenantId}, ${sessionId}, ${accountId}, ${given.sessionRevoked ? tx`now()` : null})`
    await tx`
      insert into credential (tenant_id, id, account_id, session_id, kind, hash, last4, name, scopes, expires_at, revoked_at)
      values (${tenantId}, ${credentialId}, ${accountId}, ${sessionId}, ${kind}, ${hash}, ${last4}, 'test', ${scopes.join(' ')}, ${tx.unsafe(expires)}, ${given.revoked ? tx`now()` : null})`
    if (given.operator) await tx`insert into operator (account_id, workspace_id) values (${accountId}, ${tenantId})`
  })
  return { tenantId, accountId, credentialId, token }
}

/** A step-up of the bearer, as it is right after the password was checked; for any one call. */
export async function plantProof({ db: { sql } }: TestDaemon, who: Person): Promise<string> {
  const { token, hash } = mintToken('stepUp')
  await sql`
    insert into step_up (tenant_id, id, account_id, bearer_id, hash, expires_at)
    values (${who.tenantId}, ${newId()}, ${who.accountId}, ${who.credentialId}, ${hash}, now() + interval '5 minutes')`
  return token
}

/** A password as the account's row holds it. */
export const storedPassword = (password: string): Promise<string> =>
  hashPassword(hasherFor(recoveryActor(), ''), password)
