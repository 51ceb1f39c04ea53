/**
 * A worker that runs one purge, in its own process that a failpoint can kill: it sees the deadline
 * twice, on its own clock, continues the purge until there is nothing more to do, and prints the
 * outcome. The configuration comes from the environment.
 */

import { bootInstallation } from '../../src/core/app/boot.ts'
import { pursuePurge } from '../../src/core/areas/tenants/purge/purge.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'

let seconds = 0
const clock = { now: () => Date.now(), monotonicSeconds: () => seconds }
const booted = await bootInstallation(readConfig(), { works: false, applicationName: 'svc purge runner', clock })
let outcome = await pursuePurge(booted.installation, process.argv[2]!)
while (outcome === 'settling' || outcome === 'more') {
  seconds += 3600
  outcome = await pursuePurge(booted.installation, process.argv[2]!)
}
await booted.close()
process.stdout.write(outcome)
