/** A connection outside the pool. */
import type { Client } from 'pg'
import { type DatabaseAddress, pgOptions } from './address.ts'

/** Runs work over one connection of its own, which ends with it: for migrations and checks, never for a rule. */
export async function withClient<T>(address: DatabaseAddress, work: (client: Client) => Promise<T>): Promise<T> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    ...pgOptions(address),
    application_name: 'svc maintenance',
    connectionTimeoutMillis: 5000,
  })
  // A connection that is lost between two statements reports it here; the next statement fails with it.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
