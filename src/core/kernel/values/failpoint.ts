/**
 * Failpoints: places where a test ends the process, like a power cut.
 *
 *    SVC_TEST=1 SVC_FAILPOINTS="purge.batch=exit@3;purge.due=exit"    at the third hit; at the first
 *
 * config.ts refuses the variable without SVC_TEST=1. Spec: design of the fault campaigns.
 */

/**
 * All failpoints, in the order in which the work reaches them. A campaign counts that the process was killed at each.
 */
export const failpoints = [
  'purge.observed',
  'purge.due',
  'purge.start_locked',
  'purge.start_marked',
  'purge.started',
  'purge.batch_locked',
  'purge.batch_removed',
  'purge.batch_recorded',
  'purge.batch',
  'purge.tables_empty',
  'purge.media_removed',
  'purge.jobs_removed',
  'purge.finish_locked',
  'purge.certified',
  'purge.tenant_removed',
  'purge.finished',
  'erasure.due',
  'erasure.begun',
  'erasure.batch',
  'erasure.settled',
  'erasure.listed',
  'package.claimed',
  'package.stored',
  'reseal.read',
  'reseal.rewrapped',
  'reseal.recorded',
  'trash.marked',
  'trash.portion',
  'trash.removed',
  'bulk.done',
  'bulk.portion',
  'search.pending',
  'search.portion',
  'search.serving',
  'search.retired',
  'invite.written',
  'invite.recorded',
  'invite.roles',
  'invite.queued',
  'managed.written',
  'managed.recorded',
  'managed.roles',
  'address.settled',
  'address.worded',
  'address.told',
  'link.flow_spent',
  'link.redeemed',
  'link.spent',
  'link.connected',
  'link.told',
  'notify.taken',
  'notify.told',
  'notify.mailed',
  'media.claimed',
  'media.written',
  'media.recorded',
  'media.synced',
  'media.renamed',
  'media.ended',
  'media.examined',
  'media.swept',
  'media.bytes_removed',
  'archive.read',
  'export.media_sent',
  'archive.sent',
  'archive.whole',
  'backup.removed',
  'restore.ready',
  'restore.closed',
  'restore.aside',
  'restore.batch',
  'restore.back',
  'restore.removed',
  'restore.written',
  'schedule.marked',
  'schedule.begun',
  'schedule.spread',
  'schedule.started',
  'keeping.marked',
  'keeping.applied',
  'departed.removed',
  'departed.recorded',
  'sweep.removed',
  'write.written',
  'write.synced',
  'write.renamed',
] as const

const armed = new Map(
  (process.env['SVC_TEST'] === '1' ? (process.env['SVC_FAILPOINTS'] ?? '') : '')
    .split(';')
    .map((text) => /^([a-z._]+)=exit(?:@([0-9]+))?$/.exec(text.trim()))
    .flatMap((found) => (found ? [[found[1], Number(found[2] ?? 1)] as const] : [])),
)

/** Kills the process if a test armed this failpoint and this is the hit that it named. */
export function failpoint(name: (typeof failpoints)[number]): void {
  const left = armed.get(name)
  if (left === undefined) return
  armed.set(name, left - 1)
  if (left === 1) process.kill(process.pid, 'SIGKILL')
}
