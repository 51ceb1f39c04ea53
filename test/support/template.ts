/** What every test database starts with. */
import type { DatabaseAddress } from '../../src/core/database/address.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { queueNames } from '../../src/core/jobs.ts'

export async function fillTemplate(owner: DatabaseAddress, daemon: DatabaseAddress): Promise<void> {
  await migrate(owner, daemon, queueNames)
}
