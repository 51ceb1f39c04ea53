/**
 * A worker that only reseals, in its own process that a failpoint can kill: it runs what is queued
 * and prints that it is done. The configuration comes from the environment.
 */

import { bootInstallation } from '../../src/core/app/boot.ts'
import { resealUntil } from '../../src/core/areas/keyring/reseal.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'

const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc reseal runner' })
process.stdout.write('at work ')
await resealUntil(booted.installation, Number.POSITIVE_INFINITY)
await booted.close()
process.stdout.write('done')
