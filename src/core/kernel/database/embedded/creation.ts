/**
 * Makes a new database cluster, completely or not at all. It is made under another name, and
 * renamed when its roles exist and its files are on the disk. The next attempt removes the
 * remains of a killed one.
 *
 * Roles: `postgres` is the superuser of the cluster, and svc does not use it. `svc_owner` owns
 * the database `svc` and runs migrations. `svc_daemon` is the login of the daemon; it owns
 * nothing and bypasses nothing.
 */
import { randomBytes } from 'node:crypto'
import { chown, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../../values/write-whole.ts'
import { type Account, runAs } from './account.ts'
import { failureIn, failures } from './failure.ts'
import { type ClusterRecord, clusterOf, makePrivate } from './places.ts'

/** What a new cluster's postgresql.conf says; an operator may change it there. */
const settings = {
  cluster_name: 'svc',
  listen_addresses: '127.0.0.1',
  unix_socket_permissions: '0700',
  password_encryption: 'scram-sha-256',
  max_connections: '60',
  shared_buffers: '64MB',
  max_wal_size: '512MB',
  io_method: 'sync', // saves three processes that only help large scans
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] %a ',
  log_statement: 'none',
  log_min_error_statement: 'panic', // a failing statement's text may hold what people wrote
  log_error_verbosity: 'terse', // and so may the detail of a violated constraint
}

const unfinished = 'cluster.unfinished-'

interface Making {
  /** False only where a power cut may lose everything. */
  readonly durable: boolean
  /** Called when initdb runs. */
  readonly onWait: () => void
}

/** Makes `<home>/cluster`. */
export async function createCluster(
  bin: string,
  record: ClusterRecord,
  account: Account | undefined,
  { durable, onWait }: Making,
): Promise<void> {
  await sweep(record.home)
  const draft = join(record.home, `${unfinished}${randomBytes(4).toString('hex')}`)
  const run = async (program: string, args: readonly string[], input?: string) => {
    const { code, output } = await runAs(account, join(bin, program), args, input)
    if (code !== 0) throw failureIn(output, record.home, failures.creation)
  }

  try {
    await initialise(run, draft, record, account, onWait)
    await run(
      'postgres',
      ['--single', '-D', draft, '-c', 'exit_on_error=on', '-c', 'fsync=off', 'postgres'],
      rolesAndDatabase(record),
    )
    if (durable) await run('initdb', ['--sync-only', '-D', draft])
    await rename(draft, clusterOf(record))
    // Synced before the record says that the cluster is complete.
    await syncFolder(record.home)
  } catch (error) {
    await sweep(record.home)
    throw error
  }
}

type Run = (program: string, args: readonly string[], input?: string) => Promise<void>

async function initialise(
  run: Run,
  draft: string,
  record: ClusterRecord,
  account: Account | undefined,
  onWait: () => void,
): Promise<void> {
  await makePrivate(draft, account)
  const passwordFile = `${draft}.password`
  await writeFile(passwordFile, `${record.passwords.superuser}\n`, { mode: 0o600 })
  if (account) await chown(passwordFile, account.uid, account.gid)
  const made = run('initdb', [
    ...['-D', draft, '--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
    // Not the system's collations: an index would be wrong after moving to another machine.
    ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8', '--data-checksums'],
    ...['--no-sync', '--no-instructions'], // synchronised once, when it is complete
    ...Object.entries(settings).map(([name, value]) => `--set=${name}=${value}`),
  ])
  onWait()
  await made
  await rm(passwordFile)
}

/** For PostgreSQL's single-user mode, where a statement ends with its line. */
function rolesAndDatabase({ passwords }: ClusterRecord): string {
  return [
    `create role svc_owner login nosuperuser nocreatedb createrole noreplication nobypassrls password '${passwords.owner}'`,
    `create role svc_daemon login nosuperuser nocreatedb nocreaterole noinherit noreplication nobypassrls password '${passwords.daemon}'`,
    // The creator of a role may administer it. The superuser creates svc_daemon, so svc_owner needs this grant.
    'grant svc_daemon to svc_owner with admin true, inherit false, set false',
    // A migration that gives an object to a role it made must be able to act as that role.
    "alter role svc_owner set createrole_self_grant = 'set'",
    'create database svc owner svc_owner',
    'revoke all on database svc from public',
    'grant connect on database svc to svc_daemon',
    'revoke connect on database postgres from public',
    'revoke connect on database template1 from public',
    '',
  ].join('\n')
}

async function sweep(home: string): Promise<void> {
  const rests = (await readdir(home)).filter((name) => name.startsWith(unfinished))
  // An initdb that outlived its svc may still be writing; the next attempt removes what it adds.
  for (const name of rests)
    await rm(join(home, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
}
