/** Migrates a database as `svc db migrate` does, for tests that kill it: `node migration-runner.ts OWNER_URL DAEMON_URL`. */
import { addressOf } from '../../src/core/database/address.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { queueNames } from '../../src/core/jobs.ts'

const [owner = '', daemon = ''] = process.argv.slice(2)
process.stdout.write('begins\n')
await migrate(addressOf(owner), addressOf(daemon), queueNames)
process.stdout.write('done\n')
