/**
 * Reads and changes of people, one after another, against the same work by statements that were written without ours
 * (people-bare.ts), for other accounts each time; the answers are compared for size. And the slowest of the reads through a
 * daemon, with 32 connections busy. Targets: people 9.
 */
import { randomUUIDv7 } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import autocannon from 'autocannon'
import postgres from 'postgres'
import { perform, type Request } from '../src/core/app/perform.ts'
import { sessionOperations } from '../src/core/contract/auth/operations.ts'
import { groupOperations } from '../src/core/contract/groups/operations.ts'
import { accountOperations } from '../src/core/contract/identity/accounts.ts'
import { notificationOperations } from '../src/core/contract/notifications/operations.ts'
import type { Operation } from '../src/core/contract/operation.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import { firstId } from '../src/core/kernel/transaction/page.ts'
import { type AccountActor, anyone } from '../src/core/kernel/values/actor.ts'
import { mintToken } from '../src/core/kernel/values/token.ts'
import { type BareCaller, compareSizes } from './bare-client.ts'
import { type BarePool, openBarePool } from './bare-pool.ts'
import type { FloorSettings } from './floor-server.ts'
import type { Ground } from './ground.ts'
import * as bare from './people-bare.ts'
import type { Crowd } from './people-filler.ts'
import { goFirst } from './priority.ts'
import { inUnit, type Server, startServer, startService } from './processes.ts'
import { headersOf } from './requests.ts'
import { compare, elapsedMs } from './rounds.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const rounds = 25
const callsARound = 50
/** Before the clock starts, so that neither side is measured while its code is still compiled. */
const warmUp = { reads: 2_000, changes: 500 }
const notifications = 1_000
const atOnce = 32
const waitedSeconds = 10

interface Read {
  readonly what: string
  readonly operation: Operation
  readonly request: Request
  readonly path: string
  bare(client: postgres.Sql): Promise<string>
}

function reads(caller: BareCaller, { somebody, groupId }: Crowd): readonly Read[] {
  return [
    {
      ...{ what: 'N4, one account', operation: accountOperations.getAccount, path: `/accounts/${somebody.id}` },
      request: { params: { accountId: somebody.id } },
      bare: (client) => bare.readAccount(client, caller, somebody.id),
    },
    {
      ...{ what: 'I6, 50 members of a group', operation: groupOperations.listGroupMembers },
      path: `/groups/${groupId}/members?size=50`,
      request: { params: { groupId }, query: { size: '50' } },
      bare: (client) => bare.readMembers(client, caller, groupId),
    },
    {
      ...{ what: 'I9, 50 notifications of a thousand', operation: notificationOperations.listNotifications },
      path: '/accounts/me/notifications?size=50',
      request: { query: { size: '50' } },
      bare: (client) => bare.readNotifications(client, caller),
    },
  ]
}

export async function readsOfPeople(ground: Ground, crowd: Crowd): Promise<Line[]> {
  const { installation, actor } = ground
  await notify(ground)
  const pool = openBarePool(installation.address, 1)
  const lines: Line[] = []
  for (const { what, operation, request, bare: readBare } of reads(ground, crowd)) {
    const ours = () => perform(installation, operation, actor, request)
    const theirs = () => pool.lend(readBare)
    compareSizes(what, (await ours()).body, await theirs())
    for (let n = 0; n < warmUp.reads; n += 1) {
      await ours()
      await theirs()
    }
    const compared = await compare(rateOf(ours), rateOf(theirs), rounds)
    lines.push(ratioLine(`people: ${what}, against bare`, { ...compared, unit: '/s' }, 'at least', 0.8))
  }
  await pool.close()
  return lines
}

const rateOf = (call: (n: number) => Promise<unknown>) => async () => {
  const ms = await elapsedMs(async () => {
    for (let n = 0; n < callsARound; n += 1) await call(n)
  })
  return callsARound / (ms / 1000)
}

