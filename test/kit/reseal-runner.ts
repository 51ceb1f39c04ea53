/**
 * A worker reduced to resealing, as a process of its own that a failpoint can kill: it works
 * off what is queued and says so. The configuration is the environment's.
 */

import { bootInstallation } from '../../src/core/app/boot.ts'
import { resealUntil } from '../../src/core/areas/keyring/reseal.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'

const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc reseal runner' })
process.stdout.write('at work ')
await resealUntil(booted.installation, Number.POSITIVE_INFINITY)
await booted.close()
process.stdout.write('done')
