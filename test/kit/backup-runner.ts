/**
 * A worker that makes, verifies or removes backups of one workspace, in its own process that a failpoint can kill. The
 * configuration comes from the environment, the workspace and the job from the command line.
 */
import { bootInstallation } from '../../src/core/app/boot.ts'
import { removeBackupsJob } from '../../src/core/areas/backup/backups/removal.ts'
import { awaitedJobs } from '../../src/core/areas/backup/jobs.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'

const [tenantId = '', jobId = ''] = process.argv.slice(2)
const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc backup runner' })
process.stdout.write('at work ')
if (jobId === '') await removeBackupsJob.run(booted.installation, {})
else for (const job of awaitedJobs) await job.run(booted.installation, { tenantId, jobId })
await booted.close()
process.stdout.write('done')
