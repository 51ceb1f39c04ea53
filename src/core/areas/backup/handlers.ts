/** The rules of this area, by operation. */
import type { workspaceBackupOperations } from '../../contract/backup/backups.ts'
import type { backupOperations } from '../../contract/backup/operations.ts'
import type { backupScheduleOperations } from '../../contract/backup/schedules.ts'
import { type HandlersOf, withWork } from '../../kernel/request/handler.ts'
import { createBackup, vetRecipients } from './backups/creation.ts'
import { getBackup, listBackups } from './backups/list.ts'
import { removeBackup } from './backups/removal.ts'
import { verifyBackup, vetVerification } from './backups/verification.ts'
import { listArchives, readArchives } from './listing.ts'
import { probeTarget, testBackupTarget } from './probe.ts'
import {
  changeBackupSchedule,
  createBackupSchedule,
  deleteBackupSchedule,
  listBackupSchedules,
  vetSchedule,
} from './schedules/desk.ts'
import { createBackupTarget, deleteBackupTarget, listBackupTargets, vetNewTarget } from './target.ts'

export const backupHandlers = {
  listBackupTargets,
  createBackupTarget: withWork(vetNewTarget, createBackupTarget),
  deleteBackupTarget,
  testBackupTarget: withWork(probeTarget, testBackupTarget),
  listArchives: withWork(readArchives, listArchives),
  listBackups,
  createBackup: withWork(vetRecipients, createBackup),
  getBackup,
  removeBackup,
  verifyBackup: withWork(vetVerification, verifyBackup),
  listBackupSchedules,
  createBackupSchedule: withWork(vetSchedule, createBackupSchedule),
  changeBackupSchedule: withWork(vetSchedule, changeBackupSchedule),
  deleteBackupSchedule,
} satisfies HandlersOf<typeof backupOperations & typeof workspaceBackupOperations & typeof backupScheduleOperations>
