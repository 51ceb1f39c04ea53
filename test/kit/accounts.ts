/** The actors of a test: the first operator, owners of other workspaces, and their credentials. */
import { argon2Sync, randomBytes, randomUUIDv7 } from 'node:crypto'
import { performForAnswer } from '../../src/core/app/perform.ts'
import type { Session } from '../../src/core/contract/auth/operations.ts'
import type { Answer } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Role, Scope } from '../../src/core/contract/vocabulary.ts'
import { anyone } from '../../src/core/kernel/values/actor.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type Caller, httpCaller, recoveryCaller } from './callers.ts'
import { startDaemon, type TestDaemon } from './http-server.ts'
import { freshSlug, password, type TestInstallation } from './installation.ts'

export interface Person {
  readonly tenantId: string
  readonly slug: string
  readonly accountId: string
  readonly email: string
  readonly session: Session
}

/** The first run: the first workspace, its owner, and the owner in the register. */
async function setUp(test: TestInstallation, slug = 'first'): Promise<Person> {
  const email = `ops@${slug}.example`
  const { tenant, account_id, session } = await test.asRecovery(operations.setUpInstallation, {
    body: {
      set_up_token: 'not asked for',
      workspace: { slug, display_name: 'First' },
      owner: { email, display_name: 'Olive Operator', password },
    },
  })
  await liftRate(test, tenant.id)
  await lighten(test, account_id)
  return { tenantId: tenant.id, slug, accountId: account_id, email, session }
}

/** A workspace whose owner has redeemed the invitation. */
export async function joinedWorkspace(test: TestInstallation, slug = freshSlug('joined')): Promise<Person> {
  const made = await test.provision(slug)
  const session = await redeem(test, made)
  await liftRate(test, made.tenant.id)
  await lighten(test, made.owner.account_id)
  return { tenantId: made.tenant.id, slug, accountId: made.owner.account_id, email: made.owner.email, session }
}

export const redeem = (test: TestInstallation, made: Answer<typeof operations.provisionTenant>): Promise<Session> =>
  performForAnswer(test.installation, operations.redeemInvitation, anyone, {
    body: { token: made.redemption_token, password, display_name: 'Owen Owner' },
  })

/**
 * A hash of the password at the lowest cost. The stored hash names its cost; a check at the usual cost takes a core for
 * 40 ms.
 */
const lightHash = () => {
  const nonce = randomBytes(16)
  const cost = { memory: 8, passes: 1, parallelism: 1 }
  const hash = argon2Sync('argon2id', { message: password, nonce, tagLength: 32, ...cost })
  const [salt, stored] = [nonce, hash].map((bytes) => bytes.toString('base64').replaceAll('=', ''))
  return `$argon2id$v=19$m=8,t=1,p=1$${salt}$${stored}`
}

const lighten = ({ oracle }: TestInstallation, accountId: string) =>
  oracle`update account set password_hash = ${lightHash()} where id = ${accountId} and password_hash is not null`

/** A test calls faster than the default rate of a workspace allows. */
export const liftRate = async ({ oracle }: TestInstallation, tenantId: string) => {
  await oracle`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'api_requests_per_minute', 0)`
}

export interface TokenRow {
  readonly scopes: readonly Scope[]
  readonly kind?: 'personal' | 'service'
  readonly expiresAt?: Date
  readonly revokedAt?: Date
}

/** A token written without the rules: for lives and scopes that no call would grant. */
export async function plantToken(
  { oracle }: Pick<TestInstallation, 'oracle'>,
  of: Pick<Person, 'tenantId' | 'accountId'>,
  row: TokenRow,
) {
  const { kind = 'personal', expiresAt = new Date(Date.now() + 3_600_000), revokedAt = null } = row
  const { token, hash, last4 } = mintToken(kind)
  const id = randomUUIDv7()
  await oracle`
    insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes, expires_at, revoked_at)
    values (${of.tenantId}, ${id}, ${of.accountId}, ${kind === 'personal' ? 'PERSONAL' : 'SERVICE'}, ${hash}, ${last4}, 'planted',
            ${row.scopes.join(' ')}, ${expiresAt}, ${revokedAt})`
  return { id, token }
}

/** Another active account of the workspace, without a password. */
export async function plantAccount(
  { oracle }: TestInstallation,
  tenantId: string,
  role: Role = 'MEMBER',
  kind = 'PERSON',
) {
  const accountId = randomUUIDv7()
  const email = kind === 'PERSON' ? `${accountId}@planted.example` : null
  await oracle`
    insert into account (tenant_id, id, kind, state, email, email_fold, display_name)
    values (${tenantId}, ${accountId}, ${kind}, 'ACTIVE', ${email}, ${email}, 'Planted')`
  await oracle`insert into membership (tenant_id, id, account_id, role) values (${tenantId}, ${randomUUIDv7()}, ${accountId}, ${role})`
  return { tenantId, accountId, email }
}

export interface Callers {
  readonly operator: Person
  /** A token of the operator's that may do everything. */
  readonly token: string
  readonly daemon: TestDaemon
  readonly api: Caller
  readonly recovery: Caller
  /** A caller with another token, or without one. */
  as(token?: string): Caller
  close(): Promise<void>
}

/** Sets the installation up and answers both callers: an operator over HTTP, and the operator at the database. */
export async function callers(test: TestInstallation): Promise<Callers> {
  const operator = await setUp(test)
  const { token } = await plantToken(test, operator, {
    scopes: ['workspace:read', 'workspace:write', 'workspace:admin', 'admin:tenants'],
  })
  const daemon = await startDaemon(test.installation)
  return {
    operator,
    token,
    daemon,
    api: httpCaller(daemon.url, token),
    recovery: recoveryCaller(test),
    as: (other) => httpCaller(daemon.url, other),
    close: () => daemon.close(),
  }
}

export const modes = ['api', 'recovery'] as const
