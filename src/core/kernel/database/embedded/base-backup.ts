/**
 * Base backups of an embedded cluster, and recovery to a point in time, without pg_basebackup:
 * the package has only the server's own programs.
 *
 * A copy is complete only with its label, which is written last. Elsewhere: what a copy needs (backup-mode.ts).
 */
import { chown, copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Account, accountOfCluster } from './account.ts'
import { emptied, inBackupMode, leftOut } from './backup-mode.ts'
import { type ClusterRecord, clusterOf, draftRecord, findRecord, makePrivate, saveRecord } from './places.ts'
import { findFreePort } from './port.ts'

/** Copies the running cluster of a data folder to a folder that is not there yet. */
export const takeBaseBackup = (dataDir: string, to: string): Promise<void> =>
  inBackupMode(dataDir, async ({ cluster, account, stop }) => {
    await copyTree(cluster, to, account)
    const { label, tablespaces, log } = await stop()
    for (const name of log) await copyOwned(join(cluster, 'pg_wal', name), join(to, 'pg_wal', name), account)
    await writeOwned(join(to, 'backup_label'), label, account)
    if (tablespaces) await writeOwned(join(to, 'tablespace_map'), tablespaces, account)
  })

/** Makes a data folder with a copy of another folder's running database. Does not start it. */
export async function cloneDatabase(fromDataDir: string, toDataDir: string): Promise<ClusterRecord> {
  const source = await findRecord(fromDataDir)
  if (!source) throw new Error(`there is no database in ${fromDataDir}`)
  const account = await accountOfCluster(clusterOf(source))
  await mkdir(toDataDir, { recursive: true, mode: account ? 0o711 : 0o700 })
  const record = { ...(await draftRecord(toDataDir, account, await findFreePort())), passwords: source.passwords }
  await takeBaseBackup(fromDataDir, clusterOf(record))
  await saveRecord(toDataDir, { ...record, created: true })
  return record
}

export interface Target {
  /** Folder of archived segments. */
  readonly archive: string
  /** What is committed before this moment is recovered, and nothing after it. */
  readonly time: string
}

/** Replaces a stopped cluster with a base backup. When it starts, it recovers to the given moment. */
export async function rewindTo(record: ClusterRecord, backup: string, { archive, time }: Target): Promise<void> {
  const cluster = clusterOf(record)
  const account = await accountOfCluster(cluster)
  await rm(cluster, { recursive: true })
  await copyTree(backup, cluster, account, new Set())
  const settings = {
    restore_command: `cp "${archive}/%f" "%p"`,
    // Without Z: the server reads this before it knows abbreviations of time zones.
    recovery_target_time: time.replace(/Z$/, '+00'),
    recovery_target_inclusive: 'off',
    recovery_target_action: 'promote',
  }
  // Valid for one start: the next start finds no signal file and ignores these settings.
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`)
  await writeOwned(join(cluster, 'postgresql.auto.conf'), lines.join(''), account)
  await writeOwned(join(cluster, 'recovery.signal'), '', account)
}

/** A folder the server may archive into, and the settings that make it do so. */
export async function prepareArchive(
  record: ClusterRecord,
): Promise<{ archive: string; settings: Record<string, string> }> {
  const archive = join(record.home, 'archive')
  await makePrivate(archive, await accountOfCluster(clusterOf(record)))
  return {
    archive,
    settings: {
      archive_mode: 'on',
      // Copied under another name first, so that every segment in the archive is complete.
      archive_command: `cp "%p" "${archive}/%f.partial" && mv "${archive}/%f.partial" "${archive}/%f"`,
    },
  }
}

async function copyTree(from: string, to: string, account: Account | undefined, empty = emptied): Promise<void> {
  await makePrivate(to, account)
  const entries = await readdir(from, { withFileTypes: true }).catch(unlessGone)
  for (const entry of entries ?? []) {
    if (leftOut.test(entry.name) && empty.size > 0) continue
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory() && empty.has(entry.name)) await makePrivate(target, account)
    else if (entry.isDirectory()) await copyTree(source, target, account, empty)
    else if (entry.isFile()) await copyOwned(source, target, account)
  }
}

async function copyOwned(from: string, to: string, account: Account | undefined): Promise<void> {
  const isCopied = await copyFile(from, to).then(() => true, unlessGone)
  if (isCopied && account) await chown(to, account.uid, account.gid)
}

async function writeOwned(path: string, text: string, account: Account | undefined): Promise<void> {
  await writeFile(path, text, { mode: 0o600 })
  if (account) await chown(path, account.uid, account.gid)
}

function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'EISDIR') throw error
}
