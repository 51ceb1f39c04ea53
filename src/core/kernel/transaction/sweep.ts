/**
 * Sweeps: rows that have expired are removed, the oldest first.
 *
 *    kind A  ─1000─┤ rest ├─1000─┤ rest ├─ 340 ─ over
 *    kind B         ├─1000─┤             ├─1000─┤ rest ├─1000─┤ … as long as the run lasts
 *
 * Each batch is a transaction of its own, and the kinds take turns. So a kind with millions of rows does not keep the
 * others waiting, and one that fails does not stop them. A run that is killed has removed what it has removed: the next one
 * begins with what is the oldest then. After each batch it rests for as long as that took.
 *
 * Each kind has an index that begins with its `since`, so a batch reads what it removes.
 * Spec: decisions 1, Idempotency-Key; 2, Tokens; docs/decisions/0191.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { lockClasses } from '../database/lock-classes.ts'
import type { SystemActor } from '../values/actor.ts'
import type { Installation } from './installation.ts'

/** Rows that go at some time after the moment in one of their columns. */
export interface Sweep {
  /** One without partitions: a row is removed by its place, which is one in each of them. */
  readonly table: string
  /** The column with that moment. */
  readonly since: string
  /** How long after it the row goes, as an interval of PostgreSQL. */
  readonly after: string
  /** Which of them, in SQL; all where absent. */
  readonly only?: string
  /** Statements that remove, with the rows of `gone`, what belongs to them. */
  readonly with?: readonly string[]
}

/** What of a kind waits to be removed. */
export interface Backlog {
  readonly table: string
  /** Up to `mostCounted`. */
  readonly rows: number
  /** For how long the oldest should have been gone, in seconds; 0 if nothing waits. */
  readonly lateSeconds: number
}

/** Rows that one transaction removes, so that none lasts long. */
const batch = 1_000
/** How long a run lasts at most; the next one goes on. */
const runMs = 4 * 60_000
const longestRestMs = 100
/** Counting more would read more than anybody needs to know. */
export const mostCounted = 100_000

/** Removes what has expired. When all are done, throws an error that names the kinds that failed, with the cause of the first. */
export async function sweep(installation: Installation, actor: SystemActor, kinds: readonly Sweep[]): Promise<void> {
  const failures: { readonly table: string; readonly error: unknown }[] = []
  const until = performance.now() + runMs
  for (let left = kinds; left.length > 0 && performance.now() < until; ) {
    const full: Sweep[] = []
    for (const kind of left) {
      const began = performance.now()
      try {
        if ((await removeBatch(installation, actor, kind)) < batch) continue
        full.push(kind)
        await pause(Math.min(performance.now() - began, longestRestMs))
      } catch (error) {
        failures.push({ table: kind.table, error })
      }
    }
    left = full
  }
  if (failures.length === 0) return
  const tables = failures.map(({ table }) => table).join(', ')
  throw new Error(`what has expired was not removed from ${tables}`, { cause: failures[0]?.error })
}

function removeBatch(installation: Installation, actor: SystemActor, kind: Sweep): Promise<number> {
  return installation.transaction(actor, {}, async ({ tx }) => {
    // Two batches at once delete the same rows in different orders, and each waits for the other.
    const [turn] = await tx<{ is_mine: boolean }[]>`
      select pg_try_advisory_xact_lock(${lockClasses.sweep}, hashtext(${kind.table})) as is_mine`
    if (!turn?.is_mine) return 0
    const [gone] = await tx.text<{ count: number }[]>(statementOf(kind), [batch])
    return gone?.count ?? 0
  })
}

/** The names are those of a declaration, so they can be part of the text. */
function statementOf(kind: Sweep): string {
  const { table, since, with: others = [] } = kind
  const also = others.map((statement, n) => `, also_${n} as (${statement})`).join('')
  // The condition is repeated, because it is checked again on a row that another transaction has just changed.
  return `with gone as (
      delete from ${table} where ctid = any (array(select ctid from ${table} where ${isOver(kind)} order by ${since} limit $1))
        and ${isOver(kind)} returning *
    )${also}
    select count(*)::int as count from gone`
}

const isOver = ({ since, after, only = 'true' }: Sweep) => `${since} < now() - interval '${after}' and ${only}`

/** The statement that answers what waits, by kind (`Backlog`): a look-up in an index for each. */
export const backlogsOf = (kinds: readonly Sweep[]): string =>
  kinds
    .map(
      (kind) => `
      select '${kind.table}' as table,
             (select count(*)::int from (select from ${kind.table} where ${isOver(kind)} limit ${mostCounted}) found) as rows,
             coalesce((select extract(epoch from now() - interval '${kind.after}' - ${kind.since})::float8
                       from ${kind.table} where ${isOver(kind)} order by ${kind.since} limit 1), 0) as "lateSeconds"`,
    )
    .join(' union all ')