/** A thousand unread notifications of the caller, of an open container. */
async function notify({ superuser, tenantId, accountId, collectionId }: Ground): Promise<void> {
  const sql = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
  await sql`
    insert into notification (tenant_id, account_id, event_id, category, id, event_type, subject, container_id, count, began_at, at, is_listed)
    select ${tenantId}, ${accountId}, uuidv7(), 'CHANGED', uuidv7(), 'svc.work.item.changed.v1', '/items/' || n, ${collectionId}, 1, now(), now() - n * interval '1 minute', true
    from generate_series(1, ${notifications}::int) n`
  await sql`vacuum analyze notification`
  await sql.end()
}

interface Change<Changed> {
  readonly what: string
  readonly target: number
  readonly operation: Operation
  readonly by: AccountActor | typeof anyone
  /** So many that are there to be changed, made before the clock starts. */
  prepare(count: number): Promise<readonly Changed[]>
  requestOf(changed: Changed): Request
  bare(client: postgres.Sql, changed: Changed): Promise<string>
}

export async function changesOfPeople(ground: Ground, crowd: Crowd): Promise<Line[]> {
  const sql = postgres({ ...postgresOptions(ground.superuser), max: 1, onnotice: () => undefined })
  const pool = openBarePool(ground.installation.address, 1)
  const accounts = untouched(sql, ground.tenantId, crowd)
  const ledger = await open(join(ground.dataDir, 'bare-lines'), 'a')
  try {
    return [
      await rateOfChange(ground, pool, sql, puttingIn(ground, crowd, accounts)),
      await rateOfChange(ground, pool, sql, disabling(ground, sql, accounts, ledger)),
      await rateOfChange(ground, pool, sql, refreshing(ground, crowd, sql)),
    ]
  } finally {
    await ledger.close()
    await pool.close()
    await sql.end()
  }
}

async function rateOfChange<Changed>(
  { installation }: Ground,
  pool: BarePool,
  sql: postgres.Sql,
  change: Change<Changed>,
): Promise<Line> {
  const { what, target, operation, by, requestOf } = change
  const ours = (one: Changed) => perform(installation, operation, by, requestOf(one))
  const theirs = (one: Changed) => pool.lend((client) => change.bare(client, one))
  const before = await change.prepare(2 * warmUp.changes)
  await sql`analyze session, credential` // as autovacuum does; both sides keep plans of a table that had three rows otherwise
  for (let n = 0; n < before.length; n += 2)
    compareSizes(what, (await ours(before[n]!)).body, await theirs(before[n + 1]!))
  const round = (act: (one: Changed) => Promise<unknown>) => async () => {
    const all = await change.prepare(callsARound)
    return rateOf((n) => act(all[n]!))()
  }
  const compared = await compare(round(ours), round(theirs), rounds)
  return ratioLine(`people: ${what}, against bare`, { ...compared, unit: '/s' }, 'at least', target)
}

type Accounts = (count: number) => Promise<string[]>

/** Accounts that nothing was done to yet; not the one that others are compared with. */
function untouched(sql: postgres.Sql, tenantId: string, { somebody }: Crowd): Accounts {
  let last = firstId
  return async (count) => {
    const rows = await sql<{ id: string }[]>`
      select a.id from account a
      where a.tenant_id = ${tenantId} and a.kind = 'PERSON' and a.state = 'ACTIVE' and a.email like '%@crowd.example'
        and a.group_ids = '{}' and a.id > ${last} and a.id <> ${somebody.id} order by a.id limit ${count}`
    if (rows.length < count) throw new Error('there are too few accounts: BENCH_ACCOUNTS is too small')
    last = rows.at(-1)?.id ?? last
    return rows.map(({ id }) => id)
  }
}

const puttingIn = (caller: Ground, { groupId }: Crowd, accounts: Accounts): Change<string> => ({
  ...{ what: 'I7, an account put into a group', target: 0.75, operation: groupOperations.addGroupMember },
  by: caller.actor,
  prepare: accounts,
  requestOf: (accountId) => ({ params: { groupId, accountId } }),
  bare: (client, accountId) => bare.putIntoGroup(client, caller, groupId, accountId),
})

