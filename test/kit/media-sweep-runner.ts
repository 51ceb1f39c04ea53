/** Sweeps the files of one workspace, in its own process that a failpoint can kill. The configuration comes from the environment. */
import { bootInstallation } from '../../src/core/app/boot.ts'
import { sweepWorkspace } from '../../src/core/areas/media/sweep.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'

const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc media runner' })
await sweepWorkspace(booted.installation, process.argv[2]!, new Date())
await booted.close()
