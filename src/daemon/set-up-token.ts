/**
 * The set-up token goes to a file of mode 0600, not to standard output, which a service manager keeps in its journal.
 * Docs: docs/decisions/0251.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../core/kernel/config/config.ts'
import { writeWhole } from '../core/kernel/values/write-whole.ts'
import type { Log } from './log.ts'

/**
 * Writes the token, and returns the path; undefined without a token, or if the operator chose it. A file of an earlier start
 * is removed once there is no token any more. A folder that cannot be written does not stop the daemon.
 */
export async function keepSetUpToken(
  { dataDir, setUpToken: chosen }: Config,
  token: string | undefined,
  log: Log,
): Promise<string | undefined> {
  const file = join(dataDir, 'set-up.token')
  try {
    if (token !== undefined && chosen === undefined) {
      await writeWhole(file, `${token}\n`)
      return file
    }
    await rm(file, { force: true })
  } catch (error) {
    log.failure('the file of the set-up token', error)
  }
  return undefined
}

/** What the person that started a daemon reads while nobody can sign in yet. */
export const setUpLine = (file: string) =>
  `set-up token in ${file} (on a host with the database, svc installation set-up needs none)`
