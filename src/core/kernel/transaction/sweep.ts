/**
 * Sweeps: rows that have expired are removed, the oldest first.
 *
 *    kind A  ─250─┤ rest              ├─250─┤ rest              ├─ 90 ─ over
 *    kind B              ├─250─┤ rest              ├─250─┤ rest         ├─250─┤ rest ├─250─┤ … as long as the run lasts
 *
 * Each batch is a transaction of its own, and the kinds take turns. So a kind with millions of rows does not keep the
 * others waiting, and one that fails does not stop them. A run that is killed has removed what it has removed: the next one
 * begins with what is the oldest then. A run works for a tenth of its time: it rests after each batch, the longer that took.
 *
 * Each kind has an index that begins with its `since`, and each batch begins where the one before it ended. So a batch reads
 * what it removes: the index keeps the rows that are gone until a vacuum, and while an export or a backup reads a moment
 * before, each of them would be looked at again.
 * Spec: decisions 1, Idempotency-Key; 2, Tokens; docs/decisions/0191, 0506.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { lockClasses } from '../database/lock-classes.ts'
import type { SystemActor } from '../values/actor.ts'
import { failpoint } from '../values/failpoint.ts'
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

/** Rows that one transaction removes: some milliseconds, which is what a request may wait for its processor. */
export const batchRows = 250
/** How long a run lasts at most; the next one goes on. */
const runMs = 4 * 60_000
/** A rest lasts so many times as long as the batch before it, where others use the database. */
const restFactor = 9
/** Behind a batch that waited for a lock or a stalled disk. */
const longestRestMs = 1_000
/** Counting more would read more than anybody needs to know. */
export const mostCounted = 100_000

/**
 * Removes what has expired. When all are done, throws an error that names the kinds that failed, with the cause of the first.
 * `rest`: how many times as long as a batch it rests after it.
 */
export async function sweep(
  installation: Installation,
  actor: SystemActor,
  kinds: readonly Sweep[],
  rest = restFactor,
): Promise<void> {
  const failures: { readonly table: string; readonly error: unknown }[] = []
  const until = performance.now() + runMs
  for (let left = kinds.map(fromTheOldest); left.length > 0 && performance.now() < until; ) {
    const full: Turn[] = []
    for (const { kind, from } of left) {
      const began = performance.now()
      try {
        const gone = await removeBatch(installation, actor, { kind, from })
        if (gone.count < batchRows) continue
        full.push({ kind, from: gone.last ?? from })
        await pause(Math.min(rest * (performance.now() - began), longestRestMs))
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

/** A kind, and the moment from which its next batch looks for rows. */
interface Turn {
  readonly kind: Sweep
  readonly from: string
}

const fromTheOldest = (kind: Sweep): Turn => ({ kind, from: '-infinity' })

interface Gone {
  readonly count: number
  /** The moment of the youngest of them, as PostgreSQL writes it: a Date has no microseconds. */
  readonly last: string | null
}

function removeBatch(installation: Installation, actor: SystemActor, { kind, from }: Turn): Promise<Gone> {
  return installation.transaction(actor, {}, async ({ tx }) => {
    // Two batches at once delete the same rows in different orders, and each waits for the other.
    const [turn] = await tx<{ is_mine: boolean }[]>`
      select pg_try_advisory_xact_lock(${lockClasses.sweep}, hashtext(${kind.table})) as is_mine`
    if (!turn?.is_mine) return { count: 0, last: null }
    const [gone] = await tx.text<Gone[]>(statementOf(kind), [batchRows, from])
    failpoint('sweep.removed')
    return gone ?? { count: 0, last: null }
  })
}

/** The names are those of a declaration, so they can be part of the text. */
function statementOf(kind: Sweep): string {
  const { table, since, with: others = [] } = kind
  const also = others.map((statement, n) => `, also_${n} as (${statement})`).join('')
  // The condition is repeated, because it is checked again on a row that another transaction has just changed.
  return `with gone as (
      delete from ${table} where ctid = any (array(
        select ctid from ${table} where ${since} >= $2::text::timestamptz and ${isOver(kind)} order by ${since} limit $1))
        and ${isOver(kind)} returning *
    )${also}
    select count(*)::int as count, max(${since})::text as last from gone`
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
