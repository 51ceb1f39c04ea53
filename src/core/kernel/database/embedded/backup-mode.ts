/**
 * The backup mode of an embedded server, in which its files can be copied while it works.
 *
 *    pg_backup_start ─▶ the files are copied ─▶ pg_backup_stop ─▶ its label, and the log written meanwhile
 *
 * The copy is the database of the moment of pg_backup_stop: it needs the segments of the log up to that moment and no later
 * one. A slot that ends with the session keeps them at the server, however long the copy takes.
 *
 * Files appear and disappear meanwhile; one that disappears was not needed. What only the running server needs (its lock,
 * its slots, its shared memory) is left out.
 */
import { withClient } from '../client.ts'
import { findSuperuser } from '../embedded.ts'
import { type Account, accountOfCluster } from './account.ts'
import { clusterOf, findRecord } from './places.ts'

/** Folders whose content belongs to the running server; they are empty in the copy. */
export const emptied: ReadonlySet<string> = new Set([
  ...['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify'],
  ...['pg_serial', 'pg_snapshots', 'pg_stat_tmp', 'pg_subtrans'],
])
export const leftOut = /^(postmaster\.(pid|opts)|pgsql_tmp.*|backup_label(\.old)?|recovery\.signal)$/

export interface BackupMode {
  readonly cluster: string
  readonly account: Account | undefined
  /** Ends the mode, when the files are copied. */
  stop(): Promise<Stopped>
}

export interface Stopped {
  /** The moment of the copy, by the server's clock. */
  readonly at: string
  /** Content of `backup_label`, without which the copy is damaged. */
  readonly label: string
  /** Content of `tablespace_map`; empty where all is in the cluster's folder. */
  readonly tablespaces: string
  /** Names in `pg_wal` that the copy needs. */
  readonly log: readonly string[]
}

/** Runs work while the server of a data folder is in backup mode. It leaves the mode also if the work fails. */
export async function inBackupMode<T>(dataDir: string, work: (mode: BackupMode) => Promise<T>): Promise<T> {
  const superuser = await findSuperuser(dataDir)
  const record = await findRecord(dataDir)
  if (!superuser || !record) throw new Error(`there is no database in ${dataDir}`)
  const cluster = clusterOf(record)
  const account = await accountOfCluster(cluster)
  return withClient({ ...superuser, database: 'postgres' }, async (client) => {
    await client.query("select pg_create_physical_replication_slot('svc_backup_' || pg_backend_pid(), true, true)")
    const { rows } = await client.query<{ first: string }>(
      "select pg_walfile_name(pg_backup_start('svc', fast => true)) as first",
    )
    const stop = async (): Promise<Stopped> => {
      // Does not wait for an archive: the log written meanwhile is copied, too.
      const { rows: ended } = await client.query<{ last: string; labelfile: string; spcmapfile: string; at: Date }>(
        `select pg_walfile_name(lsn) as last, labelfile, spcmapfile, clock_timestamp() as at
         from pg_backup_stop(wait_for_archive => false)`,
      )
      const { rows: log } = await client.query<{ name: string }>(
        "select name from pg_ls_waldir() where name between $1 and $2 or name like '%.history'",
        [rows[0]?.first, ended[0]?.last],
      )
      const [end] = ended
      if (!end) throw new Error('the server did not say where the backup ends')
      return {
        at: end.at.toISOString(),
        label: end.labelfile,
        tablespaces: end.spcmapfile ?? '',
        log: log.map(({ name }) => name),
      }
    }
    return work({ cluster, account, stop })
  })
}
