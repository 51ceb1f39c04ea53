/**
 * Classes of advisory locks: the first of a lock's two keys. The whole database shares these
 * numbers, and some are read from pg_locks (daemon-keyrings.ts). So each number has one meaning
 * and is declared only here. The code that takes a lock says what it protects.
 */
export const lockClasses = {
  workspace: 7301,
  signInAddress: 7302,
  serving: 7303,
  gate: 7304,
  runningDaemon: 7305,
  knownKey: 7306,
  sealingKey: 7307,
  siblings: 7308,
  places: 7309,
  memberships: 7310,
  buckets: 7311,
  labels: 7312,
  customFields: 7313,
  webhook: 7314,
  quota: 7315,
  sweep: 7316,
  audience: 7317,
  clock: 7318,
  views: 7322,
  templates: 7329,
  searchIndex: 7326,
  broadQueries: 7327,
  trees: 7340,
  autoAssign: 7341,
  backups: 7370,
  addresses: 7375,
  notifications: 7383,
  backupSchedules: 7385,
  ownProviders: 7380,
  consents: 7440,
} as const
