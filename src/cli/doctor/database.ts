/** Checks of the database: it is reached, recent enough and migrated; its login has no excess rights; the clocks of the hosts agree with its own; the keyring fits. */
import type { Client } from 'pg'
import { sweeps } from '../../core/areas/auth/sign-in/sweeps.ts'
import type { Config } from '../../core/kernel/config/config.ts'
import { withClient } from '../../core/kernel/database/client.ts'
import { apartInWords, findDaemonClocks, noticeableMs } from '../../core/kernel/database/clock.ts'
import { migrationStatus } from '../../core/kernel/database/migrate.ts'
import { readExcessRights } from '../../core/kernel/database/rights.ts'
import type { Keyring } from '../../core/kernel/sealing/keyring.ts'
import { type Backlog, backlogsOf, mostCounted } from '../../core/kernel/transaction/sweep.ts'
import type { HeldDatabase } from '../call/database.ts'
import { wayToOperator } from '../first-run/single-mode.ts'
import { checkBackups } from './backups.ts'
import { type Finding, fail, lineOf, ok, warn } from './finding.ts'
import { checkPrivacy } from './privacy.ts'
import { checkStandby } from './standby.ts'

/** Runs all checks. If the database cannot be reached, one finding says so and the rest is skipped. */
export async function checkDatabase(
  database: HeldDatabase,
  keyring: Keyring | undefined,
  mode: Config['mode'],
): Promise<Finding[]> {
  const remedy = database.embedded
    ? `See its log, beside ${database.embedded}.`
    : 'Check SVC_DATABASE_URL, and that PostgreSQL runs and accepts connections from this host.'
  try {
    return await withClient(database.daemon, async (client) => {
      const reached = [
        await checkServer(client),
        await checkClock(client),
        await attempt('daemon clocks', () => checkDaemonClocks(client)),
        await checkLogin(client, database),
        await attempt('rights', () => checkRights(client, database)),
        ...(database.standby ? [await checkStandby(database.daemon, database.standby)] : []),
      ]
      const migrations = await attempt('migrations', () => checkMigrations(database))
      if (migrations.state !== 'ok') return [...reached, migrations]
      return [
        ...reached,
        migrations,
        await attempt('queue', () => checkQueue(client)),
        await attempt('set-up', () => checkSetUp(client, mode)),
        await attempt('clean-up', () => checkSweeps(client)),
        await attempt('backups', () => checkBackups(client)),
        await attempt('privacy', () => checkPrivacy(client)),
        ...(keyring ? [await attempt('keys', () => checkKeys(client, keyring))] : []),
      ]
    })
  } catch (error) {
    return [fail('database', `not reached: ${lineOf(error)}`, remedy)]
  }
}

async function attempt(check: string, look: () => Promise<Finding>): Promise<Finding> {
  return look().catch((error: unknown) => fail(check, lineOf(error), 'docs/runbooks/database.md'))
}

const oldestServer = 150_000

async function checkServer(client: Client): Promise<Finding> {
  const { version, text, is_standby } = await one<{ version: number; text: string; is_standby: boolean }>(
    client,
    "select current_setting('server_version_num')::int as version, current_setting('server_version') as text, pg_is_in_recovery() as is_standby",
  )
  if (is_standby)
    return fail(
      'database',
      `PostgreSQL ${text} is a standby and takes no changes`,
      'Set SVC_DATABASE_URL to the primary, or promote this server: docs/runbooks/database-failover.md.',
    )
  return version >= oldestServer
    ? ok('database', `PostgreSQL ${text}`)
    : fail('database', `PostgreSQL ${text} is too old`, 'svc needs 15 or newer.')
}

async function checkClock(client: Client): Promise<Finding> {
  const before = Date.now()
  const { now } = await one<{ now: Date }>(client, 'select clock_timestamp() as now')
  const middle = (before + Date.now()) / 2
  const apartMs = Math.round(Math.abs(now.getTime() - middle))
  const says = `differs from the database's clock by ${apartMs} ms`
  return apartMs <= noticeableMs
    ? ok('clock', says)
    : warn('clock', says, 'Synchronise the clocks of both hosts with NTP.')
}

