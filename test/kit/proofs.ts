/** Step-up proofs for a test whose account has no password: written as `POST /auth/step-up` writes them. */
import { randomUUIDv7 } from 'node:crypto'
import type postgres from 'postgres'
import { mintToken } from '../../src/core/kernel/values/token.ts'

interface Bearer {
  readonly tenantId: string
  readonly accountId: string
  /** The token, or the session, that will use the proof. */
  readonly credentialId: string
}

/** A proof for one operation and its target, as the command line asks for it; without them it is valid for any. */
export async function plantProof(
  sql: postgres.Sql,
  { tenantId, accountId, credentialId }: Bearer,
  { operation, target }: { readonly operation?: string; readonly target?: string | undefined } = {},
): Promise<string> {
  const { token, hash } = mintToken('stepUp')
  await sql`
    insert into step_up (tenant_id, id, account_id, bearer_id, hash, operation, target_id, expires_at)
    values (${tenantId}, ${randomUUIDv7()}, ${accountId}, ${credentialId}, ${hash}, ${operation ?? null}, ${target ?? null}, now() + interval '5 minutes')`
  return token
}
