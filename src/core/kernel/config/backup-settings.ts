/** Where backups are, when they are made, and where they are tried. Spec: Keeping, 3. */
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { addressOf, type DatabaseAddress } from '../database/address.ts'
import { ConfigurationError } from '../values/configuration-error.ts'
import { wholeNumber } from './variable-kinds.ts'

export interface BackupSettings {
  /** Of LOCAL targets. */
  readonly backupDir: string
  /** Between two runs of a schedule. */
  readonly backupApartMinutes: number
  /** How long archives of a purged workspace stay at the targets of the installation. */
  readonly backupAfterPurgeDays: number
  /** How long a rewind can be undone. */
  readonly restoreUndoDays: number
  /** Where archives are loaded to be verified; undefined: the installation's own database, by its owner. */
  readonly scratch: DatabaseAddress | undefined
}

/** The part of the environment that is about backups (config.ts). */
export const backupVariables = {
  SVC_BACKUP_DIR: z
    .string()
    .min(1)
    .optional()
    .describe('Folder for LOCAL backup targets. Absent: backups in SVC_DATA_DIR'),
  SVC_BACKUP_APART_MINUTES: wholeNumber(60, 1440)
    .default(60)
    .describe('Shortest time between two runs of a schedule of backups, in minutes; counted as if it ran each day'),
  SVC_BACKUP_AFTER_PURGE_DAYS: wholeNumber(0, 3650)
    .default(30)
    .describe(
      "Time for which archives of a purged workspace stay at the installation's backup targets, in days; then its folder there is removed",
    ),
  SVC_RESTORE_UNDO_DAYS: wholeNumber(1, 90)
    .default(7)
    .describe('Time within which a rewind of a workspace can be undone, in days'),
  SVC_SCRATCH_URL: z
    .string()
    .optional()
    .describe(
      "A database that backups are loaded into to be verified, each in a schema of its own that goes when it is done. Absent: the installation's own database, with the owner's login",
    ),
}

export function backupSettingsOf(
  values: z.output<z.ZodObject<typeof backupVariables>>,
  dataDir: string,
): BackupSettings {
  const { SVC_BACKUP_DIR: dir, SVC_SCRATCH_URL: scratch } = values
  return {
    backupDir: dir ? resolve(dir) : join(dataDir, 'backups'),
    backupApartMinutes: values.SVC_BACKUP_APART_MINUTES,
    backupAfterPurgeDays: values.SVC_BACKUP_AFTER_PURGE_DAYS,
    restoreUndoDays: values.SVC_RESTORE_UNDO_DAYS,
    scratch: scratch ? scratchOf(scratch) : undefined,
  }
}

function scratchOf(url: string): DatabaseAddress {
  try {
    return addressOf(url, 'SVC_SCRATCH_URL')
  } catch (error) {
    throw new ConfigurationError(`The configuration is wrong. SVC_SCRATCH_URL: ${(error as Error).message}`)
  }
}
