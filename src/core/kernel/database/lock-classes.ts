/**
 * Classes of advisory locks: the first of a lock's two keys. They are one space for the whole
 * database, and some are read back from pg_locks (daemon-keyrings.ts), so each number stands for one
 * thing and is given out here alone. What a class guards is said where it is taken.
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
} as const