async function checkDaemonClocks(client: Client): Promise<Finding> {
  const clocks = await findDaemonClocks(client)
  const apart = clocks.filter(({ aheadMs }) => Math.abs(aheadMs) > noticeableMs)
  if (apart.length > 0)
    return warn(
      'daemon clocks',
      apart.map(({ daemon, aheadMs }) => `${daemon}: ${apartInWords(aheadMs)}`).join('; '),
      'Synchronise the clocks of these hosts and of the database with NTP: docs/runbooks/clocks.md.',
    )
  return ok(
    'daemon clocks',
    clocks.length === 0 ? 'no daemon runs' : `${clocks.length} running, each within 2 s of the database's clock`,
  )
}

async function checkLogin(client: Client, { owner, daemon, embedded }: HeldDatabase): Promise<Finding> {
  const login = await one<{ is_super: boolean; bypasses: boolean; owned: number }>(
    client,
    `select rolsuper as is_super, rolbypassrls as bypasses,
            (select count(*)::int from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where c.relowner = r.oid and n.nspname in ('public', 'pgboss') and c.relkind in ('r', 'p')) as owned
     from pg_roles r where rolname = current_user`,
  )
  const remedy = 'Use separate logins: one for the daemon, and the owner in SVC_DATABASE_OWNER_URL (docs/deploying.md).'
  if (login.is_super || login.bypasses) return fail('login', `${daemon.user} bypasses row-level security`, remedy)
  if (login.owned > 0) return warn('login', `${daemon.user} owns ${login.owned} tables`, remedy)
  return !embedded && owner.user === daemon.user
    ? warn('login', `${daemon.user} also migrates`, remedy)
    : ok('login', `${daemon.user} owns nothing and bypasses nothing`)
}

/** The rights of the login beyond those that the daemon needs. A login that also migrates owns everything; checkLogin reports that. */
async function checkRights(client: Client, { owner, daemon, embedded }: HeldDatabase): Promise<Finding> {
  const { functions, places, powers, settings } = await readExcessRights(client, daemon.user)
  const quoted = `"${daemon.user.replaceAll('"', '""')}"`
  if (!embedded && owner.user === daemon.user) return ok('rights', `${daemon.user} is the owner and has all rights`)
  if (settings.length > 0)
    return warn(
      'rights',
      `${daemon.user} has stored settings: ${settings.join(', ')}`,
      `PostgreSQL lets every role store settings for itself. If you did not store these: run alter role ${quoted} reset all, change the password of the role, and find out who had it.`,
    )
  if (powers.length > 0)
    return warn(
      'rights',
      `${daemon.user} has ${powers.join(', ')}`,
      'Revoke that; the daemon needs only its four roles.',
    )
  if (places.length > 0)
    return warn(
      'rights',
      `${daemon.user} may create objects (${places.join(', ')})`,
      'As the owner: revoke all on database … from public; revoke create on schema public from public.',
    )
  return functions.length > 0
    ? warn(
        'rights',
        `every login may create large objects and write messages to the log (${functions.length} functions)`,
        `As a superuser, in this database: revoke execute on function ${functions.join(', ')} from public`,
      )
    : ok('rights', `${daemon.user} has only its four roles`)
}

async function checkMigrations({ owner }: HeldDatabase): Promise<Finding> {
  const { applied, pending, unknown, barring } = await migrationStatus(owner)
  if (barring.length > 0)
    return fail(
      'migrations',
      `migrated by a newer release: ${barring.join(', ')}`,
      'Run the newer release (docs/runbooks/upgrade.md).',
    )
  if (pending.length > 0)
    return fail('migrations', `${pending.length} pending, the first is ${pending[0]}`, 'Run: svc db migrate')
  return unknown.length > 0
    ? warn(
        'migrations',
        `migrated by a newer release, on which this one may run: ${unknown.join(', ')}`,
        'Finish the upgrade (docs/runbooks/upgrade.md).',
      )
    : ok('migrations', `${applied.length} applied, none pending`)
}

