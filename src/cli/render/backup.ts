/** One backup, for people. */
import type { Backup } from '../../core/contract/backup/backups.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'

/** `HASHES 2027-03-01 02:00: good` */
const verifiedLine = ({ depth, at, failure }: Backup['verified'][number]) =>
  `${depth} ${moment(at)}: ${failure ?? 'good'}`

export const backupDetails = (backup: Backup) => {
  const last = backup.verified.at(-1)
  return details([
    ['id', backup.id],
    ['workspace', backup.tenant_id],
    ['target', backup.target_id],
    ['path', backup.path],
    ['state', backup.state],
    ['failure', backup.failure],
    ['of', backup.snapshot_at && moment(backup.snapshot_at)],
    ['rows', backup.rows === null ? null : String(backup.rows)],
    ['bytes', backup.size_bytes === null ? null : String(backup.size_bytes)],
    ['readable by', backup.recipients.map(({ kind, id }) => `${kind} ${id}`).join(', ')],
    ['verified', last ? verifiedLine(last) : 'never'],
    ['kept by', backup.kept_by.join(', ')],
    ['kept until', backup.kept_until && moment(backup.kept_until)],
    ['made', moment(backup.created_at)],
    ['job', backup.job_id],
  ])
}
