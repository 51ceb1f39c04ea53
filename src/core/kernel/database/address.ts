/**
 * The address and the login of a PostgreSQL: one form for the operator's connection URL, for
 * the embedded server, and for the two drivers that we use.
 *
 * The drivers differ, as their sources show: postgres.js needs the path of the socket file,
 * and splits a host at its colons (so an IPv6 address is passed as a list); pg needs the
 * folder of the socket as host.
 *
 * Invariant: no message of this module contains the URL, because the URL contains the password.
 */
import { readFileSync } from 'node:fs'

export interface DatabaseAddress {
  /** A name, an IP address without brackets, or a folder with a Unix socket, starting with `/`. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password: string | undefined
  /** `require` encrypts without checking the certificate; `verify-full` and true check it. */
  readonly ssl: boolean | 'require' | 'verify-full'
  /** The file of the private authority that signed the server's certificate; absent: the authorities that Node knows. */
  readonly authority?: string
  /** The environment's variable that the address is from, for messages. */
  readonly variable?: string
}

/** The certificate is checked against this authority alone. */
interface PrivateAuthority {
  readonly ca: string
  readonly rejectUnauthorized: true
}

/** `host` is what the certificate has to be for: the driver names only hosts that are no addresses. */
export interface CheckedServer {
  readonly ca?: string
  readonly rejectUnauthorized: true
  readonly host: string
}

export interface PostgresOptions {
  host: string
  port: number
  path?: string
  database: string
  user: string
  password?: string
  ssl: boolean | 'require' | 'verify-full' | CheckedServer
}

export interface PgOptions {
  host: string
  port: number
  database: string
  user: string
  password?: string
  ssl: boolean | { rejectUnauthorized: boolean } | PrivateAuthority
  /** Settings of the session, as the server's command line takes them. */
  options: string
}

/**
 * For every session of ours. Compiling takes longer than any of our statements, and PostgreSQL compiles by an estimate of
 * costs that is too high where plans are switched off.
 */
export const withoutJit = { jit: 'off' }

const form =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?:\[(?<ip6>[^\]]+)\]|(?<host>[^:/?#]*))(?::(?<port>\d*))?(?:\/(?<database>[^?#]*))?(?:\?(?<query>[^#]*))?$/

const sslModes = new Map<string, DatabaseAddress['ssl']>([
  ['disable', false],
  ['require', 'require'],
  ['verify-ca', 'verify-full'], // neither driver can check the authority alone; the stricter one never trusts more
  ['verify-full', 'verify-full'],
])

// libpq knows these parameters. They mean nothing here and can be ignored.
const ignored = new Set(['application_name', 'connect_timeout'])
const understood = new Set(['host', 'port', 'user', 'password', 'dbname', 'sslmode', 'sslrootcert'])

/**
 * Reads `postgres://user:password@host:port/database?sslmode=…`; `?host=/folder` names a
 * Unix socket; `&sslrootcert=/file` names a private authority. Port 5432 and the user's name as database are the
 * defaults. Throws an Error of one line that never holds the password.
 */
export function addressOf(url: string, variable?: string): DatabaseAddress {
  const parts = form.exec(url.trim())?.groups
  if (!parts)
    throw new Error(`The database URL is not of the form ${shape}; write @ : / ? # % in a password as %40 and so on`)
  const query = new URLSearchParams(parts['query'] ?? '')
  for (const name of query.keys()) {
    if (!understood.has(name) && !ignored.has(name))
      throw new Error(`The database URL has ?${printable(name)}=, which svc does not know; remove it`)
  }
  const user = query.get('user') ?? decoded(parts['user'])
  if (!user) throw new Error(`The database URL names no user; write ${shape}`)
  const password = query.get('password') ?? decoded(parts['password'])
  const ssl = sslOf(query.get('sslmode'))
  const authority = authorityOf(query.get('sslrootcert'), ssl)
  return {
    host: query.get('host') || parts['ip6'] || decoded(parts['host']) || 'localhost',
    port: portOf(query.get('port') || parts['port'] || '5432'),
    database: query.get('dbname') || decoded(parts['database']) || user,
    user,
    password: password || undefined,
    ssl,
    ...(authority === undefined ? {} : { authority }),
    ...(variable === undefined ? {} : { variable }),
  }
}

const shape = 'postgres://user:password@host:5432/database'

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    throw new Error('The database URL has a % that is not followed by two hexadecimal digits; write a plain % as %25')
  }
}

function portOf(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error('The port in the database URL is not between 1 and 65535')
  return port
}

function sslOf(mode: string | null): DatabaseAddress['ssl'] {
  const ssl = sslModes.get(mode ?? 'disable')
  // `prefer` and `allow` fall back to plain text when an attacker in the middle asks for it.
  if (ssl === undefined)
    throw new Error(`The database URL says sslmode=${printable(mode ?? '')}; say disable, require or verify-full`)
  return ssl
}

/** `system` is how libpq says that the system's own authorities count, which is the default here. */
function authorityOf(file: string | null, ssl: DatabaseAddress['ssl']): string | undefined {
  if (file === null || file === 'system') return undefined
  if (ssl !== 'verify-full')
    throw new Error('The database URL says sslrootcert, which needs sslmode=verify-full beside it')
  try {
    certificates(file)
  } catch (error) {
    throw new Error(
      `The file that sslrootcert names cannot be read (${(error as NodeJS.ErrnoException).code ?? 'no PEM'})`,
    )
  }
  return file
}

/** Read at each connection, so that a file that was replaced counts from the next one. */
function certificates(file: string): string {
  const text = readFileSync(file, 'utf8')
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new Error('no PEM')
  return text
}

const trusting = (file: string): PrivateAuthority => ({ ca: certificates(file), rejectUnauthorized: true })

const checked = (host: string, authority: string | undefined): CheckedServer => ({
  ...(authority === undefined ? { rejectUnauthorized: true } : trusting(authority)),
  host,
})

function printable(text: string): string {
  return text.replace(/[^\w.-]/g, '?').slice(0, 40)
}

const socketFile = (address: DatabaseAddress): string => `${address.host}/.s.PGSQL.${address.port}`

/** The address as options of postgres.js. */
export function postgresOptions(address: DatabaseAddress): PostgresOptions {
  const { host, port, database, user, password, ssl, authority } = address
  const local = host.startsWith('/')
  return {
    ...(local ? { host: 'localhost', port, path: socketFile(address) } : uncut(host, port)),
    database,
    user,
    ...(password !== undefined && { password }),
    ssl: local ? false : ssl === 'verify-full' ? checked(host, authority) : ssl,
  }
}

/** postgres.js cuts strings at colons, but not in lists, which its types do not know. */
function uncut(host: string, port: number): { host: string; port: number } {
  if (!host.includes(':')) return { host, port }
  return { host: [host], port: [port] } as unknown as { host: string; port: number }
}

/** The address as options of the pg package, which pg-boss and node-pg-migrate take. `settings`: more for the session. */
export function pgOptions(address: DatabaseAddress, settings: Record<string, string> = {}): PgOptions {
  const { host, port, database, user, password, ssl, authority } = address
  const how = authority === undefined ? { rejectUnauthorized: ssl !== 'require' } : trusting(authority)
  return {
    host,
    port,
    database,
    user,
    ...(password !== undefined && { password }),
    ssl: ssl && !host.startsWith('/') ? how : false,
    options: Object.entries({ ...withoutJit, ...settings })
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  }
}
