/** A database in a server of its own, with the schema of this release. */
import postgres from 'postgres'
import { postgresOptions } from '../../src/core/kernel/database/address.ts'
import type { OwnCluster } from '../kernel/database/own-cluster.ts'
import { fillTemplate } from './template.ts'

/** The addresses of its logins, and a superuser's connections: what `testInstallation` takes as `at`. */
export async function migratedDatabase(cluster: OwnCluster, options: { readonly max?: number } = {}) {
  await cluster.superuser.unsafe('create role svc_owner login createrole; create role svc_daemon login noinherit')
  await cluster.superuser.unsafe('create database svc owner svc_owner')
  const at = (user: string) => ({ ...cluster.address(user), database: 'svc' })
  const [owner, daemon] = [at('svc_owner'), at('svc_daemon')]
  await fillTemplate(owner, daemon)
  // A test kills servers: it is back at once.
  const sql = postgres({
    ...postgresOptions(at('postgres')),
    max: options.max ?? 1,
    backoff: () => 0.05,
    onnotice: () => undefined,
  })
  return { owner, daemon, sql }
}
