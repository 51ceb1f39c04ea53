/**
 * T-23: a hold, or a cancellation, at the same moment as the start of a purge. Either it
 * came first and nothing was removed, or the purge has begun and it is refused.
 * 12 rounds each here, 200 with SVC_FAULTS=full.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PurgeOutcome, pursuePurge } from '../../src/core/areas/tenants/purge/purge.ts'
import { retentionOperations } from '../../src/core/contract/retention/operations.ts'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { furnished, overdue, rowsOf } from '../kit/leaving-workspace.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'

const rounds = process.env['SVC_FAULTS'] === 'full' ? 200 : 12

let ways: TwoWays
beforeAll(async () => {
  ways = await twoWays()
})
afterAll(() => ways.close())

/** At once every third time, otherwise one behind the other at the workspace's row, in the order that the round says. */
async function race(
  id: string,
  round: number,
  other: () => Promise<unknown>,
): Promise<{ purge: PurgeOutcome; code: string }> {
  expect(await pursuePurge(ways.installation, id)).toBe('settling')
  ways.clock.pass(3600)
  const answered = () =>
    other().then(
      () => 'done',
      (error: { code: string }) => error.code,
    )
  // `busy`: the loser still holds the row for the moment of its rollback; `more`: the purge took as long as one try may. The
  // sweep would come again.
  const purged = async (): Promise<PurgeOutcome> => {
    const outcome = await pursuePurge(ways.installation, id)
    return outcome === 'busy' || outcome === 'more' ? purged() : outcome
  }
  if (round % 3 === 0) {
    const [code, purge] = await Promise.all([answered(), purged()])
    return { purge, code }
  }
  const held = await ways.sql.reserve()
  await held`begin`
  await held`select 1 from tenant where id = ${id} for update`
  const inLine = async <T>(begin: () => Promise<T>, place: number): Promise<{ over: Promise<T> }> => {
    const over = begin()
    await expect.poll(() => waiting()).toBeGreaterThanOrEqual(place)
    return { over }
  }
  const [code, purge] =
    round % 3 === 1
      ? [await inLine(answered, 1), await inLine(purged, 2)]
      : await inLine(purged, 1).then(async (first) => [await inLine(answered, 2), first] as const)
  await held`commit`
  held.release()
  return { purge: await purge.over, code: await code.over }
}

/** How many transactions wait for a lock right now. */
async function waiting(): Promise<number> {
  const [row] = await ways.sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return row?.count ?? 0
}

test(`a hold against the purge, ${rounds} rounds`, async () => {
  const seen = new Set<string>()
  for (let round = 0; round < rounds; round += 1) {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    const before = await rowsOf(ways.sql, leaving.id)
    const { purge, code } = await race(leaving.id, round, () =>
      ways.call('api', retentionOperations.placeHold, {
        body: { tenant_id: leaving.id, scope: { kind: 'TENANT' }, reason: 'r' },
      }),
    )
    seen.add(code)
    const [tenant] = await ways.sql<
      { purge_started_at: string | null }[]
    >`select purge_started_at from tenant where id = ${leaving.id}`
    if (code === 'done') {
      expect([purge, tenant]).toEqual(['held', { purge_started_at: null }])
      // The hold itself brought a row, an entry and an event.
      const more = { legal_hold: 1, audit_entry: 1, outbox_event: 1 }
      const expected = Object.entries(more).map(([name, count]) => [name, before[name]! + count])
      expect(await rowsOf(ways.sql, leaving.id)).toEqual({ ...before, ...Object.fromEntries(expected) })
    } else {
      expect(['admin.tenant_deletion_underway', 'not_found']).toContain(code)
      expect([purge, tenant]).toEqual(['purged', undefined])
    }
  }
  expect([...seen].some((code) => code === 'done') && seen.size > 1, 'both orders came up').toBe(true)
})

test(`:cancel-deletion against the purge, ${rounds} rounds`, async () => {
  const seen = new Set<string>()
  for (let round = 0; round < rounds; round += 1) {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    const { purge, code } = await race(leaving.id, round, () =>
      ways.call('api', tenantOperations.cancelTenantDeletion, { tenantId: leaving.id }),
    )
    seen.add(code)
    const rows = await rowsOf(ways.sql, leaving.id)
    if (code === 'done') {
      expect(purge).toBe('not_due')
      expect(rows).toMatchObject({ account: 1, container: 2, label: 4 })
    } else {
      expect(['admin.tenant_deletion_underway', 'not_found']).toContain(code)
      expect(purge).toBe('purged')
      expect(Object.values(rows).every((count) => count === 0)).toBe(true)
    }
  }
  expect([...seen].some((code) => code === 'done') && seen.size > 1, 'both orders came up').toBe(true)
})
