/** The check of SVC_DATABASE_STANDBY_URL: exports read there, and on the primary where it does not serve. Decision 0325. */
import type { DatabaseAddress } from '../../core/kernel/database/address.ts'
import { withClient } from '../../core/kernel/database/client.ts'
import { whichDatabase } from '../../core/kernel/database/snapshots.ts'
import { type Finding, lineOf, ok, warn } from './finding.ts'

interface Standing {
  readonly which: string
  readonly is_standby: boolean
  readonly seconds_behind: number
}

/** More than an export waits for (database/snapshots.ts). */
const mostSecondsBehind = 10

const remedy = 'Until then exports read from SVC_DATABASE_URL (docs/deploying.md).'

export async function checkStandby(primary: DatabaseAddress, standby: DatabaseAddress): Promise<Finding> {
  try {
    const which = await ask<{ which: string }>(primary, `select ${whichDatabase} as which`)
    // Nothing to replay is no delay, however long ago the last change was.
    const standing = await ask<Standing>(
      standby,
      `select ${whichDatabase} as which, pg_is_in_recovery() as is_standby,
              case when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
                   else coalesce(extract(epoch from now() - pg_last_xact_replay_timestamp()), 0) end::float8 as seconds_behind`,
    )
    if (standing.which !== which.which)
      return warn(
        'standby',
        'is of another database than SVC_DATABASE_URL',
        `Correct SVC_DATABASE_STANDBY_URL. ${remedy}`,
      )
    if (!standing.is_standby)
      return warn(
        'standby',
        'is no standby any more',
        `Make it one again, or unset SVC_DATABASE_STANDBY_URL. ${remedy}`,
      )
    const behind = `${standing.seconds_behind.toFixed(1)} s behind the primary`
    return standing.seconds_behind <= mostSecondsBehind
      ? ok('standby', behind)
      : warn('standby', behind, `Find out what it waits for. ${remedy}`)
  } catch (error) {
    return warn('standby', `not reached: ${lineOf(error)}`, `Check SVC_DATABASE_STANDBY_URL. ${remedy}`)
  }
}

async function ask<T extends object>(address: DatabaseAddress, text: string): Promise<T> {
  const { rows } = await withClient(address, (client) => client.query<T>(text))
  const [row] = rows
  if (!row) throw new Error('no row')
  return row
}
