/**
 * T-23 with two daemons, both of which work the queue: while both begin the purges of the same workspaces, holds on
 * them are placed through either. A hold that was acknowledged keeps everything, for good; one that was refused says
 * why, and its workspace is gone whole. 32 workspaces here, 200 with SVC_FAULTS=full, in groups that are due at once.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { purgeOperations } from '../../src/core/contract/retention/operations.ts'
import { readLedger } from '../../src/core/kernel/ledger/ledger.ts'
import { type SpawnedDaemon, spawnDaemon } from '../kit/daemon.ts'
import { type Furnished, furnished, overdue, rowsOf } from '../kit/leaving-workspace.ts'
import { databaseEnv } from '../kit/svc.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const groups = isFull ? 10 : 2
const groupSize = isFull ? 20 : 16
/** As short as it may be set: both daemons have seen a deadline for long enough after that. */
const settleSeconds = 1

let ways: TwoWays
let daemons: SpawnedDaemon[] = []
beforeAll(async () => {
  ways = await twoWays()
  await ways.sql`
    insert into tenant_quota (tenant_id, quota, ceiling) values (${ways.operator.tenantId}, 'api_requests_per_minute', 0)`
  const env = { SVC_PORT: '0', SVC_PURGE_SETTLE_SECONDS: String(settleSeconds), SVC_LOG_LEVEL: 'error' }
  daemons = await Promise.all([0, 1].map(() => spawnDaemon({ ...databaseEnv(ways.daemon.config), ...env })))
})
afterAll(async () => {
  for (const daemon of daemons) daemon.process.kill('SIGTERM')
  await Promise.all(daemons.map(({ ended }) => ended))
  await ways.close()
})

interface Placed {
  readonly leaving: Furnished
  readonly status: number
  /** The hold's id, or the code of the refusal. */
  readonly told: string
  readonly begunAt: number
  readonly endedAt: number
}

const scopes = [
  () => ({ kind: 'TENANT' }),
  ({ ownerId }: Furnished) => ({ kind: 'ACCOUNT', id: ownerId }),
  ({ collectionId }: Furnished) => ({ kind: 'CONTAINER', id: collectionId }),
]

