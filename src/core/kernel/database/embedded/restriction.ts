/**
 * Runs as superuser whenever the embedded server starts: revokes the functions that PostgreSQL
 * grants to every login, and resets the password and the settings that the daemon's login may
 * have changed for itself.
 */
import type { DatabaseAddress } from '../address.ts'
import { withClient } from '../client.ts'
import { revokeFromEverybody } from '../rights.ts'

/** `password` is the login's own, of letters and digits. */
export const restrictLogin = (superuser: DatabaseAddress, password: string): Promise<void> =>
  withClient(superuser, async (client) => {
    await client.query(`
      ${revokeFromEverybody};
      alter role svc_daemon reset all;
      alter role svc_daemon in database svc reset all;
      alter role svc_daemon password '${password}'`)
  })
