/** Where PostgreSQL is and as whom we go there. */

export interface DatabaseAddress {
  /** A host name or address; a folder that holds the server's Unix socket starts with `/`. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password: string | undefined
  readonly ssl: boolean | 'require' | 'verify-full'
}

/** The address in the driver's words. */
export function postgresOptions(a: DatabaseAddress): object {
  const { host, port, database, user, password, ssl } = a
  return { host, port, database, user, ssl, ...(password === undefined ? {} : { password }) }
}
