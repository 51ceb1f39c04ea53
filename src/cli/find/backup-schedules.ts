/** Schedules of backups by the name people gave them, or the id. */
import { type BackupSchedule, backupScheduleOperations } from '../../core/contract/backup/schedules.ts'
import type { Caller } from '../call/caller.ts'
import { pick } from './pick.ts'

/** The schedule of that id or name. Refuses not_found; fails (usage) where several have the name. */
export async function findSchedule(caller: Caller, name: string): Promise<BackupSchedule> {
  const { data } = await caller.call(backupScheduleOperations.listBackupSchedules, {})
  return pick(data, name, { by: (schedule) => schedule.name, called: 'schedules' })
}