async function placeHold(leaving: Furnished, n: number): Promise<Placed> {
  const body = { tenant_id: leaving.id, scope: scopes[n % scopes.length]?.(leaving), reason: 'court' }
  const begunAt = Date.now()
  const answer = await fetch(`${daemons[n % daemons.length]?.address}/api/v1/retention/holds`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ways.operator.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { id, code } = (await answer.json()) as { id?: string; code?: string }
  return { leaving, status: answer.status, told: id ?? code ?? '', begunAt, endedAt: Date.now() }
}

/** Jobs for both daemons, for each workspace whose purge has not begun, until told to stop. */
function hurrying(ids: readonly string[]): { end(): Promise<void> } {
  let going = true
  const over = (async () => {
    while (going) {
      await ways.sql`
        insert into pgboss.job (name, data)
        select 'purge_tenant', jsonb_build_object('tenantId', t.id) from generate_series(1, 2) daemon, tenant t
        where t.id in ${ways.sql(ids)} and t.purge_started_at is null
        order by daemon, t.id`
      await ways.sql`insert into pgboss.job (name, data) values ('purge_due', '{}')` // carries on what was begun
      await pause(500)
    }
  })()
  return {
    end() {
      going = false
      return over
    },
  }
}

/** How many of the workspaces are not being purged. */
async function waiting(ids: readonly string[]): Promise<number> {
  const [row] = await ways.sql<{ count: number }[]>`
    select count(*)::int as count from tenant where id in ${ways.sql(ids)} and purge_started_at is null`
  return row?.count ?? 0
}

/** One group: all due at once; a hold on each from the moment that the first purge begins. */
async function race(): Promise<Placed[]> {
  const group: Furnished[] = []
  for (let n = 0; n < groupSize; n += 1) group.push(await furnished(ways))
  for (const leaving of group) await overdue(ways, leaving)
  const before = new Map<string, Record<string, number>>()
  for (const { id } of group) before.set(id, await countsOf(id))
  const ids = group.map(({ id }) => id)

  const jobs = hurrying(ids)
  await expect.poll(() => waiting(ids), { timeout: 60_000, interval: 1 }).toBeLessThan(ids.length)
  const placed = await Promise.all(group.toReversed().map(placeHold))
  const refused = placed.filter(({ status }) => status !== 201).map(({ leaving }) => leaving.id)
  await expect.poll(() => rowsLeft(refused), { timeout: 60_000, interval: 100 }).toBe(0)
  // As long again as either daemon needs to settle and to take its jobs, and more.
  await pause((settleSeconds + 3) * 1000)
  await jobs.end()

  for (const { leaving, status } of placed) {
    if (status !== 201) {
      const rows = await rowsOf(ways.sql, leaving.id)
      expect(Object.values(rows).every((count) => count === 0)).toBe(true)
      continue
    }
    // The hold itself brought a row, an entry and an event.
    const had = before.get(leaving.id) ?? {}
    const more = ['legal_hold', 'audit_entry', 'outbox_event'].map((name) => [name, (had[name] ?? 0) + 1])
    expect(await countsOf(leaving.id)).toEqual({ ...had, ...Object.fromEntries(more) })
    expect(await ways.sql`select purge_started_at from tenant where id = ${leaving.id}`).toEqual([
      { purge_started_at: null },
    ])
  }
  return placed
}

/**
 * How many rows of each table there are, without what the daemons change in the meantime: they make keys of titles
 * and values, and drop messages that wait in a workspace that is being deleted.
 */
async function countsOf(tenantId: string): Promise<Record<string, number>> {
  const { item_field_key: _keys, notification_pending: _messages, ...counts } = await rowsOf(ways.sql, tenantId)
  return counts
}

async function rowsLeft(ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  const [row] = await ways.sql<{ count: number }[]>`
    select count(*)::int as count from tenant where id in ${ways.sql(ids)}`
  return row?.count ?? 0
}

test(
  `holds on ${groups * groupSize} workspaces, placed through two daemons that both purge them`,
  async () => {
    const placed: Placed[] = []
    for (let group = 0; group < groups; group += 1) placed.push(...(await race()))

    const kept = placed.filter(({ status }) => status === 201)
    const refused = placed.filter(({ status }) => status !== 201)
    const answers = new Set(refused.map(({ status, told }) => `${status} ${told}`))
    expect(
      [...answers].filter((one) => !['409 admin.tenant_deletion_underway', '404 not_found'].includes(one)),
    ).toEqual([])
    const begun = await ways.sql<{ id: string; at: Date }[]>`
      select workspace_id as id, at from journal where action = 'tenant.purge_started'`
    const startOf = new Map(begun.map(({ id, at }) => [id, new Date(at).getTime()]))
    const met = refused.filter(({ leaving: { id }, begunAt, endedAt }) => {
      const at = startOf.get(id) ?? 0
      return begunAt <= at && at <= endedAt
    })
    process.stdout.write(
      `  holds against two daemons: ${kept.length} kept their workspace, ${refused.length} refused, ${met.length} of them met the start in the middle of the call\n`,
    )
    expect(kept.length, 'some came first').toBeGreaterThan(0)
    expect(refused.length, 'some came later').toBeGreaterThan(0)
    expect(begun.map(({ id }) => id).sort(), 'each was begun once').toEqual(refused.map((one) => one.leaving.id).sort())
    for (const { leaving } of refused)
      expect(
        (await ways.call('api', purgeOperations.verifyPurgeCertificate, { tenantId: leaving.id })).findings,
      ).toEqual([])

    const ledger = await readLedger(ways.daemon.config.ledgerFile, ways.installation.keyring)
    expect(ledger.fault).toBeUndefined()
    const owed = ledger.obligations.flatMap(({ act }) => (act.act === 'hold.placed' ? [act.id] : []))
    expect(owed.sort()).toEqual(kept.map(({ told }) => told).sort())
  },
  isFull ? 900_000 : 180_000,
)
