/** Migrates a database as `svc db migrate` does, for tests that kill it: `node migration-runner.ts OWNER_URL DAEMON_URL`. */

import { queueNames } from '../../src/core/app/jobs.ts'
import { addressOf } from '../../src/core/kernel/database/address.ts'
import { migrate } from '../../src/core/kernel/database/migrate.ts'

const [owner = '', daemon = ''] = process.argv.slice(2)
process.stdout.write('begins\n')
await migrate(addressOf(owner), addressOf(daemon), queueNames)
process.stdout.write('done\n')
