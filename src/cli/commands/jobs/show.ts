import { Args } from '@oclif/core'
import { jobOperations } from '../../../core/contract/jobs/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { progressLine } from '../../follow/jobs.ts'
import { details } from '../../render/details.ts'
import { moment } from '../../render/moment.ts'

export default class JobsShow extends CallerCommand {
  static override summary = 'Show the state and the progress of a job'
  static override examples = ['<%= config.bin %> jobs show 0190c9d2-7a3b-7cde-8f01-23456789abcd']
  static override args = { job: Args.string({ ignoreStdin: true, required: true, description: "the job's id" }) }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(JobsShow)
    const caller = await this.open(flags)
    const job = await caller.call(jobOperations.getJob, { jobId: args.job })
    this.log(
      details([
        ['job', job.job_id],
        ['kind', job.kind],
        ['state', job.state],
        ['progress', progressLine(job)],
        ['queued', moment(job.queued_at)],
        ['started', moment(job.started_at)],
        ['finished', moment(job.finished_at)],
        ['failure', job.failure],
        ['target', job.result?.target_id ?? null],
        ['archive', job.result?.path ?? null],
        ['purged', job.result?.purged ?? null],
      ]),
    )
    return job
  }
}
