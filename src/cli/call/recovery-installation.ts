/**
 * The installation, opened directly on its database for `svc recovery …`, as the operating
 * system's user, who is what the journal then names. A daemon may serve meanwhile: beginning
 * a recovery is what stops it from admitting workspaces, and everything that changes more
 * wants the gate closed. Spec: decisions 6; T-44.
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
    summary: "Another host's ledger, or a copy; may be given several times.",
    multiple: true,
    helpValue: 'FILE',
  }),
}

/** Runs work on the installation of this configuration, and closes it whatever happens. Fails (usage) where there is none. */
export async function withInstallation<T>(
  note: (line: string) => void,
  work: (installation: Installation, actor: RecoveryActor) => Promise<T>,
): Promise<T> {
  const config = readConfig()
  if (!config.database && !hasEmbedded(config))
    throw new Failure(
      'usage',
      `There is no database in ${config.dataDir}, and SVC_DATABASE_URL is not set.`,
      'Set what the daemon is started with.',
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

/** Fails (conflict) unless the gate is closed and the recovery point known; answers that point. */
export async function demandBegun(installation: Installation): Promise<string> {
  const { lookAtGate } = await import('../../core/areas/recovery/gate.ts')
  const { gated_at, recovery_point } = await lookAtGate(installation)
  if (gated_at !== null && recovery_point !== null) return recovery_point
  throw new Failure(
    'conflict',
    gated_at === null ? 'The gate is open.' : 'Nobody has said to which moment was recovered.',
    'Begin with: svc recovery begin --recovery-point MOMENT',
  )
}
