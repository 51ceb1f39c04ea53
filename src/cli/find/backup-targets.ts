/** Backup targets by the name people give: the name they were added under, or the id. */
import { type BackupTarget, backupOperations } from '../../core/contract/backup/operations.ts'
import type { Caller } from '../call/caller.ts'
import { pick } from './pick.ts'

/** The target of that id or name. Refuses not_found; fails (usage) where several have the name. */
export async function findTarget(caller: Caller, name: string): Promise<BackupTarget> {
  const { data } = await caller.call(backupOperations.listBackupTargets, {})
  return pick(data, name, { by: (target) => target.name, called: 'targets' })
}

/** Where a target is, in a line: a path, a bucket or a host. */
export function whereOf({ kind, config }: BackupTarget): string {
  switch (kind) {
    case 'LOCAL':
      return config.path ?? ''
    case 'S3':
      return [config.endpoint, config.bucket, config.prefix].filter((part) => part !== undefined).join('/')
    case 'SFTP':
      return `${config.username}@${config.host}${config.port === undefined ? '' : `:${config.port}`}:${config.path}`
  }
}
