/**
 * Whether a daemon serves this installation, told through the database.
 *
 * A daemon that admits traffic holds a shared advisory lock on a connection of its own,
 * which the server gives up by itself when the daemon dies, however it dies. Recovery
 * commands ask before they change what a daemon may be serving. When the connection is
 * lost the lock is taken again as soon as the database is back; in between nobody is
 * served anyway.
 *
 * Spec: decisions 6 (`--recovery` refuses while a daemon admits traffic).
 */
import postgres from 'postgres'
import { type DatabaseAddress, postgresOptions } from './database/address.ts'

/** Class and key of the lock "a daemon admits traffic". */
const lockClass = 7303
const lockKey = 1

const retryMs = 500

export interface Serving {
  release(): Promise<void>
}

/** Announces that this process serves, until `release`. Throws when the database cannot be reached at first. */
export async function announceServing(address: DatabaseAddress): Promise<Serving> {
  let held = await hold(address)
  let released = false
  let wake = () => {}

  const keep = async () => {
    while (!released) {
      await held.lost
      await held.end()
      while (!released) {
        await new Promise<void>((resolve) => {
          wake = resolve
          setTimeout(resolve, retryMs).unref()
        })
        const again = released ? undefined : await hold(address).catch(() => undefined)
        if (again) {
          held = again
          break
        }
      }
    }
  }
  const kept = keep()

  return {
    async release() {
      released = true
      wake()
      await held.end()
      await kept
    },
  }
}

interface Held {
  /** Resolves when the connection, and with it the lock, is gone. */
  readonly lost: Promise<void>
  end(): Promise<void>
}

async function hold(address: DatabaseAddress): Promise<Held> {
  const { promise: lost, resolve } = Promise.withResolvers<void>()
  const sql = connect(address, resolve)
  const end = async () => {
    await sql.end({ timeout: 1 }).catch(() => {})
    resolve()
  }
  try {
    await sql`select pg_advisory_lock_shared(${lockClass}::int, ${lockKey}::int)`
    return { lost, end }
  } catch (error) {
    await end()
    throw error
  }
}

/** Whether any daemon admits traffic now. */
export async function isServed(address: DatabaseAddress): Promise<boolean> {
  const sql = connect(address, () => {})
  try {
    const [row] = await sql<{ served: boolean }[]>`
      select exists (
        select from pg_locks
        where locktype = 'advisory' and granted and classid = ${lockClass}::int::oid and objid = ${lockKey}::int::oid and objsubid = 2
          and database = (select oid from pg_database where datname = current_database())
      ) as served`
    return row?.served === true
  } finally {
    await sql.end({ timeout: 1 })
  }
}

function connect(address: DatabaseAddress, onclose: () => void): postgres.Sql {
  return postgres({
    ...postgresOptions(address),
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 5,
    fetch_types: false,
    onnotice: () => {},
    onclose,
    connection: { application_name: 'svc serving' },
  })
}
