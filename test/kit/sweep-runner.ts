/**
 * Sweeps what has expired as the job does, in its own process that a failpoint can kill. It does not rest: nobody else uses the
 * database. The configuration comes from the environment.
 */
import { bootInstallation } from '../../src/core/app/boot.ts'
import { sweepExpired } from '../../src/core/areas/auth/sign-in/jobs.ts'
import { sweeps } from '../../src/core/areas/auth/sign-in/sweeps.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'
import { sweep } from '../../src/core/kernel/transaction/sweep.ts'

const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc sweep runner' })
process.stdout.write('at work ')
await sweep(booted.installation, { kind: 'SYSTEM', job: sweepExpired.name }, sweeps, 0)
await booted.close()
process.stdout.write('done')
