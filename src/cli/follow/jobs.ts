/** Follows a job to its end. */
import { setTimeout as pause } from 'node:timers/promises'
import { type JobRef, jobOperations } from '../../core/contract/jobs/operations.ts'
import type { Caller } from '../call/caller.ts'
import { Failure } from '../failure.ts'
import { bar, withToldProgress } from '../render/progress.ts'
import { patiently } from './closed.ts'

const pollMs = 1000

/** Waits for the end of the job and returns it. Fails if the job failed. `tenantId`: the workspace whose job is done here where no daemon does it. */
export async function followJob(caller: Caller, queued: JobRef, tenantId?: string): Promise<JobRef> {
  const { job_id: jobId } = queued
  const ended = await withToldProgress(progressLine(queued), async (tell) => {
    let job = queued
    // At the database there may be no daemon to run the job. The row says if it failed.
    const worked = tenantId === undefined ? undefined : caller.work?.(tenantId, jobId).catch(() => {})
    let isWorking = worked !== undefined
    void worked?.then(() => {
      isWorking = false
    })
    while (job.state === 'QUEUED' || job.state === 'RUNNING') {
      await Promise.race(isWorking ? [pause(pollMs), worked] : [pause(pollMs)])
      job = await patiently(() => caller.call(jobOperations.getJob, { jobId }))
      tell(progressLine(job))
    }
    return job
  })
  if (ended.state === 'FAILED')
    throw new Failure(
      isFound(ended.failure) ? 'findings' : 'failed',
      `The job ${jobId} failed (${ended.failure}).`,
      remedyOf(ended.failure ?? ''),
    )
  return ended
}

/** Whether a job did what it was asked for, and found something. */
const isFound = (failure: string | null) => failure?.startsWith('archive.') === true

/** Jobs whose end counts bytes. */
const inBytes: readonly JobRef['kind'][] = ['TENANT_EXPORT', 'BACKUP', 'BACKUP_VERIFY']

/** `Reading  [####----------------]  20 %  2000 of 10000 rows` */
export function progressLine({ kind, progress }: Pick<JobRef, 'kind' | 'progress'>): string {
  const { phase, done, total } = progress
  const isInBytes = phase === 'SENDING' || phase === 'READING_BACK' || (phase === 'DONE' && inBytes.includes(kind))
  const unit = isInBytes ? 'bytes' : 'rows'
  const share = bar(Number(done), total === null ? null : Number(total))
  const counts = total === null ? '' : `${done} of ${total} ${unit}`
  const word = {
    WAITING: 'Waiting for a worker',
    READING: 'Reading',
    SENDING: 'Sending',
    READING_BACK: 'Reading back',
    WORKING: 'Working',
    DONE: 'Done',
  }[phase]
  return [word, ...(phase === 'WAITING' ? [] : [share, counts])].filter((part) => part !== '').join('  ')
}

/** By how a failure begins; the first that fits counts. */
const remedies: readonly (readonly [start: string, remedy: string])[] = [
  ['target.', '`svc backup-targets test` shows the step that fails; docs/runbooks/backup-targets.md says what to do.'],
  ['spool.full', 'The disk of the data folder is full. An export needs space for one compressed archive there.'],
  [
    'archive.no_key',
    'No key of this keyring reads the archive. `svc restores create` takes the age identity of a recipient with --identity-file; docs/runbooks/keyring.md says how a key is brought back.',
  ],
  [
    'archive.',
    'The backup cannot be trusted. `svc backups list` shows the others; docs/runbooks/backups.md says what to do.',
  ],
  [
    'media.damaged',
    "Files of the workspace are missing or damaged; the daemon's log names them. docs/runbooks/backup-targets.md says what to do.",
  ],
]

const remedyOf = (failure: string) =>
  remedies.find(([start]) => failure.startsWith(start))?.[1] ?? "See the daemon's log for the cause."
