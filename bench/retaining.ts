/**
 * A night of the rules of retention: 100,000 tokens that were revoked long ago, and 100,000 events behind a narrower window. How
 * long its transactions last, and how long the night does, against the same rows removed by one statement.
 */
import postgres from 'postgres'
import { runRulesJob } from '../src/core/areas/retention-runs/nightly.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import type { Ground } from './ground.ts'
import { p99 } from './neighbour.ts'
import { ceilingLine, type Line } from './table.ts'
import { timed } from './timed.ts'

const rows = 100_000

export async function retaining(ground: Ground): Promise<Line[]> {
  const sql = postgres({ ...postgresOptions(ground.superuser), onnotice: () => {} })
  try {
    await fill(sql, ground)
    const { installation, tookMs } = timed(ground.installation)
    await runRulesJob.run(installation, {})
    const began = performance.now()
    await runRulesJob.run(installation, {})
    const seconds = (performance.now() - began) / 1000
    const [left] = await sql<{ tokens: number; events: number }[]>`
      select (select count(*) from credential where revoked_at < now() - interval '90 days')::int as tokens,
             (select count(*) from outbox_event where occurred_at < now() - interval '5 days')::int as events`
    if (left?.tokens !== 0 || left.events !== 0) throw new Error('the night left rows that were due')
    return [
      ceilingLine(
        `a night of ${rows} records and ${rows} events: a transaction, p99 of ${tookMs.length}`,
        p99(tookMs),
        'ms',
        100,
      ),
      ceilingLine(`a night of ${rows} records and ${rows} events`, seconds, 's', 120),
    ]
  } finally {
    await sql.end()
  }
}

/** Twice as many stay, so that the brake lets the run go. */
async function fill(sql: postgres.Sql, { tenantId, accountId }: Ground): Promise<void> {
  await sql`insert into retention_rule (tenant_id, kind, days, is_released) values (${tenantId}, 'EVENTS', 5, true), (${tenantId}, 'RECORDS', 90, true)`
  await sql`
    insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes, revoked_at)
    select ${tenantId}, uuidv7(), ${accountId}, 'PERSONAL', sha256(('r' || n)::bytea), 'xxxx', 'old', '', now() - interval '100 days'
    from generate_series(1, ${rows}) n`
  await sql`
    insert into outbox_event (tenant_id, id, tx, seq, type, occurred_at, body)
    select ${tenantId}, uuidv7(interval '-6 days'), '3', n, 'svc.work.item.created.v1', now() - interval '6 days', '{}'
    from generate_series(1, ${rows}) n`
  await sql`analyze`
}
