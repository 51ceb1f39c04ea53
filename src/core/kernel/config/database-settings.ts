/** The logins to the operator's own database. */
import { z } from 'zod'
import { addressOf, type DatabaseAddress } from '../database/address.ts'
import { ConfigurationError } from '../values/configuration-error.ts'

export interface DatabaseSettings {
  /** Migrations run as the owner. */
  readonly owner: DatabaseAddress
  readonly daemon: DatabaseAddress
  /** The same database through a pooler in transaction mode, for the transactions of requests and jobs. */
  readonly pooled?: DatabaseAddress
  /** A standby of it, for long reads. */
  readonly standby?: DatabaseAddress
}

/** The part of the environment that names the database (config.ts). */
export const databaseVariables = {
  SVC_DATABASE_URL: z
    .string()
    .optional()
    .describe('The database of the daemon, PostgreSQL 15 or newer. Absent: the embedded PostgreSQL below SVC_DATA_DIR'),
  SVC_DATABASE_OWNER_URL: z
    .string()
    .optional()
    .describe(
      "The same database with the owner's login, for migrations. Absent: SVC_DATABASE_URL; the daemon's login then owns the tables",
    ),
  SVC_DATABASE_POOLED_URL: z
    .string()
    .optional()
    .describe(
      "The same database with the daemon's login, through a pooler in transaction mode, for the transactions of requests and jobs. Absent: these go to SVC_DATABASE_URL (docs/deploying.md)",
    ),
  SVC_DATABASE_STANDBY_URL: z
    .string()
    .optional()
    .describe(
      "A standby of the same server, with the daemon's login. Exports and statistics read there once it has replayed what was written before they were asked for. Absent: they read from SVC_DATABASE_URL (docs/deploying.md)",
    ),
}

type DatabaseVariables = z.output<z.ZodObject<typeof databaseVariables>>

/** Without SVC_DATABASE_OWNER_URL the daemon's login is also the owner, and `svc doctor` warns. */
export function databaseOf(variables: DatabaseVariables): DatabaseSettings | undefined {
  const {
    SVC_DATABASE_URL: daemonUrl,
    SVC_DATABASE_OWNER_URL: ownerUrl,
    SVC_DATABASE_POOLED_URL: pooledUrl,
    SVC_DATABASE_STANDBY_URL: standbyUrl,
  } = variables
  if (!daemonUrl) {
    const alone = pooledUrl ? 'SVC_DATABASE_POOLED_URL' : standbyUrl ? 'SVC_DATABASE_STANDBY_URL' : undefined
    if (alone) throw new ConfigurationError(`${alone} is set, but SVC_DATABASE_URL is not. Set both.`)
    return undefined
  }
  return {
    daemon: read('SVC_DATABASE_URL', daemonUrl),
    owner: ownerUrl ? read('SVC_DATABASE_OWNER_URL', ownerUrl) : read('SVC_DATABASE_URL', daemonUrl),
    ...(pooledUrl ? { pooled: read('SVC_DATABASE_POOLED_URL', pooledUrl) } : {}),
    ...(standbyUrl ? { standby: read('SVC_DATABASE_STANDBY_URL', standbyUrl) } : {}),
  }
}

function read(variable: keyof DatabaseVariables, url: string): DatabaseAddress {
  try {
    return addressOf(url, variable)
  } catch (error) {
    throw new ConfigurationError(`The configuration is wrong. ${variable}: ${(error as Error).message}`)
  }
}
