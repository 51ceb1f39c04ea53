/**
 * The ground that benchmarks run on: their own installation in a temporary folder, on the embedded
 * PostgreSQL as it is in production (fsync on), and its first workspace.
 */
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import { bootInstallation } from '../src/core/app/boot.ts'
import { performForAnswer } from '../src/core/app/perform.ts'
import { setUpOperations } from '../src/core/contract/auth/operations.ts'
import { tenantOperations } from '../src/core/contract/tenants/operations.ts'
import { type Scope, scopes } from '../src/core/contract/vocabulary.ts'
import { type Config, readConfig } from '../src/core/kernel/config/config.ts'
import { type DatabaseAddress, postgresOptions } from '../src/core/kernel/database/address.ts'
import { findSuperuser } from '../src/core/kernel/database/embedded.ts'
import type { Installation } from '../src/core/kernel/transaction/installation.ts'
import { type AccountActor, recoveryActor } from '../src/core/kernel/values/actor.ts'
import { mintToken } from '../src/core/kernel/values/token.ts'

export interface Ground {
  readonly dataDir: string
  readonly config: Config
  /** The environment with which another process uses this installation. */
  readonly environment: Record<string, string>
  readonly installation: Installation
  /** For filler rows, and to see behind row-level security. */
  readonly superuser: DatabaseAddress
  readonly tenantId: string
  readonly accountId: string
  /** The example collection, which has buckets and labels. */
  readonly collectionId: string
  /** A service's token of the first workspace with every scope. */
  readonly token: string
  /** The caller with that token, as the gate admits it. */
  readonly actor: AccountActor
  remove(): Promise<void>
}

export async function layGround(): Promise<Ground> {
  const dataDir = await temporaryFolder()
  const environment = { SVC_DATA_DIR: dataDir, SVC_PORT: '0' }
  const config = readConfig(environment)
  const booted = await bootInstallation(config, { works: false, applicationName: 'svc bench' })
  const { installation } = booted
  const superuser = await findSuperuser(dataDir)
  if (!superuser) throw new Error('the embedded database has no record of its superuser')
  const { tenant, account_id: accountId } = await performForAnswer(
    installation,
    setUpOperations.setUpInstallation,
    recoveryActor(),
    {
      body: {
        set_up_token: randomBytes(16).toString('hex'),
        workspace: { slug: 'first', display_name: 'First' },
        owner: { email: 'owner@example.org', display_name: 'Owner', password: randomBytes(16).toString('hex') },
      },
    },
  )
  const minted = await mintEverything(installation, tenant.id, accountId)
  const collectionId = await installation.transaction(recoveryActor(), { tenantId: tenant.id }, async ({ tx }) => {
    const [row] = await tx<
      { id: string }[]
    >`select id from container where tenant_id = ${tenant.id} and kind = 'COLLECTION'`
    return row!.id
  })
  return {
    dataDir,
    config,
    environment,
    installation,
    superuser,
    tenantId: tenant.id,
    accountId,
    collectionId,
    token: minted.token,
    actor: {
      kind: 'ACCOUNT',
      accountId,
      tenantId: tenant.id,
      credentialId: minted.id,
      bearerId: minted.id,
      sessionId: null,
      scopes,
      role: 'OWNER',
      isOperator: true,
    },
    async remove() {
      await booted.close()
      await removeData(dataDir, booted.embedded)
    },
  }
}

/** Another workspace, whose owner has a token with every scope. */
export async function addWorkspace(
  { installation, superuser }: Ground,
  slug: string,
): Promise<Pick<Ground, 'tenantId' | 'accountId' | 'collectionId' | 'token'>> {
  const made = await performForAnswer(installation, tenantOperations.provisionTenant, recoveryActor(), {
    body: { slug, display_name: slug, owner_email: `owner@${slug}.example.org` },
  })
  const tenantId = made.tenant.id
  const sql = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
  const [owner] = await sql<
    { id: string }[]
  >`update account set state = 'ACTIVE' where tenant_id = ${tenantId} returning id`
  await sql.end()
  const { token } = await mintEverything(installation, tenantId, owner!.id)
  return { tenantId, accountId: owner!.id, collectionId: made.collection_id, token }
}

/** A folder that the server's user can enter, if this process is root. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  await chmod(folder, 0o711)
  return folder
}

/** Deletes a data folder whose server has stopped. */
export async function removeData(dataDir: string, cluster: string | undefined): Promise<void> {
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  if (cluster) await rm(dirname(cluster), { recursive: true, force: true, maxRetries: 5 })
}

/**
 * A token with every scope, made without the step-up that it would need. The rate of requests is unlimited: otherwise
 * the limit would be measured.
 */
async function mintEverything(installation: Installation, tenantId: string, accountId: string) {
  const { token, hash, last4 } = mintToken('personal')
  const id = crypto.randomUUID()
  const all = scopes satisfies readonly Scope[]
  await installation.transaction(recoveryActor(), {}, async ({ tx }) => {
    await tx`
      insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes)
      values (${tenantId}, ${id}, ${accountId}, 'PERSONAL', ${hash}, ${last4}, 'bench', ${all.join(' ')})`
    await tx`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'api_requests_per_minute', 0)`
  })
  return { id, token }
}
