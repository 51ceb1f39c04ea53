/** What every test database starts with. */
import type { DatabaseAddress } from '../../src/core/database/address.ts'
// import { migrate } from '../../src/core/database/migrate.ts'

export async function fillTemplate(_owner: DatabaseAddress, _daemon: DatabaseAddress): Promise<void> {
  // await migrate(_owner, _daemon)
}
