/**
 * Reads and changes of people, one after another, against their own statements: recorded from a real run and run bare, for
 * other accounts each time. Where an act stands in the ledger, the bare side puts a line on the disk as well. And the slowest of
 * the reads through a daemon, with 32 connections busy. Targets: people 9.
 */
import { randomUUIDv7 } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import { perform, type Request } from '../src/core/app/perform.ts'
import { sessionOperations } from '../src/core/contract/auth/operations.ts'
import { groupOperations } from '../src/core/contract/groups/operations.ts'
import { accountOperations } from '../src/core/contract/identity/accounts.ts'
import { notificationOperations } from '../src/core/contract/notifications/operations.ts'
import type { Operation } from '../src/core/contract/operation.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import type { Installation } from '../src/core/kernel/transaction/installation.ts'
import { type AccountActor, anyone } from '../src/core/kernel/values/actor.ts'
import { mintToken } from '../src/core/kernel/values/token.ts'
import { type BarePool, openBarePool } from './bare-pool.ts'
import type { Ground } from './ground.ts'
import type { Crowd } from './people-filler.ts'
import { startDaemon } from './processes.ts'
import { type Recorded, recorded, renewedFor } from './recording.ts'
import { openClient } from './requests.ts'
import { compare, elapsedMs, median } from './rounds.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const rounds = 9
const callsARound = 100
const notifications = 1_000
const atOnce = 32
const waitedMs = 10_000

const reads = ({
  somebody,
  groupId,
}: Crowd): readonly (readonly [what: string, operation: Operation, request: Request, path: string])[] => [
  ['N4, one account', accountOperations.getAccount, { params: { accountId: somebody.id } }, `/accounts/${somebody.id}`],
  [
    'I6, 50 members of a group',
    groupOperations.listGroupMembers,
    { params: { groupId }, query: { size: '50' } },
    `/groups/${groupId}/members?size=50`,
  ],
  [
    'I9, 50 notifications of a thousand',
    notificationOperations.listNotifications,
    { query: { size: '50' } },
    '/accounts/me/notifications?size=50',
  ],
]

