/**
 * An indexer in its own process that a failpoint can kill: it does everything there is to do and prints that it is done.
 * The configuration comes from the environment.
 */
import { bootInstallation } from '../../src/core/app/boot.ts'
import { indexAll } from '../../src/core/areas/search/indexer.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'

const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc index runner' })
process.stdout.write('at work ')
await indexAll(booted.installation)
await booted.close()
process.stdout.write('done')
