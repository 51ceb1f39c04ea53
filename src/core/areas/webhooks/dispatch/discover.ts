/**
 * Discovery: finds webhooks at which something is due, or will be soon.
 *
 * The bell (outbox/bell.ts) names most of them at once. This finds the others: what it rang for while the daemon did not
 * listen, retries that a daemon had in memory when it ended, attempts that it left behind, and workspaces
 * that are ACTIVE again. The statement jumps in the index from one webhook with unfinished deliveries to the next, so a
 * long queue at one of them costs no more than a short one. It reads only those attempts under way that were due before
 * the first delivery that waits; a later look sees the others. It answers in pages, because a look at many webhooks at
 * once would keep a processor from the turns.
 */
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { forTurns } from './turn.ts'

export interface Found {
  readonly tenant_id: string
  readonly webhook_id: string
  /** Until the first one is due, in seconds. 0 or less: it is due. */
  readonly in_seconds: number
  readonly has_expired: boolean
}

/** Where a page ends: the last webhook that it has looked at. */
export type Visited = Pick<Found, 'tenant_id' | 'webhook_id'>

interface NotDue extends Visited {
  readonly in_seconds: null
  readonly has_expired: false
}

export interface Page {
  readonly found: readonly Found[]
  /** Where the next page begins; undefined if this is the last one. */
  readonly end: Visited | undefined
}

/** Webhooks that one statement looks at: it keeps a processor for some milliseconds, and turns wait for that. */
const pageSize = 50
/** How many attempts under way are read for each webhook: more than five daemons make. */
const looked = 100
const first: Visited = {
  tenant_id: '00000000-0000-0000-0000-000000000000',
  webhook_id: '00000000-0000-0000-0000-000000000000',
}

/** Webhooks that are ACTIVE in workspaces that are, and have something due within the seconds; one page of them. */
export async function discover(
  installation: Installation,
  withinSeconds: number,
  aheadSeconds: number,
  after = first,
): Promise<Page> {
  const rows = await installation.transaction({ kind: 'SYSTEM', job: 'deliveries' }, { readOnly: true }, ({ tx }) => {
    void tx.switch(forTurns)
    return tx<(Found | NotDue)[]>`
      with recursive leaps as (
        (select tenant_id, webhook_id from delivery
         where finished_at is null and (tenant_id, webhook_id) > (${after.tenant_id}::uuid, ${after.webhook_id}::uuid)
         order by tenant_id, webhook_id limit 1)
        union all
        select n.tenant_id, n.webhook_id from leaps l cross join lateral (
          select tenant_id, webhook_id from delivery
          where finished_at is null and (tenant_id, webhook_id) > (l.tenant_id, l.webhook_id)
          order by tenant_id, webhook_id limit 1) n),
      page as materialized (select tenant_id, webhook_id from leaps limit ${pageSize}),
      moment as (select now() + make_interval(secs => ${aheadSeconds}::float8) as at)
      select l.tenant_id, l.webhook_id, due.in_seconds, coalesce(due.has_expired, false) as has_expired
      from page l left join lateral (
        select extract(epoch from (first.at - (select at from moment)))::float8 as in_seconds, first.has_expired
        from tenant t
        join webhook w on w.tenant_id = l.tenant_id and w.id = l.webhook_id and w.state = 'ACTIVE'
        cross join lateral (
          select coalesce((
            select due_at from delivery d
            where d.tenant_id = l.tenant_id and d.webhook_id = l.webhook_id and d.finished_at is null and d.leased_until is null
            order by due_at limit 1), 'infinity') as due_at) waiting
        cross join lateral (
          select least(waiting.due_at, min(leased_until)) as at, coalesce(bool_or(leased_until <= (select at from moment)), false) as has_expired
          from (
            select leased_until from delivery d
            where d.tenant_id = l.tenant_id and d.webhook_id = l.webhook_id and d.finished_at is null and d.leased_until is not null
              and d.due_at <= waiting.due_at
            order by due_at limit ${looked}) under_way) first
        where t.id = l.tenant_id and t.state = 'ACTIVE'
          and first.at <= (select at from moment) + make_interval(secs => ${withinSeconds})) due on true`
  })
  return {
    found: rows.filter((row) => row.in_seconds !== null),
    end: rows.length === pageSize ? rows.reduce((a, b) => (keyOf(a) > keyOf(b) ? a : b)) : undefined,
  }
}

/** The server's order of these ids is that of their texts. */
const keyOf = ({ tenant_id, webhook_id }: Visited) => `${tenant_id} ${webhook_id}`
