/** Tells everything that waits, in its own process that a failpoint can kill. The configuration comes from the environment. */
import { bootInstallation } from '../../src/core/app/boot.ts'
import { tellAll } from '../../src/core/areas/notifications/notifier.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'

const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc notify runner' })
process.stdout.write('at work ')
await tellAll(booted.installation)
await booted.close()
process.stdout.write('done')