async function checkQueue(client: Client): Promise<Finding> {
  await client.query('begin read only; set local role svc_queue')
  const { version } = await one<{ version: number }>(client, 'select version from pgboss.version').finally(() =>
    client.query('rollback'),
  )
  return ok('queue', `pg-boss schema ${version}`)
}

async function checkSetUp(client: Client, mode: Config['mode']): Promise<Finding> {
  await client.query('begin read only; set local role svc_installation')
  const { rows } = await client
    .query<{ is_set_up: boolean; has_operator: boolean; first: string | null }>(
      `select set_up_at is not null as is_set_up, exists (select 1 from operator) as has_operator,
              (select slug from tenant order by id limit 1) as first
       from installation`,
    )
    .finally(() => client.query('rollback'))
  const { is_set_up, has_operator, first } = rows[0] ?? {}
  if (is_set_up || (mode === 'single' && first && has_operator)) return ok('set-up', 'done')
  if (mode === 'single' && first) return warn('set-up', 'there is no operator yet', wayToOperator(first, 'ADDRESS'))
  return warn('set-up', 'not done, so nobody can sign in yet', 'Run: svc installation set-up')
}

/** A run each hour, and one that was missed. */
const lateSeconds = 3 * 3600

/** What has expired and should have been removed hours ago. */
export async function checkSweeps(client: Client): Promise<Finding> {
  await client.query('begin read only; set local role svc_installation')
  const { rows: backlogs } = await client.query<Backlog>(backlogsOf(sweeps)).finally(() => client.query('rollback'))
  const late = backlogs.filter((backlog) => backlog.lateSeconds > lateSeconds)
  const lines = late.map(
    ({ table, rows, lateSeconds: seconds }) =>
      `${rows}${rows === mostCounted ? ' or more' : ''} in ${table}, the oldest ${Math.trunc(seconds / 3600)} h late`,
  )
  return late.length === 0
    ? ok('clean-up', 'nothing that has expired is left for long')
    : warn(
        'clean-up',
        `rows that have expired: ${lines.join('; ')}`,
        'See that a daemon with the role worker or all runs, and its log for "job sweep_expired failed" (docs/runbooks/daemon.md).',
      )
}

interface KnownKey {
  readonly key_id: string
  readonly check_value: Buffer
  readonly values: number
}

/** Compares the keyring with the keys that this database was used with. */
async function checkKeys(client: Client, keyring: Keyring): Promise<Finding> {
  await client.query('begin read only; set local role svc_installation')
  const { rows } = await client
    .query<KnownKey>(
      `select key_id, check_value, (select count(*)::int from sealed_value v where v.key_id = k.key_id) as values from keyring_key k`,
    )
    .finally(() => client.query('rollback'))
  const remedy = 'Restore the keyring from its backup (docs/runbooks/keyring.md).'
  const lost = rows.find(({ key_id, values }) => values > 0 && !keyring.has(key_id))
  if (lost)
    return fail(
      'keys',
      `${lost.values} stored value(s) need the key "${lost.key_id}", which is not in the keyring`,
      remedy,
    )
  const other = rows.find(
    ({ key_id, check_value }) => keyring.has(key_id) && !keyring.checkValue(key_id).equals(check_value),
  )
  if (other)
    return fail(
      'keys',
      `the key "${other.key_id}" differs from the key of that name that this database was used with`,
      remedy,
    )
  return ok('keys', `the keyring can decrypt all ${rows.reduce((sum, { values }) => sum + values, 0)} stored values`)
}

async function one<Row extends object>(client: Client, text: string): Promise<Row> {
  const { rows } = await client.query<Row>(text)
  const [row] = rows
  if (!row) throw new Error('no row')
  return row
}
