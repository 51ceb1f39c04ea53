/**
 * The installation, opened directly on its database for `svc recovery …`. The actor is the
 * user of the operating system, and the journal names that user. A daemon may serve at the
 * same time: `recovery begin` makes it refuse workspaces, and every later step that changes
 * data needs the closed gate. Spec: decisions 6; T-44.
 */
import { Flags } from '@oclif/core'
import { readConfig } from '../../core/kernel/config/config.ts'
import type { Installation } from '../../core/kernel/transaction/installation.ts'
import { type RecoveryActor, recoveryActor } from '../../core/kernel/values/actor.ts'
import { Failure } from '../failure.ts'
import { onInterruption } from '../interruption.ts'
import { hasEmbedded } from './database.ts'

export const ledgerFlag = {
  ledger: Flags.string({
    summary: 'The ledger of another host, or a copy of it; may be given several times.',
    multiple: true,
    helpValue: 'FILE',
  }),
}

/** Runs work on the installation of this configuration, and always closes it. Fails (usage) if there is no installation. */
export async function withInstallation<T>(
  note: (line: string) => void,
  work: (installation: Installation, actor: RecoveryActor) => Promise<T>,
): Promise<T> {
  const config = readConfig()
  if (!config.database && !hasEmbedded(config))
    throw new Failure(
      'usage',
      `There is no database in ${config.dataDir}, and SVC_DATABASE_URL is not set.`,
      'Run the command with the same environment as the daemon.',
    )
  const { bootInstallation } = await import('../../core/app/boot.ts')
  const booted = await bootInstallation(config, { works: false, applicationName: 'svc recovery', note })
  const stopHeeding = onInterruption(() => booted.close())
  try {
    return await work(booted.installation, recoveryActor())
  } finally {
    stopHeeding()
    await booted.close()
  }
}

/** The recovery point. Fails (conflict) unless the gate is closed and the recovery point is known. */
export async function demandBegun(installation: Installation): Promise<string> {
  const { lookAtGate } = await import('../../core/areas/recovery/gate.ts')
  const { gated_at, recovery_point } = await lookAtGate(installation)
  if (gated_at !== null && recovery_point !== null) return recovery_point
  throw new Failure(
    'conflict',
    gated_at === null ? 'The gate is open.' : 'The recovery point is not known yet.',
    'Run: svc recovery begin --recovery-point MOMENT',
  )
}
