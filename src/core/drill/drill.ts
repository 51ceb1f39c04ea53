/**
 * The drill: a real point-in-time recovery, on a copy, from the base backup to the admission.
 *
 *    live ──base backup──▶ copy, archiving ──base backup──▶ … acts … ─T─ … acts … ──▶ stopped
 *    the copy's files replaced by its base backup ──log up to T──▶ promoted
 *    rewind found ─▶ begin ─▶ ledger lost, pulled from its target ─▶ reconcile, twice ─▶ check ─▶ admit ─▶ proofs
 *
 * The live database is only read. The copy has its own data folder, keyring file and backup target, which all outlive
 * the rewind as in a real recovery; the copy is removed at the end. The targets of the live installation are first
 * removed from the copy, so that nothing of a drill reaches them. The ledger does not outlive the rewind: everything is
 * done from its copy.
 *
 * Elsewhere: what is done around the point (drill-acts.ts). Ours: `svc recovery
 * drill`; F-06.
 */
import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { bootInstallation } from '../app/boot.ts'
import { type Admission, admitTraffic } from '../areas/recovery/admit.ts'
import { type Repeated, repeatSteps } from '../areas/recovery/apply.ts'
import { checkRecovery } from '../areas/recovery/check.ts'
import { closeGate } from '../areas/recovery/gate.ts'
import { type PulledLedger, pullLedgers } from '../areas/recovery/ledger/ledger-pull.ts'
import { readTargets } from '../areas/recovery/ledger/ledger-targets.ts'
import { planReconciliation, readLedgers } from '../areas/recovery/reconcile.ts'
import { detectRewind, recordHeartbeats } from '../areas/recovery/rewind-detection.ts'
import type { CheckCode } from '../contract/recovery-checks.ts'
import { installationScope } from '../contract/vocabulary.ts'
import type { Config } from '../kernel/config/config.ts'
import { withClient } from '../kernel/database/client.ts'
import { cloneDatabase, prepareArchive, rewindTo, takeBaseBackup } from '../kernel/database/embedded/base-backup.ts'
import type { ClusterRecord } from '../kernel/database/embedded/places.ts'
import { findSuperuser, holdEmbedded } from '../kernel/database/embedded.ts'
import type { Installation } from '../kernel/transaction/installation.ts'
import { recoveryActor } from '../kernel/values/actor.ts'
import { ConfigurationError } from '../kernel/values/configuration-error.ts'
import { actAfterPoint, actBeforePoint, type Claim, type Loss, type Played, proveRecovered } from './drill-acts.ts'

export interface DrillReport {
  readonly recovery_point: string
  /** Each part with how long it took, in milliseconds. */
  readonly steps: readonly { readonly name: string; readonly ms: number }[]
  readonly lost: readonly Loss[]
  /** What the reconciliation did again, and what a second one found to do. */
  readonly replaced: Readonly<Record<string, number>>
  readonly second_run: number
  readonly proved: readonly Claim[]
  readonly passed: boolean
  readonly took_ms: number
}

/** Findings that a copy of a healthy installation may have and that say nothing about the recovery. */
const ofTheLiveOne: readonly CheckCode[] = ['jobs', 'ledger', 'media', 'outbox', 'operators']

/** Settings for a copy that may lose everything in a power cut. */
const careless = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }

/** Runs the whole run-book on a copy of the embedded database of this configuration; the caller holds that database. */
export async function drill(config: Config, note: (line: string) => void): Promise<DrillReport> {
  if (config.database)
    throw new ConfigurationError(
      'A drill needs the embedded database. For one of your own, restore a copy of it and go through docs/runbooks/point-in-time-recovery.md.',
    )
  const work = await mkdtemp(join(config.dataDir, 'drill-'))
  if (process.getuid?.() === 0) await chmod(work, 0o711) // the server's user must be able to enter
  let home: string | undefined
  try {
    const host = join(work, 'host')
    const record = await cloneDatabase(config.dataDir, host)
    home = record.home
    await copyFile(config.keyringFile, join(work, 'keyring.json'))
    return await rehearse(
      {
        ...config,
        mode: 'multi',
        dataDir: host,
        keyringFile: join(work, 'keyring.json'),
        ledgerFile: join(work, 'ledger.jsonl'),
        ledgerCopy: 'require',
        backupDir: join(work, 'backups'),
        // The files of the live installation are neither copied nor touched.
        media: { ...config.media, dir: join(work, 'media'), bucket: undefined },
      },
      record,
      note,
    )
  } finally {
    await rm(work, { recursive: true, force: true })
    if (home) await rm(home, { recursive: true, force: true })
  }
}