export async function readsOfPeople(ground: Ground, crowd: Crowd): Promise<Line[]> {
  const { installation, actor } = ground
  await notify(ground)
  const bare = openBarePool(installation.address, 1)
  const lines: Line[] = []
  for (const [what, operation, request] of reads(crowd)) {
    const read = (on: Installation) => perform(on, operation, actor, request)
    const statements = await recorded(installation, read)
    const compared = await compare(
      rateOf(() => read(installation)),
      rateOf(() => bare.run(statements)),
      rounds,
    )
    lines.push(ratioLine(`people: ${what}, against bare`, { ...compared, unit: '/s' }, 'at least', 0.8))
  }
  await bare.close()
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

/** One thing that is changed, and what the statements of the recorded run name in its place. */
interface Changed {
  readonly request: Request
  readonly ids: ReadonlyMap<string, string>
  readonly hashes: ReadonlyMap<string, Buffer>
}

interface Change {
  readonly what: string
  readonly target: number
  readonly operation: Operation
  readonly by: AccountActor | typeof anyone
  /** So many that are there to be changed, made before the clock starts. */
  prepare(count: number): Promise<Changed[]>
  readonly kept: readonly string[]
  /** The act stands in the ledger, on the disk, before its commit: so a line is put on the disk on the bare side, too. */
  readonly isObligation?: boolean
}

export async function changesOfPeople(ground: Ground, crowd: Crowd): Promise<Line[]> {
  const sql = postgres({ ...postgresOptions(ground.superuser), max: 1, onnotice: () => undefined })
  const bare = openBarePool(ground.installation.address, 1)
  try {
    const lines: Line[] = []
    for (const change of changes(sql, ground, crowd)) lines.push(await rateOfChange(ground, bare, change))
    return lines
  } finally {
    await bare.close()
    await sql.end()
  }
}

async function rateOfChange({ installation, dataDir }: Ground, bare: BarePool, change: Change): Promise<Line> {
  const { what, target, operation, by, kept, isObligation = false } = change
  const [first] = await change.prepare(1)
  if (!first) throw new Error('nothing was prepared')
  const statements = await recorded(installation, (on) => perform(on, operation, by, first.request))
  /** The recorded run's own, as those of another. */
  const otherwise = ({ ids, hashes }: Changed): Recorded =>
    renewedFor(statements, {
      ids: new Map([...first.ids].map(([name, was]) => [was, ids.get(name) ?? was])),
      hashes: new Map([...first.hashes].map(([name, was]) => [was.toString('hex'), hashes.get(name) ?? was])),
      kept: new Set(kept),
    })
  const ours = async () => {
    const all = await change.prepare(callsARound)
    return rateOf((n) => perform(installation, operation, by, all[n]!.request))()
  }
  const lines = isObligation ? await open(join(dataDir, 'bare-lines'), 'a') : undefined
  const onDisk = lines && (() => lines.appendFile(`${'x'.repeat(300)}\n`).then(() => lines.sync()))
  const bareRound = async () => {
    const all = (await change.prepare(callsARound)).map(otherwise)
    return rateOf((n) => bare.run(all[n]!, onDisk))()
  }
  const compared = await compare(ours, bareRound, rounds)
  await lines?.close()
  return ratioLine(`people: ${what}, against bare`, { ...compared, unit: '/s' }, 'at least', target)
}

function changes(sql: postgres.Sql, { tenantId, accountId, actor, collectionId }: Ground, crowd: Crowd): Change[] {
  let taken = 0
  /** Accounts that nothing was done to yet. */
  const accounts = async (count: number): Promise<string[]> => {
    const rows = await sql<{ id: string }[]>`
      select a.id from account a
      where a.tenant_id = ${tenantId} and a.kind = 'PERSON' and a.state = 'ACTIVE' and a.email like '%@crowd.example'
        and a.group_ids = '{}' order by a.id offset ${taken} limit ${count}`
    taken += count
    if (rows.length < count) throw new Error('there are too few accounts: BENCH_ACCOUNTS is too small')
    return rows.map(({ id }) => id)
  }
  const ofAccounts = (requestOf: (id: string) => Request) => async (count: number) =>
    (await accounts(count)).map((id) => ({
      request: requestOf(id),
      ids: new Map([['account', id]]),
      hashes: new Map<string, Buffer>(),
    }))
  const kept = [tenantId, accountId, actor.credentialId, collectionId, crowd.groupId]
  return [
    {
      ...{ what: 'I7, an account put into a group', target: 0.75, operation: groupOperations.addGroupMember, kept },
      by: actor,
      prepare: ofAccounts((id) => ({ params: { groupId: crowd.groupId, accountId: id } })),
    },
    {
      ...{ what: 'I2, an account with a session and a token disabled', target: 0.75, kept },
      operation: accountOperations.disableAccount,
      isObligation: true,
      by: { ...actor, elevatedUntil: '2100-01-01T00:00:00.000Z' },
      async prepare(count) {
        const made = await ofAccounts((id) => ({ params: { accountId: id } }))(count)
        for (const { ids } of made) await plantSession(sql, tenantId, ids.get('account') ?? '')
        return made
      },
    },
    {
      ...{ what: 'a refresh', target: 0.7, operation: sessionOperations.refreshSession, by: anyone },
      kept: [...kept, crowd.somebody.id],
      prepare: (count) =>
        Promise.all(
          Array.from({ length: count }, async () => {
            const { sessionId, refresh } = await plantSession(sql, tenantId, crowd.somebody.id)
            return {
              request: { body: { refresh_token: refresh.token } },
              ids: new Map([['session', sessionId]]),
              hashes: new Map([['refresh', refresh.hash]]),
            }
          }),
        ),
    },
  ]
}

/** A session with its pair of tokens, and a personal token. */
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
  return { sessionId, refresh }
}

/** The 99th percentile of each read's answers, as its caller waits for them. */
export async function waits(ground: Ground, crowd: Crowd): Promise<Line[]> {
  await notify(ground)
  const daemon = await startDaemon(ground.environment, '--role', 'api')
  const client = openClient(daemon.address, atOnce)
  try {
    const lines: Line[] = []
    for (const [what, , , path] of reads(crowd)) {
      const request = { method: 'GET' as const, path, token: ground.token }
      await client.rate(() => request, 2_000) // the daemon's first requests are slower
      const took: number[] = []
      const until = performance.now() + waitedMs
      const lane = async () => {
        while (performance.now() < until) took.push(await elapsedMs(() => client.send(request)))
      }
      await Promise.all(Array.from({ length: atOnce }, lane))
      const p99 = took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? median(took)
      lines.push(ceilingLine(`people: ${what}, p99 of ${took.length} at ${atOnce} connections`, p99, 'ms', 25))
    }
    return lines
  } finally {
    await client.close()
    await daemon.stop()
  }
}
