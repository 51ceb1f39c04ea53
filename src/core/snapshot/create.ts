/**
 * Makes a backup of an embedded installation while it serves.
 *
 *    cluster ─▶ copies of the ledger ─▶ [turn of the ledger: its length, pg_backup_stop] ─▶ ledger, log, label
 *            ─▶ keyring ─▶ archives, media, mail
 *
 * The order is the promise. The ledger has no acknowledged obligation that the database lacks, so the restored
 * installation does not take itself for a rewound one. Files that rows name are copied after the rows: they are written
 * before their row and removed days after it. Memory does not grow with the installation.
 */
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import type { Config } from '../kernel/config/config.ts'
import {
  type BackupMode,
  emptied,
  inBackupMode,
  leftOut,
  type Stopped,
} from '../kernel/database/embedded/backup-mode.ts'
import { majorVersion } from '../kernel/database/embedded/binaries.ts'
import { makeLockFile, takeTurn } from '../kernel/database/embedded/locks.ts'
import { findRecord } from '../kernel/database/embedded/places.ts'
import { ifThere } from '../kernel/values/if-there.ts'
import { productVersion } from '../kernel/values/product.ts'
import { timeNow } from '../kernel/values/time.ts'
import {
  bucketOf,
  clusterName,
  type End,
  foldersOf,
  type Head,
  headName,
  keyringName,
  ledgerName,
  loginsName,
  machine,
  SnapshotRefused,
} from './archive.ts'
import { openPack, type Pack } from './pack.ts'

export type Created = End & Head

/** Writes the backup of the installation, whose database the caller holds, to the stream, and ends the stream. */
export async function createSnapshot(config: Config, out: Writable, tell: (line: string) => void): Promise<Created> {
  const record = await findRecord(config.dataDir)
  if (!record) throw new SnapshotRefused(`There is no database in ${config.dataDir}.`)
  const pack = openPack(out, Math.floor(timeNow() / 1000))
  const head: Head = { format: 1, release: productVersion, postgresql: majorVersion, machine, ...bucketOf(config) }
  const keyring = await readFile(config.keyringFile)
  await pack.text(headName, JSON.stringify(head))
  await pack.text(loginsName, JSON.stringify({ passwords: record.passwords }))
  const asOf = await packDatabase(config, pack, tell)
  if (!keyring.equals(await readFile(config.keyringFile)))
    throw new SnapshotRefused('The keyring was changed during the backup.', 'Run it again.')
  await pack.text(keyringName, keyring)
  for (const [name, path] of Object.entries(foldersOf(config))) {
    tell(name)
    await pack.folder(name, path, { takes: (inside) => !isLedgerCopy(inside) })
  }
  return { ...head, ...(await pack.close(asOf)) }
}

/** A copy of the ledger at a target that is a folder: `backups/…/obligations/<installation>/…`. */
const isLedgerCopy = (name: string) => /^backups\/(.+\/)?obligations\//.test(name)

const packDatabase = (config: Config, pack: Pack, tell: (line: string) => void): Promise<string> =>
  inBackupMode(config.dataDir, async (mode) => {
    tell('database')
    await packCluster(mode, pack)
    // Before the ledger's end is known: a copy never has a line that the archive's ledger lacks.
    await packLedgerCopies(config, pack)
    const { ledgerBytes, stopped } = await atOneMoment(config.ledgerFile, mode)
    if (stopped.tablespaces !== '')
      throw new SnapshotRefused(
        'The database has tablespaces outside its folder.',
        'Move their tables back, then run it again.',
      )
    if (ledgerBytes !== undefined) await pack.file(ledgerName, config.ledgerFile, ledgerBytes)
    for (const name of stopped.log) await packLog(mode, pack, name)
    await pack.text(`${clusterName}/backup_label`, stopped.label)
    return stopped.at
  })

async function packCluster({ cluster }: BackupMode, pack: Pack): Promise<void> {
  const control = 'global/pg_control'
  await pack.folder(clusterName, cluster, {
    takes: (name) => name !== `${clusterName}/${control}` && !leftOut.test(name.slice(name.lastIndexOf('/') + 1)),
    empties: (name) => emptied.has(name.slice(clusterName.length + 1)),
  })
  await pack.text(`${clusterName}/${control}`, await steady(join(cluster, control)))
}

/** A small file that the server writes over: two readings that agree are no half-written one. */
async function steady(path: string): Promise<Buffer> {
  for (let before = await readFile(path); ; ) {
    const after = await readFile(path)
    if (after.equals(before)) return after
    before = after
  }
}

async function packLog({ cluster }: BackupMode, pack: Pack, name: string): Promise<void> {
  // The slot keeps it at the server; without it the copy would not start.
  if (!(await pack.file(`${clusterName}/pg_wal/${name}`, join(cluster, 'pg_wal', name))))
    throw new SnapshotRefused(`The server removed ${name} of its log during the backup.`, 'Run it again.')
}

const packLedgerCopies = (config: Config, pack: Pack): Promise<void> =>
  pack.folder('backups', config.backupDir, {
    takes: (name, isFolder) => isFolder || isLedgerCopy(name),
  })

/** The length of the ledger and the end of the copy of the database: nobody settles an obligation in between. */
async function atOneMoment(
  ledgerFile: string,
  mode: BackupMode,
): Promise<{ ledgerBytes: number | undefined; stopped: Stopped }> {
  const ledger = await ifThere(open(ledgerFile, 'r'))
  if (!ledger) return { ledgerBytes: undefined, stopped: await mode.stop() }
  await makeLockFile(`${ledgerFile}.turn`)
  const turn = await takeTurn(`${ledgerFile}.turn`, () => {})
  try {
    return { ledgerBytes: (await ledger.stat()).size, stopped: await mode.stop() }
  } finally {
    turn.release()
    await ledger.close()
  }
}
