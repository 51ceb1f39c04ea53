/** Follows a job to its end. */
import { setTimeout as pause } from 'node:timers/promises'
import { type JobProgress, type JobRef, jobOperations } from '../../core/contract/jobs/operations.ts'
import type { Caller } from '../call/caller.ts'
import { Failure } from '../failure.ts'
import { bar, withToldProgress } from '../render/progress.ts'

const pollMs = 1000

/** Waits for the end of the job and returns it. Fails if the job failed. */
export async function followJob(caller: Caller, tenantId: string, queued: JobRef): Promise<JobRef> {
  const { job_id: jobId } = queued
  const ended = await withToldProgress(progressLine(queued.progress), async (tell) => {
    let job = queued
    // At the database there may be no daemon to run the job. The row says if it failed.
    let isWorking = caller.work !== undefined
    const worked = caller.work?.(tenantId, jobId).catch(() => {})
    void worked?.then(() => {
      isWorking = false
    })
    while (job.state === 'QUEUED' || job.state === 'RUNNING') {
      await Promise.race(isWorking ? [pause(pollMs), worked] : [pause(pollMs)])
      job = await caller.call(jobOperations.getJob, { jobId })
      tell(progressLine(job.progress))
    }
    return job
  })
  if (ended.state === 'FAILED')
    throw new Failure('failed', `The job ${jobId} failed (${ended.failure}).`, remedyOf(ended.failure ?? ''))
  return ended
}

/** `Reading  [####----------------]  20 %  2000 of 10000 rows` */
export function progressLine({ phase, done, total }: JobProgress): string {
  const unit = phase === 'READING' ? 'rows' : 'bytes'
  const share = bar(Number(done), total === null ? null : Number(total))
  const counts = total === null ? '' : `${done} of ${total} ${unit}`
  const word = { WAITING: 'Waiting for a worker', READING: 'Reading', SENDING: 'Sending', DONE: 'Done' }[phase]
  return [word, ...(phase === 'WAITING' ? [] : [share, counts])].filter((part) => part !== '').join('  ')
}

const remedyOf = (failure: string) =>
  failure.startsWith('target.')
    ? '`svc backup-targets test` shows the step that fails; docs/runbooks/backup-targets.md says what to do.'
    : failure === 'spool.full'
      ? 'The disk of the data folder is full. An export needs space for one compressed archive there.'
      : "See the daemon's log for the cause."
