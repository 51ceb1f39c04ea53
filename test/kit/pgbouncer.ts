/**
 * PgBouncer before the server of a test run, with the configuration that deploy/pgbouncer.ini ships: with
 * SVC_TEST_PGBOUNCER, the daemons and installations of all tests send their transactions through it. The variable is the
 * program's path, 1.21 or newer.
 */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseAddress } from '../../src/core/kernel/database/address.ts'
import { serverAccount } from '../../src/core/kernel/database/embedded/account.ts'
import { freePorts, runServer } from './outside-server.ts'

/** The program that the variable names; undefined: the tests go to the server directly. */
export const poolerProgram = process.env['SVC_TEST_PGBOUNCER']

export interface Pooler {
  /** Where the login finds any database of the server. */
  address(database: string): DatabaseAddress
  stop(): Promise<void>
}

const shipped = join(import.meta.dirname, '../../deploy/pgbouncer.ini')

/** Starts it before this login's server. Each database has connections of its own, as many as are shipped. */
export async function startPooler(program: string, daemon: DatabaseAddress): Promise<Pooler> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-pooler-'))
  await chmod(folder, 0o755)
  const [port = 0] = await freePorts(1)
  const places = [
    ['svc = host=db.example.org port=5432 dbname=svc', `* = host=${daemon.host} port=${daemon.port}`],
    ['listen_addr = 10.0.0.20', 'listen_addr = 127.0.0.1'],
    ['listen_port = 6432', `listen_port = ${port}`],
    ['/etc/pgbouncer', folder],
  ] as const
  let text = await readFile(shipped, 'utf8')
  for (const [from, to] of places) {
    if (!text.includes(from)) throw new Error(`deploy/pgbouncer.ini has no ${from}`)
    text = text.replaceAll(from, to)
  }
  await writeFile(join(folder, 'pgbouncer.ini'), text)
  await writeFile(join(folder, 'userlist.txt'), `"${daemon.user}" "${daemon.password ?? ''}"\n`)
  // It refuses root.
  const account = await serverAccount()
  const running = await runServer(program, ['-q', join(folder, 'pgbouncer.ini')], port, folder, account)
  return {
    address: (database) => ({ ...daemon, host: '127.0.0.1', port, database, ssl: false }),
    async stop() {
      await running.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
