/**
 * What only a superuser can take from the daemon's login, done whenever the embedded server starts:
 * the functions that PostgreSQL grants to everybody, and what the login may have changed of
 * itself, its password and its settings.
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
