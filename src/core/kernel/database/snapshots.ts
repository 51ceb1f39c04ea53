/**
 * Long reads of one moment, on connections that no request waits for.
 *
 *    asked ──▶ how far has the primary written? ──▶ the standby has replayed that ──▶ read there
 *                                                └─ has not, is none, or breaks off ─▶ read on the primary
 *
 * So a read sees whatever was committed before it was asked for, wherever it is read. A standby serves only while it is
 * one: a server that was promoted may have changes of its own. Spec: Admin: workspaces, rule 4; docs/decisions/0325.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseAddress } from './address.ts'
import { openPool, type Pool, type Tx } from './pool.ts'
import { asTenant } from './roles.ts'
import { codeOf, DatabaseUnavailable } from './unavailable.ts'

/** How far the primary has written, and which database it is. */
export interface Position {
  readonly which: string
  readonly written: string
}

export interface Snapshots {
  /**
   * Reads one workspace as it is at one moment, for as long as that takes: REPEATABLE READ through row-level security.
   * `work` runs again from its start where the standby breaks off.
   */
  read<T>(tenantId: string, work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Reads on the standby alone, in the time that a request has, what was committed before the position, for which the
   * primary is asked. Undefined where it does not serve, and where there is none: the caller reads on the primary.
   */
  readAside<T>(
    tenantId: string,
    position: () => Promise<Position>,
    work: (tx: Tx) => Promise<T>,
  ): Promise<T | undefined>
  close(): Promise<void>
}

/**
 * Few connections, because each holds back the clean-up of every row that dies meanwhile. Long limits, because each
 * page is long.
 */
const options = {
  size: 2,
  applicationName: 'svc snapshot',
  acquireMs: 60_000,
  // One statement copies a whole table out, at the pace of this process.
  statementMs: 6 * 3_600_000,
  // A page may have to be sorted before its first row comes. A server that is gone closes the socket, or the keepalive does.
  silenceMs: 30 * 60_000,
  idleInTransactionMs: 120_000,
}
/** A standby that does not answer costs an export no more than this. */
const standbyOptions = { ...options, acquireMs: 5_000 }
/** A request waits for its answer: exports do not hold it up, and it takes no longer than a change. */
const asideOptions = { size: 2, applicationName: 'svc aside', acquireMs: 2_000, statementMs: 15_000 }
/** How long a request waits for the standby to catch up. */
const asideMs = 1_000

const lookMs = 100

/** The cluster and the database in it: a standby has both from its primary. */
export const whichDatabase = `(select system_identifier::text from pg_control_system()) || ' ' || (select oid from pg_database where datname = current_database())`

/** `patienceMs`: how long a read waits for the standby to catch up. */
export function openSnapshots(
  primary: DatabaseAddress,
  standby: DatabaseAddress | undefined,
  patienceMs = 10_000,
): Snapshots {
  let onPrimary: Pool | undefined
  let onStandby: Pool | undefined
  let aside: Pool | undefined
  return {
    async read(tenantId, work) {
      onPrimary ??= openPool(primary, options)
      const asked = onPrimary
      if (standby) {
        onStandby ??= openPool(standby, standbyOptions)
        const position = () => asked.transaction('', readPosition, reading)
        const found = await readThere(onStandby, tenantId, { position, patienceMs }, work)
        if (found) return found.value
      }
      return readOn(onPrimary, tenantId, work)
    },
    async readAside(tenantId, position, work) {
      if (!standby) return undefined
      aside ??= openPool(standby, asideOptions)
      return (await readThere(aside, tenantId, { position, patienceMs: asideMs }, work))?.value
    },
    async close() {
      await Promise.all([onPrimary?.close(0), onStandby?.close(0), aside?.close(0)])
    },
  }
}

const readOn = <T>(pool: Pool, tenantId: string, work: (tx: Tx) => Promise<T>) =>
  pool.transaction(asTenant(tenantId), work, { readOnly: true, isolation: 'repeatable read' })

interface Asked {
  /** Asks the primary. */
  readonly position: () => Promise<Position>
  readonly patienceMs: number
}

/** Reads on the standby; undefined where it does not serve or breaks off. */
async function readThere<T>(
  pool: Pool,
  tenantId: string,
  { position, patienceMs }: Asked,
  work: (tx: Tx) => Promise<T>,
): Promise<{ readonly value: T } | undefined> {
  const begun = once(work)
  try {
    if (await hasCaughtUp(pool, await position(), patienceMs))
      return { value: await readOn(pool, tenantId, begun.work) }
  } catch (error) {
    if (!(error instanceof BrokenOff) && !(error instanceof DatabaseUnavailable)) throw error
  }
  await begun.over()
  return undefined
}

/** The standby has ended the read, because the primary cleaned up what it was reading. */
class BrokenOff extends Error {
  override readonly name = 'BrokenOff'
}

/**
 * `work` for one run. A conflict does not look like a collision: the pool would read again, for hours where it comes again.
 * `over` waits until the work has noticed that its connection is gone, so that it never runs twice at a time.
 */
function once<T>(work: (tx: Tx) => Promise<T>) {
  let running: Promise<unknown> | undefined
  return {
    async work(tx: Tx): Promise<T> {
      const result = work(tx)
      running = result.catch(() => {})
      return result.catch((error: unknown) => {
        throw codeOf(error) === '40001' ? new BrokenOff('the standby broke the read off', { cause: error }) : error
      })
    },
    over: async () => running,
  }
}

interface Standing {
  readonly which: string
  readonly is_standby: boolean
  readonly has_replayed: boolean
}

const positionText = `select ${whichDatabase} as which, pg_current_wal_insert_lsn()::text as written`

const standingText = `
  select ${whichDatabase} as which, pg_is_in_recovery() as is_standby,
         coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as has_replayed`

/** Asks the primary, beside whatever else the transaction reads. */
export async function readPosition(tx: Tx): Promise<Position> {
  const [position] = await tx.text<Position[]>(positionText)
  if (!position) throw new Error('a select without a table answers one row')
  return position
}

/** Waits for at most `patienceMs`. Throws DatabaseUnavailable where the standby does not answer. */
async function hasCaughtUp(standby: Pool, position: Position, patienceMs: number): Promise<boolean> {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const looked = standby.transaction('', (tx) => tx.text<Standing[]>(standingText, [position.written]), reading)
    const [standing] = await looked
    if (!standing?.is_standby || standing.which !== position.which) return false
    if (standing.has_replayed) return true
    if (performance.now() > giveUpAt) return false
    await pause(lookMs)
  }
}

const reading = { readOnly: true } as const
