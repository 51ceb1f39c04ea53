/**
 * A worker's minute of requests about personal data, in its own process that a failpoint can kill. The configuration comes from the
 * environment.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { runPrivacy } from '../../src/core/areas/privacy/jobs.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'

const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc privacy runner' })
// A worker sees the clocks twice, with time between.
for (let minute = 0; minute < 3; minute += 1) {
  await runPrivacy.run(booted.installation, {})
  await pause(1_100)
}
await booted.close()
process.stdout.write('done')
