/**
 * A worker that does one bulk job, in its own process that a failpoint can kill. The configuration comes from the environment,
 * the workspace and the job from the command line.
 */

import { bootInstallation } from '../../src/core/app/boot.ts'
import { bulkItemsJob } from '../../src/core/areas/items/bulk/job.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'

const [tenantId = '', jobId = ''] = process.argv.slice(2)
const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc bulk runner' })
process.stdout.write('at work ')
await bulkItemsJob.run(booted.installation, { tenantId, jobId })
await booted.close()
process.stdout.write('done')
