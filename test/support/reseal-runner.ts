/**
 * A worker reduced to resealing, as a process of its own that a failpoint can kill: it works
 * off what is queued and says so. The configuration is the environment's.
 */
import { resealUntil } from '../../src/core/admin/encryption/reseal.ts'
import { bootInstallation } from '../../src/core/boot.ts'
import { readConfig } from '../../src/core/config.ts'

const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc reseal runner' })
process.stdout.write('at work ')
await resealUntil(booted.installation, Number.POSITIVE_INFINITY)
await booted.close()
process.stdout.write('done')
