/** The rules of this area, by operation. */
import type { backupOperations } from '../../contract/backup/operations.ts'
import { type HandlersOf, withWork } from '../../kernel/request/handler.ts'
import { listBackups, readBackups } from './listing.ts'
import { probeTarget, testBackupTarget } from './probe.ts'
import { createBackupTarget, deleteBackupTarget, listBackupTargets, vetNewTarget } from './target.ts'

export const backupHandlers = {
  listBackupTargets,
  createBackupTarget: withWork(vetNewTarget, createBackupTarget),
  deleteBackupTarget,
  testBackupTarget: withWork(probeTarget, testBackupTarget),
  listBackups: withWork(readBackups, listBackups),
} satisfies HandlersOf<typeof backupOperations>
