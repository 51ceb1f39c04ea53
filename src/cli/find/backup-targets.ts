/** Backup targets by the name people give: the name they were added under, or the id. */
import { type BackupTarget, backupOperations } from '../../core/contract/backup/operations.ts'
import { Problem } from '../../core/contract/problem.ts'
import type { Caller } from '../call/caller.ts'
import { Failure } from '../failure.ts'

/** The target of that id or name. Refuses not_found; fails (usage) where several have the name. */
export async function findTarget(caller: Caller, name: string): Promise<BackupTarget> {
  const { data } = await caller.call(backupOperations.listBackupTargets, {})
  const found = data.filter((target) => target.id === name.toLowerCase() || target.name === name)
  if (found.length > 1) throw new Failure('usage', `There are ${found.length} targets named "${name}".`, 'Name its id.')
  return found[0] ?? missing()
}

function missing(): never {
  throw new Problem('not_found')
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
