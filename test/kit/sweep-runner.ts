/** Sweeps what has expired, in its own process that a failpoint can kill. The configuration comes from the environment. */
import { bootInstallation } from '../../src/core/app/boot.ts'
import { sweepExpired } from '../../src/core/areas/auth/sign-in/jobs.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'

const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc sweep runner' })
process.stdout.write('at work ')
await sweepExpired.run(booted.installation, {})
await booted.close()
process.stdout.write('done')
