/** The content with which every test database starts. */

import { queueNames } from '../../src/core/app/jobs.ts'
import type { DatabaseAddress } from '../../src/core/kernel/database/address.ts'
import { migrate } from '../../src/core/kernel/database/migrate.ts'

export async function fillTemplate(owner: DatabaseAddress, daemon: DatabaseAddress): Promise<void> {
  await migrate(owner, daemon, queueNames)
}
