/** Refusals of backup targets and of archives; part of the one table (problem.ts). */
export const backupProblems = {
  'backup.target_failed': {
    status: 503,
    params: ['reason'],
    says: 'The backup target cannot be used ({reason}).',
    remedy: '`svc backup-targets test ID` shows what fails; docs/runbooks/backup-targets.md says what to do.',
  },
  'archive.path_refused': {
    status: 422,
    says: 'The path is not that of an archive at this target.',
    remedy: 'Use a path from `svc backup-targets backups ID`.',
  },
  'archive.invalid': {
    status: 422,
    params: ['reason'],
    says: 'The archive is damaged, belongs to another workspace, or has a format that this release cannot read ({reason}).',
    remedy:
      'Nothing was changed. Use another archive. If you know its origin, `svc restores create` takes one that is `unsigned` with --accept-foreign, and one of a lost key (`no_key`) with --identity-file.',
  },
  'backup.kept': {
    status: 409,
    params: ['reason'],
    says: 'The backup stays ({reason}): a legal hold is in force, or it is the newest good one of its workspace.',
    remedy: 'Make another backup first: `svc backups create`.',
  },
  'backup.no_scratch': {
    status: 409,
    says: 'There is no database in which a backup can be restored for a try.',
    remedy: 'Set SVC_SCRATCH_URL, or SVC_DATABASE_OWNER_URL, for the daemon and its workers. HASHES needs none.',
  },
  'backup.state': {
    status: 409,
    params: ['state'],
    says: 'The backup is {state}.',
    remedy: '`svc backups show ID` says how far it is.',
  },
  'restore.underway': {
    status: 409,
    params: ['restore_id'],
    says: 'A restore of this workspace is under way ({restore_id}).',
    remedy: '`svc restores show ID` says how far it is. There is one at a time.',
  },
  'restore.state': {
    status: 409,
    params: ['state'],
    says: 'The restore is {state}.',
    remedy: '`svc restores show ID` says what it can do now.',
  },
  'restore.workspace_present': {
    status: 409,
    says: 'The workspace is there.',
    remedy: 'A workspace that is there is rewound: `svc tenants rewind SLUG --to MOMENT --plan`.',
  },
  'restore.purged': {
    status: 409,
    says: 'The workspace was purged, and does not come back as itself.',
    remedy: 'Restore it as a new workspace: `svc restores create --new SLUG`.',
  },
  'workspace.restoring': {
    status: 503,
    says: 'The workspace is closed for some seconds, while it is restored.',
    remedy: 'Wait as long as Retry-After says.',
  },
} as const