async function rehearse(config: Config, record: ClusterRecord, note: (line: string) => void): Promise<DrillReport> {
  const began = performance.now()
  const steps: { name: string; ms: number }[] = []
  const timed = async <T>(name: string, step: () => Promise<T>): Promise<T> => {
    const from = performance.now()
    note(name)
    const result = await step()
    steps.push({ name, ms: Math.round(performance.now() - from) })
    return result
  }
  const { archive, settings } = await prepareArchive(record)
  const backup = join(record.home, 'base')

  const played = await timed('acts before and after the point', () => play(config, backup, settings))
  await timed('recovery to the point', async () => {
    await rewindTo(record, backup, { archive, time: played.point })
    const recovered = await holdEmbedded(config.dataDir, { settings: { ...careless, hot_standby: 'off' } })
    await recovered.release()
  })
  const outcome = await whileOpen(config, careless, async (installation) => recover(installation, played, timed))
  const { report, admission } = outcome
  return {
    ...report,
    steps,
    passed: admission.admitted && report.second_run === 0 && report.proved.every(({ holds }) => holds),
    took_ms: Math.round(performance.now() - began),
  }
}

/** Opens the copy with settings of its server, and stops both afterwards. */
async function whileOpen<T>(
  config: Config,
  settings: Readonly<Record<string, string>>,
  work: (installation: Installation) => Promise<T>,
): Promise<T> {
  const held = await holdEmbedded(config.dataDir, { settings })
  try {
    const booted = await bootInstallation(config, { works: false, applicationName: 'svc drill' })
    try {
      return await work(booted.installation)
    } finally {
      await booted.close()
    }
  } finally {
    await held.release()
  }
}

const play = (config: Config, backup: string, archiving: Readonly<Record<string, string>>): Promise<Played> =>
  whileOpen(config, { ...careless, ...archiving }, async (installation) => {
    await installation.transaction(
      recoveryActor(),
      {},
      ({ tx }) => tx`delete from backup_target where tenant_id = ${installationScope}`,
    )
    // Like a daemon that serves at the same time.
    await detectRewind(installation)
    const watch = await recordHeartbeats(installation, () => {})
    const stage = await actBeforePoint(installation, () => takeBaseBackup(config.dataDir, backup))
    const played = await actAfterPoint(installation, stage)
    await watch.close()
    await archiveEverything(config.dataDir)
    return played
  })

const archiveWaitMs = 20_000

/** Ends the segment in use and waits until it is in the archive. */
async function archiveEverything(dataDir: string): Promise<void> {
  const superuser = await findSuperuser(dataDir)
  if (!superuser) throw new Error('the copy has no superuser')
  await withClient({ ...superuser, database: 'postgres' }, async (client) => {
    const { rows } = await client.query<{ segment: string }>('select pg_walfile_name(pg_switch_wal()) as segment')
    for (const until = performance.now() + archiveWaitMs; performance.now() < until; ) {
      const { rows: found } = await client.query<{ is_there: boolean }>(
        'select last_archived_wal >= $1 as is_there from pg_stat_archiver',
        [rows[0]?.segment],
      )
      if (found[0]?.is_there) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error('the log was not archived in time')
  })
}

/** Deletes the host's ledger, and replaces it with the copy at its target. */
async function pullInstead(installation: Installation): Promise<readonly PulledLedger[]> {
  await rm(installation.ledger.file)
  const [target] = await installation.transaction(recoveryActor(), { readOnly: true }, readTargets)
  if (!target) throw new Error('the copy has lost its target')
  return pullLedgers(installation, target.open())
}

type Timed = <T>(name: string, step: () => Promise<T>) => Promise<T>

async function recover(installation: Installation, played: Played, timed: Timed) {
  const actor = recoveryActor()
  const { point } = played
  const rewind = await timed('rewind detection', () => detectRewind(installation))
  await timed('begin', () =>
    installation.transaction(actor, {}, (ctx) => closeGate(ctx, 'BEGUN', { recoveryPoint: point })),
  )
  const pulled = await timed('ledger from its copy', () => pullInstead(installation))
  const reconcile = async (): Promise<Repeated> => {
    const { desired } = await readLedgers(installation)
    const plan = await planReconciliation(installation, desired)
    return repeatSteps({ installation, actor, desired, recoveryPoint: point }, plan)
  }
  const first = await timed('reconcile', reconcile)
  const second = await timed('reconcile once more', reconcile)
  const checks = await timed('check', () => checkRecovery(installation))
  const findings = checks.filter(({ state }) => state === 'finding').map(({ code }) => code)
  const admission: Admission = await timed('admit', () =>
    admitTraffic(installation, actor, { accept: findings.filter((code) => ofTheLiveOne.includes(code)) }),
  )
  const proved = await timed('proofs', () => proveRecovered(installation, played, { rewind, pulled, admission }))
  const replaced: Record<string, number> = {}
  for (const { what } of first.done) replaced[what] = (replaced[what] ?? 0) + 1
  return {
    admission,
    report: { recovery_point: point, lost: played.lost, replaced, second_run: second.done.length, proved },
  }
}
