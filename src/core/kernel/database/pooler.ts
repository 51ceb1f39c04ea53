/** The pooler that an operator put before the database (SVC_DATABASE_POOLED_URL). */
import { ConfigurationError } from '../values/configuration-error.ts'
import type { DatabaseAddress } from './address.ts'
import { withClient } from './client.ts'
import type { Pool } from './pool.ts'

const whichServer = `
  select extract(epoch from pg_postmaster_start_time())::text || ' ' || oid as which
  from pg_database where datname = current_database()`

/**
 * Throws ConfigurationError unless the pool, through the pooler, leads to the database at the address: otherwise changes
 * would be written into one database, and jobs, locks and migrations be looked for in another.
 */
export async function checkPooler(pool: Pool, address: DatabaseAddress): Promise<void> {
  const [pooled] = await pool.transaction('', (tx) => tx.text<{ which: string }[]>(whichServer), { readOnly: true })
  const direct = await withClient(
    address,
    async (client) => (await client.query<{ which: string }>(whichServer)).rows[0],
  )
  if (pooled?.which !== direct?.which)
    throw new ConfigurationError(
      'SVC_DATABASE_POOLED_URL leads to another database than SVC_DATABASE_URL. Let the pooler use the same server and database.',
    )
}
