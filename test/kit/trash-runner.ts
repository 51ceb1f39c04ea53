/**
 * A worker that empties the trash of one workspace and removes what was purged, in its own process that a failpoint can
 * kill. The configuration comes from the environment, the workspace and the job from the command line.
 */

import { bootInstallation } from '../../src/core/app/boot.ts'
import { emptyTrashJob } from '../../src/core/areas/items/trash/emptying.ts'
import { removePurged } from '../../src/core/areas/items/trash/removal.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'

const [tenantId = '', jobId = ''] = process.argv.slice(2)
const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc trash runner' })
process.stdout.write('at work ')
await emptyTrashJob.run(booted.installation, { tenantId, jobId })
await removePurged.run(booted.installation, { tenantId })
await booted.close()
process.stdout.write('done')