/** The act stands in the ledger, on the disk, before its commit: so a line is put on the disk on the bare side, too. */
const disabling = (caller: Ground, sql: postgres.Sql, accounts: Accounts, ledger: FileHandle): Change<string> => ({
  what: 'I2, an account with a session and a token disabled',
  target: 0.75,
  operation: accountOperations.disableAccount,
  by: { ...caller.actor, elevatedUntil: '2100-01-01T00:00:00.000Z' },
  async prepare(count) {
    const ids = await accounts(count)
    for (const id of ids) await plantSession(sql, caller.tenantId, id)
    return ids
  },
  requestOf: (accountId) => ({ params: { accountId } }),
  bare: (client, accountId) =>
    bare.disable(client, caller, accountId, () => ledger.appendFile(`${'x'.repeat(300)}\n`).then(() => ledger.sync())),
})

const refreshing = (caller: Ground, { somebody }: Crowd, sql: postgres.Sql): Change<string> => ({
  ...{ what: 'a refresh', target: 0.7, operation: sessionOperations.refreshSession, by: anyone },
  prepare: (count) => Promise.all(Array.from({ length: count }, () => plantSession(sql, caller.tenantId, somebody.id))),
  requestOf: (token) => ({ body: { refresh_token: token } }),
  bare: (client, token) => bare.refresh(client, caller, token),
})

/** A session with its pair of tokens, and a personal token. Answers the refresh token. */
async function plantSession(sql: postgres.Sql, tenantId: string, accountId: string) {
  const sessionId = randomUUIDv7()
  const [access, refresh, personal] = [mintToken('session'), mintToken('refresh'), mintToken('personal')]
  await sql`insert into session (tenant_id, id, account_id) values (${tenantId}, ${sessionId}, ${accountId})`
  const row = (kind: string, { hash, last4 }: typeof access, session: string | null) => ({
    ...{ tenant_id: tenantId, id: randomUUIDv7(), account_id: accountId, session_id: session, kind, hash, last4 },
    ...{
      name: kind === 'PERSONAL' ? 'bench' : null,
      scopes: 'workspace:read',
      expires_at: new Date(Date.now() + 86_400_000),
    },
  })
  await sql`insert into credential ${sql([
    row('SESSION', access, sessionId),
    row('REFRESH', refresh, sessionId),
    row('PERSONAL', personal, null),
  ])}`
  return refresh.token
}

/**
 * The 99th percentile of each read's answers, of a daemon with the priority of its unit; and of the bare server with the same
 * priority, because this is a time of the machine, too.
 */
export async function waits(ground: Ground, crowd: Crowd): Promise<Line[]> {
  await notify(ground)
  const settings: FloorSettings = { address: ground.superuser, poolSize: ground.config.poolSize }
  const daemon = await startService(ground.environment, '--role', 'api')
  const bare = await startServer([
    ...inUnit,
    process.execPath,
    join(import.meta.dirname, 'people-server.ts'),
    JSON.stringify(settings),
  ])
  const standBack = goFirst()
  try {
    const lines: Line[] = []
    for (const { what, path } of reads(ground, crowd)) {
      const [ours, theirs] = [await slowest(daemon, ground, path), await slowest(bare, ground, path)]
      const title = `people: ${what}, p99 at ${atOnce} connections, where bare takes ${theirs.p99} ms`
      lines.push(ceilingLine(title, ours.p99, 'ms', 25))
    }
    return lines
  } finally {
    await Promise.all([daemon.stop(), bare.stop()])
    standBack()
  }
}

async function slowest({ address }: Server, { token }: Ground, path: string) {
  const load = (duration: number) =>
    autocannon({
      ...{ url: `${address}/api/v1${path}`, connections: atOnce, duration },
      headers: headersOf({ method: 'GET', path }, token),
    })
  await load(2) // the first requests are slower
  const { latency, non2xx, errors } = await load(waitedSeconds)
  if (non2xx + errors > 0) throw new Error(`${path}: ${non2xx + errors} requests failed`)
  process.stderr.write(
    `people ${path}: ${latency.totalCount} answers, half within ${latency.p50} ms, p99 ${latency.p99} ms\n`,
  )
  return latency
}
