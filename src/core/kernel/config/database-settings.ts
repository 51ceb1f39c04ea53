/** The logins to the operator's own database. */
import { addressOf, type DatabaseAddress } from '../database/address.ts'
import { ConfigurationError } from '../values/configuration-error.ts'

export interface DatabaseSettings {
  /** Migrations run as the owner. */
  readonly owner: DatabaseAddress
  readonly daemon: DatabaseAddress
  /** The same database through a pooler in transaction mode, for the transactions of requests and jobs. */
  readonly pooled?: DatabaseAddress
}

interface DatabaseVariables {
  readonly SVC_DATABASE_URL?: string | undefined
  readonly SVC_DATABASE_OWNER_URL?: string | undefined
  readonly SVC_DATABASE_POOLED_URL?: string | undefined
}

/** Without SVC_DATABASE_OWNER_URL the daemon's login is also the owner, and `svc doctor` warns. */
export function databaseOf(variables: DatabaseVariables): DatabaseSettings | undefined {
  const {
    SVC_DATABASE_URL: daemonUrl,
    SVC_DATABASE_OWNER_URL: ownerUrl,
    SVC_DATABASE_POOLED_URL: pooledUrl,
  } = variables
  if (!daemonUrl && pooledUrl)
    throw new ConfigurationError('SVC_DATABASE_POOLED_URL is set, but SVC_DATABASE_URL is not. Set both.')
  if (!daemonUrl) return undefined
  return {
    daemon: read('SVC_DATABASE_URL', daemonUrl),
    owner: ownerUrl ? read('SVC_DATABASE_OWNER_URL', ownerUrl) : read('SVC_DATABASE_URL', daemonUrl),
    ...(pooledUrl ? { pooled: read('SVC_DATABASE_POOLED_URL', pooledUrl) } : {}),
  }
}

function read(variable: keyof DatabaseVariables, url: string): DatabaseAddress {
  try {
    return addressOf(url, variable)
  } catch (error) {
    throw new ConfigurationError(`The configuration is wrong. ${variable}: ${(error as Error).message}`)
  }
}
