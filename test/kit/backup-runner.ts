/**
 * A worker that makes, verifies, restores or removes backups of one workspace, in its own process that a failpoint can kill. The
 * configuration comes from the environment, the workspace and the job from the command line.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { removeBackupsJob } from '../../src/core/areas/backup/backups/removal.ts'
import { awaitedJobs } from '../../src/core/areas/backup/jobs.ts'
import { runSchedulesJob } from '../../src/core/areas/backup/schedules/job.ts'
import { restoreJob } from '../../src/core/areas/restores/restore-job.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'

const [tenantId = '', jobId = ''] = process.argv.slice(2)
/** A worker sees the clocks twice, with time between, and what it marks goes with its next run. */
const minutes = 3
const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc backup runner' })
process.stdout.write('at work ')
if (tenantId === 'schedules') await runSchedulesJob.run(booted.installation, {})
else if (tenantId === 'removals')
  for (let minute = 0; minute < minutes; minute += 1) {
    await removeBackupsJob.run(booted.installation, {})
    await pause(1_100)
  }
else if (jobId === '') await removeBackupsJob.run(booted.installation, {})
else for (const job of [...awaitedJobs, restoreJob]) await job.run(booted.installation, { tenantId, jobId })
await booted.close()
process.stdout.write('done')
